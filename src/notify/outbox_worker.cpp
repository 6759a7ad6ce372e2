#include "notify/outbox_worker.h"

#include <spdlog/spdlog.h>

#include <algorithm>

namespace holdpoint::notify {
namespace {

constexpr int rows_at_once = 100;
constexpr std::int64_t retry_ms_min = 1000;
constexpr std::int64_t retry_ms_max = 3'600'000;

/// Doubles with every attempt, up to an hour.
std::int64_t retry_after_ms(int attempts) {
    return std::min(retry_ms_max, retry_ms_min << std::min(attempts, 12));
}

}  // namespace

OutboxWorker::OutboxWorker(store::Store& store, Clock& clock,
                           std::vector<std::unique_ptr<Channel>> channels)
    : store_(store), clock_(clock), channels_(std::move(channels)) {}

void OutboxWorker::poke() {
    if (channels_.empty()) return;
    if (is_busy_) {
        must_look_again_ = true;
        return;
    }
    is_busy_ = true;
    must_look_again_ = false;
    auto work = [this, now = clock_.now()](store::Transaction& tx) { return take_due(tx, now); };
    store_.run(std::move(work), [this](Result<Due> due) {
        is_busy_ = false;
        if (!due) return spdlog::warn("cannot read the outbox: {}", due.error().message);
        must_look_again_ = must_look_again_ || due->has_split;
        if (!due->items.empty()) return deliver(due->items);
        // Something may have been written between that look and now.
        if (must_look_again_) poke();
    });
}

Result<OutboxWorker::Due> OutboxWorker::take_due(store::Transaction& tx, Timestamp now) const {
    Result<std::vector<store::OutboxRow>> rows = tx.outbox_due(now, rows_at_once);
    if (!rows) return rows.error();
    Due due;
    for (store::OutboxRow& row : *rows) {
        Result<std::shared_ptr<const core::Request>> request = tx.load(row.effect.request);
        if (!request) return request.error();
        const Channel* channel = find(row.channel);
        if (channel && channel->has_targets() && row.target.empty()) {
            const Result<std::vector<std::string>> targets =
                channel->targets(tx, row.effect.about, **request);
            if (!targets) return targets.error();
            if (Result<void> ok = tx.outbox_split(row.id, *targets); !ok) return ok.error();
            due.has_split = due.has_split || !targets->empty();
            continue;
        }
        due.items.push_back({std::move(row), std::move(*request)});
    }
    return due;
}

Channel* OutboxWorker::find(const std::string& name) const {
    const auto found = std::find_if(channels_.begin(), channels_.end(),
                                    [&](const auto& channel) { return channel->name() == name; });
    return found == channels_.end() ? nullptr : found->get();
}

void OutboxWorker::deliver(const std::vector<Item>& items) {
    is_busy_ = true;
    const auto round = std::make_shared<Round>();
    round->missing = items.size();
    round->may_be_more = static_cast<int>(items.size()) == rows_at_once;
    for (const Item& item : items) {
        Channel* channel = find(item.row.channel);
        auto done = [this, round, item](const Result<void>& sent) {
            Mark mark{item.row.id, std::nullopt};
            if (!sent) {
                spdlog::warn("cannot tell people about {} through `{}`: {}",
                             item.request->id.text(), item.row.channel, sent.error().message);
                mark.retry_at = clock_.now() + retry_after_ms(item.row.attempts);
            }
            round->marks.push_back(mark);
            if (--round->missing == 0) finish(round);
        };
        if (channel)
            channel->deliver(item.row.effect.about, item.request, item.row.target, std::move(done));
        else
            done(Error{ErrorCode::not_found, "channel is not configured"});
    }
}

void OutboxWorker::finish(const std::shared_ptr<Round>& round) {
    auto work = [marks = std::move(round->marks)](store::Transaction& tx) -> Result<void> {
        for (const Mark& mark : marks) {
            const Result<void> marked =
                mark.retry_at ? tx.outbox_retry(mark.id, *mark.retry_at) : tx.outbox_sent(mark.id);
            if (!marked) return marked.error();
        }
        return {};
    };
    store_.run(std::move(work), [this, may_be_more = round->may_be_more](Result<void> marked) {
        is_busy_ = false;
        if (!marked) return spdlog::warn("cannot mark the outbox: {}", marked.error().message);
        if (may_be_more || must_look_again_) poke();
    });
}

}  // namespace holdpoint::notify

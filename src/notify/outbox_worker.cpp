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
    auto work = [now = clock_.now()](store::Transaction& tx) -> Result<std::vector<Item>> {
        Result<std::vector<store::OutboxRow>> rows = tx.outbox_due(now, rows_at_once);
        if (!rows) return rows.error();
        std::vector<Item> items;
        for (store::OutboxRow& row : *rows) {
            Result<std::shared_ptr<const core::Request>> request = tx.load(row.effect.request);
            if (!request) return request.error();
            items.push_back({std::move(row), std::move(*request)});
        }
        return items;
    };
    store_.run(std::move(work), [this](Result<std::vector<Item>> items) {
        is_busy_ = false;
        if (!items) return spdlog::warn("cannot read the outbox: {}", items.error().message);
        if (!items->empty()) deliver(*items);
    });
}

Channel* OutboxWorker::find(const std::string& name) const {
    const auto found = std::find_if(channels_.begin(), channels_.end(),
                                    [&](const auto& channel) { return channel->name() == name; });
    return found == channels_.end() ? nullptr : found->get();
}

void OutboxWorker::deliver(const std::vector<Item>& items) {
    is_busy_ = true;
    struct Mark {
        std::int64_t id;
        std::optional<Timestamp> retry_at;
    };
    std::vector<Mark> marks;
    for (const Item& item : items) {
        Channel* channel = find(item.row.channel);
        const Result<void> sent =
            channel ? channel->send(item.row.effect.about, *item.request)
                    : Result<void>(Error{ErrorCode::not_found, "channel is not configured"});
        Mark mark{item.row.id, std::nullopt};
        if (!sent) {
            spdlog::warn("cannot tell people about {} through `{}`: {}", item.request->id.text(),
                         item.row.channel, sent.error().message);
            mark.retry_at = clock_.now() + retry_after_ms(item.row.attempts);
        }
        marks.push_back(mark);
    }
    auto work = [marks = std::move(marks)](store::Transaction& tx) -> Result<void> {
        for (const Mark& mark : marks) {
            const Result<void> marked =
                mark.retry_at ? tx.outbox_retry(mark.id, *mark.retry_at) : tx.outbox_sent(mark.id);
            if (!marked) return marked.error();
        }
        return {};
    };
    const bool may_be_more = static_cast<int>(items.size()) == rows_at_once;
    store_.run(std::move(work), [this, may_be_more](Result<void> marked) {
        is_busy_ = false;
        if (!marked) return spdlog::warn("cannot mark the outbox: {}", marked.error().message);
        if (may_be_more || must_look_again_) poke();
    });
}

}  // namespace holdpoint::notify

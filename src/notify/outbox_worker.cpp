#include "notify/outbox_worker.h"

#include <spdlog/spdlog.h>

#include <algorithm>

namespace holdpoint::notify {
namespace {

constexpr int rows_at_once = 100;
constexpr std::size_t under_way_max = 256;
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
    if (is_looking_) {
        must_look_again_ = true;
        return;
    }
    // Whoever is done looks again.
    if (under_way_.rows.size() >= under_way_max) return;
    is_looking_ = true;
    must_look_again_ = false;
    auto work = [this, now = clock_.now(), under_way = under_way_](store::Transaction& tx) {
        return take_due(tx, now, under_way);
    };
    store_.run(std::move(work), [this](Result<Due> due) { on_due(std::move(due)); });
}

Result<OutboxWorker::Due> OutboxWorker::take_due(store::Transaction& tx, Timestamp now,
                                                 const UnderWay& under_way) const {
    Due due;
    std::set<Lane> lanes = under_way.lanes;
    auto is_wanted = [&](const store::OutboxRow& row) {
        if (under_way.rows.contains(row.id)) return false;
        const bool is_free = row.target.empty() || lanes.emplace(row.channel, row.target).second;
        due.has_more = due.has_more || !is_free;
        return is_free;
    };
    Result<std::vector<store::OutboxRow>> rows = tx.outbox_due(now, rows_at_once, is_wanted);
    if (!rows) return rows.error();
    due.must_look_on = static_cast<int>(rows->size()) == rows_at_once;
    due.has_more = due.has_more || due.must_look_on;
    for (store::OutboxRow& row : *rows) {
        Result<std::shared_ptr<const core::Request>> request = tx.load(row.effect.request);
        if (!request) {
            if (request.error().code == ErrorCode::unavailable) return request.error();
            // What cannot be read must not keep what can from being told.
            spdlog::error("cannot tell people about {}: {}", row.effect.request.text(),
                          request.error().message);
            if (Result<void> ok = tx.outbox_retry(row.id, now + retry_ms_max); !ok)
                return ok.error();
            continue;
        }
        const Channel* channel = find(row.channel);
        if (channel && channel->has_targets() && row.target.empty()) {
            const Result<std::vector<std::string>> targets =
                channel->targets(tx, row.effect.about, **request);
            if (!targets) return targets.error();
            if (Result<void> ok = tx.outbox_split(row.id, *targets); !ok) return ok.error();
            due.must_look_on = due.must_look_on || !targets->empty();
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

void OutboxWorker::on_due(Result<Due> due) {
    is_looking_ = false;
    if (!due) return spdlog::warn("cannot read the outbox: {}", due.error().message);
    has_more_ = due->has_more;
    for (const Item& item : due->items) {
        under_way_.rows.insert(item.row.id);
        if (!item.row.target.empty()) under_way_.lanes.emplace(item.row.channel, item.row.target);
    }
    is_delivering_ = true;
    for (Item& item : due->items) deliver(std::move(item));
    is_delivering_ = false;
    write_marks();
    // Something may have been written between that look and now.
    if (must_look_again_ || due->must_look_on) poke();
}

void OutboxWorker::deliver(Item item) {
    Channel* channel = find(item.row.channel);
    if (!channel) return on_sent(item, Error{ErrorCode::not_found, "channel is not configured"});
    const core::EventKind about = item.row.effect.about;
    const std::shared_ptr<const core::Request> request = item.request;
    const std::string target = item.row.target;
    channel->deliver(
        about, request, target,
        [this, item = std::move(item)](const Result<void>& sent) { on_sent(item, sent); });
}

void OutboxWorker::on_sent(const Item& item, const Result<void>& sent) {
    Mark mark{item.row, std::nullopt};
    if (!sent) {
        spdlog::warn("cannot tell people about {} through `{}`: {}", item.request->id.text(),
                     item.row.channel, sent.error().message);
        mark.retry_at = clock_.now() + retry_after_ms(item.row.attempts);
    }
    marks_.push_back(std::move(mark));
    write_marks();
}

/// What is done while marks are being written is written with the next ones.
void OutboxWorker::write_marks() {
    if (is_delivering_ || is_marking_ || marks_.empty()) return;
    is_marking_ = true;
    auto marks = std::make_shared<const std::vector<Mark>>(std::exchange(marks_, {}));
    auto work = [marks](store::Transaction& tx) -> Result<void> {
        for (const Mark& mark : *marks) {
            const Result<void> marked = mark.retry_at ? tx.outbox_retry(mark.row.id, *mark.retry_at)
                                                      : tx.outbox_sent(mark.row.id);
            if (!marked) return marked.error();
        }
        return {};
    };
    store_.run(std::move(work),
               [this, marks](const Result<void>& marked) { on_marked(*marks, marked); });
}

void OutboxWorker::on_marked(const std::vector<Mark>& marks, const Result<void>& marked) {
    is_marking_ = false;
    for (const Mark& mark : marks) {
        under_way_.rows.erase(mark.row.id);
        under_way_.lanes.erase({mark.row.channel, mark.row.target});
    }
    write_marks();
    // They are due as before; the next look, a second later at most, takes them again.
    if (!marked) return spdlog::warn("cannot mark the outbox: {}", marked.error().message);
    if (has_more_) poke();
}

}  // namespace holdpoint::notify

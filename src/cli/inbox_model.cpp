#include "cli/inbox_model.h"

#include <algorithm>

#include "base/ascii.h"

namespace holdpoint::cli {
namespace {

bool matches(const Request& request, const std::string& filter) {
    if (filter.empty()) return true;
    const std::string wanted = ascii::lowered(filter);
    for (std::string_view text :
         {std::string_view(request.headline), std::string_view(request.agent),
          std::string_view(request.tool), std::string_view(request.id),
          core::to_string(request.risk), core::to_string(request.kind)})
        if (ascii::lowered(text).find(wanted) != std::string::npos) return true;
    return false;
}

}  // namespace

bool Arming::press(int key, std::int64_t now_ms) {
    const bool is_same = key == last_key_;
    const std::int64_t wait_ms = is_same ? same_key_quiet_ms : quiet_ms;
    const bool is_quiet = now_ms - changed_ms_ >= quiet_ms && now_ms - last_press_ms_ >= wait_ms;
    last_press_ms_ = now_ms;
    last_key_ = key;
    return is_quiet;
}

bool comes_before(const Request& a, const Request& b, Timestamp now) {
    const bool is_urgent_a = a.expires_at - now < 60'000;
    const bool is_urgent_b = b.expires_at - now < 60'000;
    if (is_urgent_a != is_urgent_b) return is_urgent_a;
    if (a.risk != b.risk) return a.risk > b.risk;
    if (a.expires_at != b.expires_at) return a.expires_at < b.expires_at;
    return a.id < b.id;
}

void InboxModel::replace(std::vector<Request> requests, Timestamp now) {
    all_ = std::move(requests);
    std::erase_if(all_, [](const Request& request) { return !request.is_pending(); });
    std::sort(all_.begin(), all_.end(),
              [now](const Request& a, const Request& b) { return comes_before(a, b, now); });
    arrange();
}

bool InboxModel::update(const Request& request, Timestamp now) {
    const auto known = std::find_if(all_.begin(), all_.end(),
                                    [&](const Request& other) { return other.id == request.id; });
    if (!request.is_pending() && known == all_.end()) return false;
    if (known != all_.end()) all_.erase(known);
    if (request.is_pending()) {
        const auto place = std::find_if(all_.begin(), all_.end(), [&](const Request& other) {
            return comes_before(request, other, now);
        });
        all_.insert(place, request);
    }
    arrange();
    return true;
}

void InboxModel::set_filter(std::string filter) {
    filter_ = std::move(filter);
    arrange();
}

void InboxModel::arrange() {
    rows_.clear();
    for (const Request& request : all_)
        if (matches(request, filter_)) rows_.push_back(request);
    const auto found = std::find_if(rows_.begin(), rows_.end(), [this](const Request& request) {
        return request.id == selected_id_;
    });
    // A request that is gone leaves the selection on its row, where the next one now is.
    selected_ = found != rows_.end() ? static_cast<std::size_t>(found - rows_.begin())
                                     : std::min(selected_, rows_.empty() ? 0 : rows_.size() - 1);
    selected_id_ = rows_.empty() ? "" : rows_[selected_].id;
}

const Request* InboxModel::selected() const { return rows_.empty() ? nullptr : &rows_[selected_]; }

bool InboxModel::move(long rows) {
    if (rows_.empty()) return false;
    const long last = static_cast<long>(rows_.size()) - 1;
    const auto to =
        static_cast<std::size_t>(std::clamp(static_cast<long>(selected_) + rows, 0L, last));
    if (to == selected_) return false;
    selected_ = to;
    selected_id_ = rows_[to].id;
    return true;
}

}  // namespace holdpoint::cli

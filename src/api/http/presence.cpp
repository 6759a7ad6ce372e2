#include "api/http/presence.h"

#include <algorithm>

namespace holdpoint::api {

bool Presence::note(const RequestId& request, const PrincipalId& person, const std::string& name,
                    bool is_looking, Timestamp now) {
    const auto found = looking_.find(request);
    if (found == looking_.end()) {
        if (!is_looking || looking_.size() >= requests_max) return false;
        looking_[request].push_back({person, {name, now}, now + life_ms});
        return true;
    }
    std::vector<Looking>& all = found->second;
    const auto mine = std::find_if(all.begin(), all.end(),
                                   [&](const Looking& one) { return one.person == person; });
    if (mine == all.end()) {
        if (!is_looking || all.size() >= viewers_max) return false;
        all.push_back({person, {name, now}, now + life_ms});
        return true;
    }
    if (is_looking) {
        const bool was_gone = mine->until <= now;
        if (was_gone) mine->viewer.since = now;
        mine->until = now + life_ms;
        return was_gone;
    }
    all.erase(mine);
    if (all.empty()) looking_.erase(found);
    return true;
}

std::vector<wire::Viewer> Presence::viewers(const RequestId& request, Timestamp now) const {
    std::vector<wire::Viewer> viewers;
    const auto found = looking_.find(request);
    if (found == looking_.end()) return viewers;
    for (const Looking& one : found->second)
        if (now < one.until) viewers.push_back(one.viewer);
    return viewers;
}

std::vector<RequestId> Presence::forget(Timestamp now) {
    std::vector<RequestId> changed;
    for (auto entry = looking_.begin(); entry != looking_.end();) {
        const std::size_t gone =
            std::erase_if(entry->second, [&](const Looking& one) { return one.until <= now; });
        if (gone > 0) changed.push_back(entry->first);
        entry = entry->second.empty() ? looking_.erase(entry) : std::next(entry);
    }
    return changed;
}

}  // namespace holdpoint::api

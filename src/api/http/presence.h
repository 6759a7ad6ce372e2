#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/wire/request.h"
#include "base/id.h"
#include "base/time.h"

namespace holdpoint::api {

/// Who looks at which request right now. Soft: kept in memory, forgotten `life_ms` after a page
/// last said so, and gone with the server. Network thread only.
class Presence {
  public:
    static constexpr std::int64_t life_ms = 20'000;
    static constexpr std::size_t requests_max = 10'000;  ///< beyond that nobody is noted
    static constexpr std::size_t viewers_max = 50;       ///< of one request

    /// Notes that the person looks, or has gone. True when others see a difference.
    bool note(const RequestId& request, const PrincipalId& person, const std::string& name,
              bool is_looking, Timestamp now);

    /// In the order in which they came.
    std::vector<wire::Viewer> viewers(const RequestId& request, Timestamp now) const;

    /// Forgets who has not been heard of, and returns the requests that this changes.
    std::vector<RequestId> forget(Timestamp now);

    bool is_empty() const { return looking_.empty(); }

  private:
    struct Looking {
        PrincipalId person;
        wire::Viewer viewer;
        Timestamp until;
    };
    std::unordered_map<RequestId, std::vector<Looking>, RequestId::Hash> looking_;
};

}  // namespace holdpoint::api

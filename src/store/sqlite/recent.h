#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>

#include "core/request.h"

namespace holdpoint::store::sqlite {

/// A request as the open transaction sees it, with what only the store knows of it.
struct Seen {
    std::shared_ptr<const core::Request> request;
    std::int64_t last_event = 0;
    std::int64_t vote_count = 0;
};

/// The requests that were read or written last. An agent that just proposed waits next, and a
/// person decides what was just proposed: both are spared the database. Since there is only one
/// connection, nobody can change a row behind it; a rollback empties it. Bounded by bytes.
class Recent {
  public:
    explicit Recent(std::size_t bytes_max = 4 << 20) : bytes_max_(bytes_max) {}

    const Seen* find(const RequestId& id) const;
    void put(Seen seen);
    void clear();

  private:
    static std::size_t bytes_of(const core::Request& request);
    void drop_oldest();

    const std::size_t bytes_max_;
    std::size_t bytes_ = 0;
    std::unordered_map<RequestId, Seen, RequestId::Hash> seen_;
    std::deque<RequestId> order_;  ///< of first appearance
};

}  // namespace holdpoint::store::sqlite

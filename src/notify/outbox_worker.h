#pragma once

#include <memory>
#include <vector>

#include "base/clock.h"
#include "notify/channel.h"
#include "store/store.h"

namespace holdpoint::notify {

/// Takes due rows from the outbox, sends them, and marks them sent or due later. A row is gone only
/// after its message went out. Network thread only.
class OutboxWorker {
  public:
    OutboxWorker(store::Store& store, Clock& clock, std::vector<std::unique_ptr<Channel>> channels);

    /// Looks for work; called after commits and once per second. Does nothing while a look is
    /// under way, and looks again afterwards if it was called meanwhile.
    void poke();

  private:
    struct Item {
        store::OutboxRow row;
        std::shared_ptr<const core::Request> request;
    };
    struct Due {
        std::vector<Item> items;
        bool has_split = false;  ///< rows were put in the place of others; look again
    };
    struct Mark {
        std::int64_t id;
        std::optional<Timestamp> retry_at;
    };
    /// What was read at once and is on its way.
    struct Round {
        std::size_t missing = 0;
        bool may_be_more = false;
        std::vector<Mark> marks;
    };
    Result<Due> take_due(store::Transaction& tx, Timestamp now) const;
    void deliver(const std::vector<Item>& items);
    void finish(const std::shared_ptr<Round>& round);
    Channel* find(const std::string& name) const;

    store::Store& store_;
    Clock& clock_;
    std::vector<std::unique_ptr<Channel>> channels_;
    bool is_busy_ = false;
    bool must_look_again_ = false;
};

}  // namespace holdpoint::notify

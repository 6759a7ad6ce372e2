#pragma once

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "notify/channel.h"
#include "store/store.h"

namespace holdpoint::notify {

/// Takes due rows from the outbox, sends them, and marks them sent or due later. A row is gone only
/// after its message went out. Every message goes its own way: one target at a time is written to
/// once, in order, and one that is slow keeps only itself waiting. Network thread only.
class OutboxWorker {
  public:
    OutboxWorker(store::Store& store, Clock& clock, std::vector<std::unique_ptr<Channel>> channels);

    /// Looks for work; called after commits and once per second. Does nothing while a look is
    /// under way, and looks again afterwards if it was called meanwhile.
    void poke();

  private:
    /// A target of a channel.
    using Lane = std::pair<std::string, std::string>;
    struct Item {
        store::OutboxRow row;
        std::shared_ptr<const core::Request> request;
    };
    struct Due {
        std::vector<Item> items;
        bool must_look_on = false;  ///< that was all for one look, or rows took the place of others
        bool has_more = false;      ///< something is left for when others are done
    };
    /// What is on its way: its row is still in the outbox, and must not be taken again.
    struct UnderWay {
        std::set<std::int64_t> rows;
        std::set<Lane> lanes;
    };
    struct Mark {
        store::OutboxRow row;
        std::optional<Timestamp> retry_at;
    };
    Result<Due> take_due(store::Transaction& tx, Timestamp now, const UnderWay& under_way) const;
    void on_due(Result<Due> due);
    void deliver(Item item);
    void on_sent(const Item& item, const Result<void>& sent);
    void write_marks();
    void on_marked(const std::vector<Mark>& marks, const Result<void>& marked);
    Channel* find(const std::string& name) const;

    store::Store& store_;
    Clock& clock_;
    std::vector<std::unique_ptr<Channel>> channels_;
    UnderWay under_way_;
    std::vector<Mark> marks_;  ///< of messages that are done, to be written together
    bool is_looking_ = false;
    bool must_look_again_ = false;
    bool has_more_ = false;  ///< the last look left something
    bool is_delivering_ = false;
    bool is_marking_ = false;
};

}  // namespace holdpoint::notify

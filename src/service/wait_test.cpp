#include "service/wait.h"

#include <functional>

#include "core/test_requests.h"

namespace holdpoint::service {
namespace {

using namespace core::test;
using core::RequestPtr;

store::Change change(const core::Request& request, core::EventKind kind) {
    store::Change change;
    change.event.event.kind = kind;
    change.event.event.request = request.id;
    change.request = std::make_shared<const core::Request>(request);
    return change;
}

store::Change end_of(const core::Request& request) {
    return change(decided(request, core::DecisionKind::approve, person("ann")).request,
                  core::EventKind::settled);
}

/// Remembers what it was woken with, and does something then.
class Sleeper : public Waiter {
  public:
    explicit Sleeper(std::function<void()> then = [] {}) : then_(std::move(then)) {}
    void on_settled(const RequestPtr& request) override {
        woken.push_back(request);
        then_();
    }
    std::vector<RequestPtr> woken;

  private:
    std::function<void()> then_;
};

TEST(Waiters, are_woken_once_with_the_settled_request) {
    Waiters waiters;
    const core::Request request = pending();
    Sleeper sleeper;
    waiters.add(request.id, sleeper);
    EXPECT_EQ(waiters.size(), 1u);
    waiters.on_commit({end_of(request)});
    waiters.on_commit({end_of(request)});
    ASSERT_EQ(sleeper.woken.size(), 1u);
    EXPECT_EQ(sleeper.woken[0]->outcome, core::Outcome::approved);
    EXPECT_EQ(waiters.size(), 0u);
}

TEST(Waiters, are_woken_only_for_their_request_and_only_by_its_end) {
    Waiters waiters;
    const core::Request mine = pending(), other = pending();
    Sleeper sleeper;
    waiters.add(mine.id, sleeper);
    waiters.on_commit({end_of(other), change(mine, core::EventKind::voted),
                       change(mine, core::EventKind::reminded),
                       change(mine, core::EventKind::extended)});
    EXPECT_TRUE(sleeper.woken.empty());
    waiters.on_commit({end_of(other), end_of(mine)});
    EXPECT_EQ(sleeper.woken.size(), 1u);
}

TEST(Waiters, all_who_wait_for_one_request_are_woken) {
    Waiters waiters;
    const core::Request request = pending();
    std::vector<Sleeper> sleepers(50);
    for (Sleeper& sleeper : sleepers) waiters.add(request.id, sleeper);
    waiters.on_commit({end_of(request)});
    for (const Sleeper& sleeper : sleepers) EXPECT_EQ(sleeper.woken.size(), 1u);
}

TEST(Waiters, a_removed_one_is_not_woken_and_others_are) {
    Waiters waiters;
    const core::Request request = pending();
    Sleeper first, second;
    waiters.add(request.id, first);
    waiters.add(request.id, second);
    EXPECT_TRUE(waiters.remove(request.id, first));
    EXPECT_FALSE(waiters.remove(request.id, first));
    waiters.on_commit({end_of(request)});
    EXPECT_FALSE(waiters.remove(request.id, second));
    EXPECT_TRUE(first.woken.empty());
    EXPECT_EQ(second.woken.size(), 1u);
}

TEST(Waiters, a_waiter_may_subscribe_or_remove_from_its_callback) {
    Waiters waiters;
    const core::Request request = pending();
    Sleeper again, one, other;
    Sleeper* rest[] = {&one, &other};
    Sleeper remover([&] {
        waiters.add(request.id, again);
        for (Sleeper* sleeper : rest) waiters.remove(request.id, *sleeper);
    });
    waiters.add(request.id, one);
    waiters.add(request.id, remover);
    waiters.add(request.id, other);
    waiters.on_commit({end_of(request)});
    EXPECT_TRUE(again.woken.empty()) << "a new subscription waits for the next commit";
    EXPECT_LE(one.woken.size() + other.woken.size(), 1u)
        << "what is removed while others are woken is not woken any more";
    EXPECT_EQ(waiters.size(), 1u);
}

}  // namespace
}  // namespace holdpoint::service

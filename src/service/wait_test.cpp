#include "service/wait.h"

#include "core/test_requests.h"

namespace holdpoint::service {
namespace {

using namespace core::test;
using RequestPtr = std::shared_ptr<const core::Request>;

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

TEST(Waiters, are_woken_once_with_the_settled_request) {
    Waiters waiters;
    const core::Request request = pending();
    std::vector<RequestPtr> woken;
    waiters.add(request.id, [&](const RequestPtr& settled) { woken.push_back(settled); });
    EXPECT_EQ(waiters.size(), 1u);
    waiters.on_commit({end_of(request)});
    waiters.on_commit({end_of(request)});
    ASSERT_EQ(woken.size(), 1u);
    EXPECT_EQ(woken[0]->outcome, core::Outcome::approved);
    EXPECT_EQ(waiters.size(), 0u);
}

TEST(Waiters, are_woken_only_for_their_request_and_only_by_its_end) {
    Waiters waiters;
    const core::Request mine = pending(), other = pending();
    int woken = 0;
    waiters.add(mine.id, [&](const RequestPtr&) { ++woken; });
    waiters.on_commit({end_of(other), change(mine, core::EventKind::voted),
                       change(mine, core::EventKind::reminded),
                       change(mine, core::EventKind::extended)});
    EXPECT_EQ(woken, 0);
    waiters.on_commit({end_of(other), end_of(mine)});
    EXPECT_EQ(woken, 1);
}

TEST(Waiters, all_who_wait_for_one_request_are_woken) {
    Waiters waiters;
    const core::Request request = pending();
    int woken = 0;
    for (int i = 0; i < 50; ++i) waiters.add(request.id, [&](const RequestPtr&) { ++woken; });
    waiters.on_commit({end_of(request)});
    EXPECT_EQ(woken, 50);
}

TEST(Waiters, a_removed_one_is_not_woken_and_others_are) {
    Waiters waiters;
    const core::Request request = pending();
    int first = 0, second = 0;
    const Waiters::Ticket ticket = waiters.add(request.id, [&](const RequestPtr&) { ++first; });
    waiters.add(request.id, [&](const RequestPtr&) { ++second; });
    waiters.remove(request.id, ticket);
    waiters.remove(request.id, ticket);
    waiters.on_commit({end_of(request)});
    waiters.remove(request.id, ticket);
    EXPECT_EQ(first, 0);
    EXPECT_EQ(second, 1);
}

TEST(Waiters, a_waiter_may_subscribe_or_remove_from_its_callback) {
    Waiters waiters;
    const core::Request request = pending();
    int again = 0;
    Waiters::Ticket other = 0;
    waiters.add(request.id, [&](const RequestPtr&) {
        waiters.add(request.id, [&](const RequestPtr&) { ++again; });
        waiters.remove(request.id, other);
    });
    other = waiters.add(request.id, [](const RequestPtr&) {});
    waiters.on_commit({end_of(request)});
    EXPECT_EQ(again, 0) << "a new subscription waits for the next commit";
    EXPECT_EQ(waiters.size(), 1u);
}

}  // namespace
}  // namespace holdpoint::service

#include <future>
#include <mutex>
#include <thread>

#include <gmock/gmock.h>
#include <holdpoint/git.h>

#include "agent/git/test_repository.h"

namespace holdpoint::agent::git {
namespace {

using ::testing::HasSubstr;

class History : public GitRepository {
  protected:
    GitOptions options() {
        return {.repository = root_.string(), .log = [this](std::string_view text) {
                    const std::scoped_lock lock(mutex_);
                    reports_.emplace_back(text);
                }};
    }
    std::vector<std::string> reports() const {
        const std::scoped_lock lock(mutex_);
        return reports_;
    }
    static Request settled(int n, Outcome outcome = Outcome::approved) {
        Request request;
        request.id = "req_" + std::to_string(n);
        request.digest = "sha256:ab";
        request.state = State::settled;
        request.outcome = outcome;
        request.subject = Json::object(
            {{"tool", "write_file"},
             {"arguments", Json::object({{"path", "n" + std::to_string(n) + ".txt"}})}});
        request.decision = Decision{.kind = DecisionKind::approve, .by = "ann"};
        return request;
    }
    static Release release_of(const Request& request) {
        return {request.id, request.tool(), request.arguments(), request.digest, false, ""};
    }
    std::string log(const std::string& format) const {
        return git("log --reverse --format=" + format);
    }

    mutable std::mutex mutex_;
    std::vector<std::string> reports_;  // guarded by mutex_
};

TEST_F(History, W4_a_process_that_hears_decisions_again_does_not_write_them_again) {
    {
        GitHistory history(options());
        history.on_decided(settled(1));
        history.on_decided(settled(2, Outcome::expired));
        ASSERT_TRUE(history.flush());
    }
    git("commit -q --allow-empty -m 'between the two'");
    GitHistory history(options());
    history.on_decided(settled(1));
    history.on_decided(settled(2, Outcome::expired));
    history.on_decided(settled(3));
    ASSERT_TRUE(history.flush());
    EXPECT_EQ(
        log("%s"),
        "[Approval] Approved: write_file (n1.txt)\n[Approval] Timed out: write_file (n2.txt)\n"
        "between the two\n[Approval] Approved: write_file (n3.txt)");
    EXPECT_EQ(history.missed(), 0U);
}

TEST_F(History, W4_approvals_and_actions_follow_each_other) {
    GitHistory history(options());
    const Request request = settled(1);
    history.on_decided(request);
    write("n1.txt", "hello");
    history.on_ran(request, release_of(request), {.is_success = true});
    history.on_decided(settled(2, Outcome::expired));
    ASSERT_TRUE(history.flush());
    EXPECT_EQ(log("%s"),
              "[Approval] Approved: write_file (n1.txt)\n[Write] Created n1.txt\n"
              "[Approval] Timed out: write_file (n2.txt)");
    EXPECT_EQ(git("log -1 --skip=1 --format='%(trailers:only,unfold)'"),
              "Holdpoint-Request: req_1\nHoldpoint-Digest: sha256:ab\nApproved-By: ann");
    EXPECT_EQ(git("show HEAD:n1.txt"), "hello");
    EXPECT_EQ(history.missed(), 0U);
    EXPECT_TRUE(reports().empty());
}

TEST_F(History, W4_the_order_is_kept_and_the_end_waits_for_all) {
    std::string expected;
    {
        GitHistory history(options());
        for (int i = 0; i < 100; ++i) {
            history.on_decided(settled(i));
            expected += (i == 0 ? "" : "\n") + std::string("req_") + std::to_string(i);
        }
    }
    EXPECT_EQ(log("'%(trailers:key=Holdpoint-Request,valueonly,separator=%x2C)'"), expected);
}

TEST_F(History, W4_several_threads_may_tell_at_once) {
    {
        GitHistory history(options());
        std::vector<std::thread> threads;
        for (int t = 0; t < 4; ++t) {
            threads.emplace_back([&, t] {
                for (int i = 0; i < 10; ++i) history.on_decided(settled(t * 10 + i));
            });
        }
        for (std::thread& thread : threads) thread.join();
    }
    EXPECT_EQ(git("rev-list --count HEAD"), "40");
    EXPECT_EQ(git("fsck --strict"), "");
}

TEST_F(History, W4_a_missing_repository_is_reported_and_nothing_else_happens) {
    GitOptions where = options();
    where.repository = (folder_ / "nowhere").string();
    GitHistory history(where);
    history.on_decided(settled(1));
    history.on_ran(settled(1), release_of(settled(1)), {.is_success = true});
    ASSERT_TRUE(history.flush());
    EXPECT_EQ(history.missed(), 2U);
    ASSERT_EQ(reports().size(), 2U);
    EXPECT_THAT(reports()[0], HasSubstr("[Approval] Approved: write_file (n1.txt)"));
    EXPECT_THAT(reports()[0], HasSubstr("cannot be opened"));
    EXPECT_FALSE(std::filesystem::exists(folder_ / "nowhere"));
}

TEST_F(History, W4_the_next_commit_says_how_many_were_left_out) {
    GitHistory history(options());
    history.on_decided(settled(1));
    ASSERT_TRUE(history.flush());
    git("checkout -q --detach");
    history.on_decided(settled(2));
    history.on_decided(settled(3));
    ASSERT_TRUE(history.flush());
    git("checkout -q main");
    history.on_decided(settled(4));
    history.on_decided(settled(5));
    ASSERT_TRUE(history.flush());
    EXPECT_EQ(log("'%(trailers:key=Holdpoint-Missed,valueonly,separator=%x2C)'"), "\n2");
    EXPECT_EQ(history.missed(), 2U);
}

TEST_F(History, W4_a_lock_that_goes_away_is_waited_for) {
    GitHistory history(options());
    history.on_decided(settled(1));
    ASSERT_TRUE(history.flush());
    std::ofstream(root_ / ".git/refs/heads/main.lock") << "";
    history.on_decided(settled(2));
    EXPECT_FALSE(history.flush(std::chrono::milliseconds(1)));
    std::filesystem::remove(root_ / ".git/refs/heads/main.lock");
    ASSERT_TRUE(history.flush());
    EXPECT_EQ(git("rev-list --count HEAD"), "2");
    EXPECT_EQ(history.missed(), 0U);
}

TEST_F(History, W4_a_full_queue_leaves_out_and_never_blocks) {
    std::promise<void> gate;
    const std::shared_future<void> opened = gate.get_future().share();
    std::promise<void> reached;
    std::once_flag once;
    GitOptions how = options();
    how.queue_max = 2;
    how.repository = (folder_ / "nowhere").string();
    how.log = [&](std::string_view text) {
        if (text.contains("too many")) return;
        std::call_once(once, [&] { reached.set_value(); });
        opened.wait_for(std::chrono::seconds(10));
    };
    GitHistory history(how);
    history.on_decided(settled(1));
    reached.get_future().wait();
    std::thread other([&] {
        for (int i = 2; i < 7; ++i) history.on_decided(settled(i));
    });
    // The worker stands, two wait, three are left out, and whoever told goes on.
    other.join();
    EXPECT_EQ(history.missed(), 4U);
    gate.set_value();
    ASSERT_TRUE(history.flush());
    EXPECT_EQ(history.missed(), 6U);
}

TEST_F(History, W4_a_log_that_throws_ends_nothing) {
    GitOptions how = options();
    how.log = [](std::string_view) { throw std::runtime_error("no"); };
    GitHistory history(how);
    git("checkout -q --orphan x && git config --unset user.name");
    history.on_decided(settled(1));
    ASSERT_TRUE(history.flush());
    git("config user.name Agent");
    history.on_decided(settled(2));
    ASSERT_TRUE(history.flush());
    EXPECT_EQ(git("rev-list --count HEAD"), "1");
}

}  // namespace
}  // namespace holdpoint::agent::git

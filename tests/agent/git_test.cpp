// A session's git history, told by a running Holdpoint.
#include <gmock/gmock.h>
#include <holdpoint/git.h>

#include <mutex>

#include "agent/git/test_repository.h"
#include "tests/agent/people.h"

namespace holdpoint::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class GitOfASession : public agent::git::GitRepository {
  protected:
    /// A Holdpoint that writes its history into the repository.
    Holdpoint start() {
        EmbeddedOptions options;
        options.human = people_.interface();
        Holdpoint holdpoint = test::opened(std::move(options));
        history_ = std::make_shared<GitHistory>(
            GitOptions{.repository = root_.string(), .log = [this](std::string_view text) {
                           const std::lock_guard lock(mutex_);
                           reports_.emplace_back(text);
                       }});
        holdpoint.add(history_);
        return holdpoint;
    }
    /// Writes a file after a person said yes.
    Got<Done> write_file(Holdpoint& holdpoint, const std::string& path, const std::string& text,
                         const Wait& wait = {}) {
        auto gated = holdpoint.gate(
            "write_file", {"path", "content"},
            [this](const std::string& where, const std::string& what) { write(where, what); });
        return gated(path, text, wait);
    }
    std::string log(const std::string& format) {
        EXPECT_TRUE(history_->flush(30s));
        return git("log --reverse --format=" + format);
    }
    std::vector<std::string> reports() {
        const std::lock_guard lock(mutex_);
        return reports_;
    }

    People people_;
    std::shared_ptr<GitHistory> history_;
    std::mutex mutex_;
    std::vector<std::string> reports_;  // guarded by mutex_
};

TEST_F(GitOfASession, W4_approvals_rejections_changes_timeouts_and_actions_are_commits) {
    people_.will({.kind = DecisionKind::approve, .by = "ann"});
    people_.will({.kind = DecisionKind::reject, .by = "bob", .reason = "not that one"});
    people_.will({.kind = DecisionKind::modify,
                  .by = "ann",
                  .replacement = Json::object({{"path", "c.txt"}, {"content", "less"}})});
    Holdpoint holdpoint = start();
    EXPECT_TRUE(write_file(holdpoint, "a.txt", "one"));
    EXPECT_EQ(why(write_file(holdpoint, "b.txt", "two")), Why::rejected);
    EXPECT_TRUE(write_file(holdpoint, "c.txt", "three"));
    Action silent{.tool = "publish", .arguments = Json::object({{"id", 12}})};
    silent.asking.timeout = 1s;
    EXPECT_EQ(why(holdpoint.request(silent)), Why::expired);

    const std::string subjects = log("%s");
    EXPECT_THAT(subjects, HasSubstr("[Approval] Approved: write_file ("));
    EXPECT_THAT(subjects, HasSubstr("\n[Write] Created a.txt\n[Approval] Rejected: write_file ("));
    EXPECT_THAT(subjects, HasSubstr("\n[Approval] Modified: write_file ("));
    EXPECT_THAT(subjects, HasSubstr("\n[Write] Created c.txt\n[Approval] Timed out: publish ("));
    EXPECT_EQ(git("rev-list --count HEAD"), "6");
    EXPECT_EQ(git("show HEAD:a.txt"), "one");
    EXPECT_EQ(git("show HEAD:c.txt"), "less");

    // Each says which request it was about, and who decided.
    const Result<std::vector<Request>> all = holdpoint.list(holdpoint.session());
    ASSERT_TRUE(all);
    ASSERT_EQ(all->size(), 4U);
    const Request& first = all->at(3);
    const std::string trailers = git("log --reverse --format='%(trailers:only,unfold)'");
    EXPECT_THAT(trailers, HasSubstr("Holdpoint-Request: " + first.id +
                                    "\nHoldpoint-Digest: " + first.digest + "\nApproved-By: ann"));
    EXPECT_THAT(trailers, HasSubstr("Holdpoint-Request: " + all->at(2).id));
    EXPECT_THAT(trailers, HasSubstr("Rejected-By: bob"));
    EXPECT_TRUE(reports().empty());
}

TEST_F(GitOfASession, W4_a_repository_that_fails_neither_blocks_nor_releases_and_is_reported) {
    people_.will(approve());
    people_.will(reject());
    git("config --unset user.name");
    git("config --unset user.email");
    Holdpoint holdpoint = start();
    EXPECT_TRUE(write_file(holdpoint, "a.txt", "one"));
    EXPECT_EQ(why(write_file(holdpoint, "b.txt", "two")), Why::rejected);
    EXPECT_TRUE(history_->flush(30s));
    EXPECT_EQ(history_->missed(), 3U);
    ASSERT_EQ(reports().size(), 3U);
    EXPECT_THAT(reports()[0], HasSubstr("[Approval] Approved: write_file"));
    EXPECT_TRUE(std::filesystem::exists(root_ / "a.txt"));
    EXPECT_FALSE(std::filesystem::exists(root_ / "b.txt"));
    // Once it works again the next commit says what is missing.
    git("config user.name Agent");
    git("config user.email agent@example.test");
    people_.will(approve());
    EXPECT_TRUE(holdpoint.request({.tool = "publish"}));
    EXPECT_THAT(log("%B"), HasSubstr("Holdpoint-Missed: 3"));
}

TEST_F(GitOfASession, W4_a_repository_that_is_gone_changes_nothing) {
    people_.will(approve());
    people_.will(approve());
    Holdpoint holdpoint = start();
    EXPECT_TRUE(write_file(holdpoint, "a.txt", "one"));
    EXPECT_TRUE(history_->flush(30s));
    std::filesystem::remove_all(root_ / ".git");
    EXPECT_TRUE(write_file(holdpoint, "b.txt", "two"));
    EXPECT_TRUE(history_->flush(30s));
    EXPECT_EQ(history_->missed(), 2U);
    EXPECT_EQ(reports().size(), 2U);
}

}  // namespace
}  // namespace holdpoint::test

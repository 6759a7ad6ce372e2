#include "agent/git/repository.h"

#include <sys/wait.h>

#include <gmock/gmock.h>

#include "agent/git/test_repository.h"

namespace holdpoint::agent::git {
namespace {

using ::testing::HasSubstr;

class GitCommit : public GitRepository {
  protected:
    Result<std::string> commit_entry(const Entry& entry) {
        CommitOptions options = options_;
        options.repository = root_.string();
        return commit(entry, options);
    }
    Result<std::string> decide() {
        return commit_entry({.label = "Approval", .text = "Approved: x"});
    }
    Result<std::string> act(std::vector<std::string> paths) {
        return commit_entry({.label = "Write",
                             .text = "Created it",
                             .text_if_known = "Changed it",
                             .paths = std::move(paths),
                             .has_run = true});
    }
    /// Fails with unavailable, says why, and leaves the history as it was.
    void expect_unusable(std::string_view why) {
        const std::string before = git("rev-list --all --count");
        const Result<std::string> id = decide();
        ASSERT_FALSE(id);
        EXPECT_EQ(id.error().code, ErrorCode::unavailable);
        EXPECT_THAT(id.error().message, HasSubstr(std::string(why)));
        EXPECT_EQ(git("rev-list --all --count"), before);
    }

    CommitOptions options_;
};

TEST_F(GitCommit, W4_the_first_commit_of_an_empty_repository) {
    const Result<std::string> id = decide();
    ASSERT_TRUE(id) << id.error().message;
    EXPECT_EQ(git("log --format='%H %s %an %ae'"),
              *id + " [Approval] Approved: x Agent agent@example.test");
    EXPECT_EQ(git("fsck --strict"), "");
}

TEST_F(GitCommit, W4_a_decision_changes_no_file_and_leaves_what_is_staged) {
    write("a.txt", "1");
    git("add a.txt");
    git("commit -q -m first");
    write("staged.txt", "2");
    git("add staged.txt");
    write("a.txt", "3");
    ASSERT_TRUE(decide());
    EXPECT_EQ(git("show --stat --format= HEAD"), "");
    EXPECT_EQ(git("status --porcelain"), " M a.txt\nA  staged.txt");
}

TEST_F(GitCommit, W4_an_action_brings_its_own_files_and_no_others) {
    write("a.txt", "1");
    git("add a.txt");
    git("commit -q -m first");
    write("staged.txt", "2");
    git("add staged.txt");
    write("a.txt", "3");
    write("docs/report.md", "x");
    write("docs/other.md", "y");
    ASSERT_TRUE(act({"docs/report.md"}));
    EXPECT_EQ(git("show --name-status --format=%s HEAD"),
              "[Write] Created it\n\nA\tdocs/report.md");
    EXPECT_EQ(git("status --porcelain -uall"), " M a.txt\nA  staged.txt\n?? docs/other.md");
    write("docs/report.md", "z");
    ASSERT_TRUE(act({(root_ / "docs/../docs/report.md").string()}));
    EXPECT_EQ(git("show --name-status --format=%s HEAD"),
              "[Write] Changed it\n\nM\tdocs/report.md");
    EXPECT_EQ(git("show HEAD:docs/report.md"), "z");
    EXPECT_EQ(git("fsck --strict"), "");
}

TEST_F(GitCommit, W4_deleted_files_and_folders_go_and_new_folders_come_whole) {
    write("a.txt", "1");
    write("dir/b.txt", "1");
    write("dir/c.txt", "1");
    ASSERT_TRUE(act({"a.txt", "dir"}));
    EXPECT_EQ(git("ls-tree -r --name-only HEAD"), "a.txt\ndir/b.txt\ndir/c.txt");
    std::filesystem::remove(root_ / "a.txt");
    std::filesystem::remove_all(root_ / "dir");
    write("dir", "now a file");
    ASSERT_TRUE(act({"a.txt", "dir"}));
    EXPECT_EQ(git("ls-tree -r --name-only HEAD"), "dir");
    std::filesystem::remove(root_ / "dir");
    ASSERT_TRUE(act({"dir"}));
    EXPECT_EQ(git("ls-tree -r --name-only HEAD"), "");
    EXPECT_EQ(git("status --porcelain"), "");
}

TEST_F(GitCommit, W4_what_is_outside_ignored_linked_or_gits_own_stays_out) {
    write(".gitignore", "secret.env\n");
    write("secret.env", "KEY=1");
    write("fine.txt", "1");
    std::ofstream(folder_ / "outside.txt") << "no";
    std::filesystem::create_directory(folder_ / "elsewhere");
    std::ofstream(folder_ / "elsewhere/x.txt") << "no";
    std::filesystem::create_directory_symlink(folder_ / "elsewhere", root_ / "link");
    ASSERT_TRUE(act({"fine.txt", "secret.env", "../outside.txt", (folder_ / "outside.txt").string(),
                     "link/x.txt", ".git/config", ".", "", "/etc/passwd", "no/such/file",
                     std::string("nul\0byte", 8)}));
    EXPECT_EQ(git("ls-tree -r --name-only HEAD"), "fine.txt");
}

TEST_F(GitCommit, W4_a_working_tree_of_the_agents_own_is_committed_whole) {
    options_.owns_working_tree = true;
    write("kept.txt", "1");
    ASSERT_TRUE(act({}));
    write("made by a command.txt", "2");
    std::filesystem::remove(root_ / "kept.txt");
    ASSERT_TRUE(act({}));
    EXPECT_EQ(git("ls-tree -r --name-only HEAD"), "made by a command.txt");
    write("later.txt", "3");
    ASSERT_TRUE(decide());
    EXPECT_EQ(git("show --stat --format= HEAD"), "") << "decisions bring nothing";
}

TEST_F(GitCommit, W4_the_time_is_that_of_the_decision_and_the_identity_may_be_given) {
    options_.name = "Bot";
    options_.email = "bot@example.test";
    ASSERT_TRUE(commit_entry(
        {.label = "Approval", .text = "Approved: x", .at = "2026-03-01T10:00:00.500Z"}));
    EXPECT_EQ(git("log -1 --format='%an %ae %aI'"),
              "Bot bot@example.test 2026-03-01T10:00:00+00:00");
}

TEST_F(GitCommit, W4_a_repository_that_cannot_be_used_says_why) {
    ASSERT_TRUE(decide());
    git("checkout -q --detach");
    expect_unusable("detached");
    git("checkout -q main");
    git("config --unset user.email");
    expect_unusable("identity");
    git("config user.email agent@example.test");
    ASSERT_TRUE(decide());
}

TEST_F(GitCommit, W4_conflicts_and_merges_are_left_to_whoever_makes_them) {
    write("a.txt", "1\n");
    git("add . && git commit -q -m base && git checkout -q -b other");
    write("a.txt", "2\n");
    git("commit -q -am two && git checkout -q main");
    write("a.txt", "3\n");
    git("commit -q -am three");
    git("merge other");
    expect_unusable("in the middle of a merge");
    std::filesystem::remove(root_ / ".git/MERGE_HEAD");
    expect_unusable("conflicts");
    git("reset -q --hard");
    ASSERT_TRUE(decide());
}

TEST_F(GitCommit, W4_missing_and_bare_repositories_are_unusable_and_the_one_around_is_not_taken) {
    std::filesystem::create_directories(root_ / "inner");
    const Result<std::string> inner =
        commit({.label = "A", .text = "x"}, {.repository = (root_ / "inner").string()});
    ASSERT_FALSE(inner);
    EXPECT_EQ(inner.error().code, ErrorCode::unavailable);
    EXPECT_FALSE(commit({.label = "A", .text = "x"}, {.repository = "/no/such/folder"}));
    EXPECT_FALSE(commit({.label = "A", .text = "x"}, {.repository = ""}));
    git("init -q --bare '" + (folder_ / "bare.git").string() + "'");
    const Result<std::string> bare =
        commit({.label = "A", .text = "x"}, {.repository = (folder_ / "bare.git").string()});
    ASSERT_FALSE(bare);
    EXPECT_EQ(bare.error().message, "the repository is bare");
}

TEST_F(GitCommit, W4_a_locked_index_or_branch_may_pass_later) {
    ASSERT_TRUE(decide());
    write("a.txt", "1");
    std::ofstream(root_ / ".git/index.lock") << "";
    const Result<std::string> locked = act({"a.txt"});
    ASSERT_FALSE(locked);
    EXPECT_EQ(locked.error().code, ErrorCode::conflict) << locked.error().message;
    EXPECT_TRUE(decide()) << "a decision needs no index";
    std::filesystem::remove(root_ / ".git/index.lock");
    ASSERT_TRUE(act({"a.txt"}));
    std::ofstream(root_ / ".git/refs/heads/main.lock") << "";
    const Result<std::string> held = decide();
    ASSERT_FALSE(held);
    EXPECT_EQ(held.error().code, ErrorCode::conflict) << held.error().message;
}

TEST_F(GitCommit, W4_a_read_only_repository_is_reported) {
    ASSERT_TRUE(decide());
    write("a.txt", "1");
    ASSERT_EQ(std::system(("chmod -R a-w '" + (root_ / ".git").string() + "'").c_str()), 0);
    // Root may write everywhere: a child takes a name for which the bits count.
    if (::geteuid() == 0) {
        ASSERT_EQ(std::system(("chown -R nobody '" + folder_.string() + "'").c_str()), 0);
    }
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(2);
        const Result<std::string> id = decide();
        const Result<std::string> file = act({"a.txt"});
        const bool are_reported = !id && id.error().code == ErrorCode::unavailable && !file;
        ::_exit(are_reported ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
    EXPECT_EQ(std::system(("chmod -R u+w '" + folder_.string() + "'").c_str()), 0);
}

}  // namespace
}  // namespace holdpoint::agent::git

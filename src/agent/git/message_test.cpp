#include "agent/git/message.h"

#include <gmock/gmock.h>

#include "agent/git/repository.h"
#include "agent/git/test_repository.h"

namespace holdpoint::agent::git {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Json args(std::string_view text) { return *Json::parse(text); }

Request settled(Outcome outcome, std::string_view tool, std::string_view arguments) {
    Request request;
    request.id = "req_1";
    request.digest = "sha256:ab";
    request.state = State::settled;
    request.outcome = outcome;
    request.subject = Json::object({{"tool", tool}, {"arguments", args(arguments)}});
    request.settled_at = "2026-03-01T10:00:00.000Z";
    return request;
}

std::string message_of(const Request& request) {
    const std::vector<Entry> entries = entries_of(request);
    return entries.empty() ? "" : commit_message(entries.front(), false, 0);
}

std::string subject_of_run(std::string_view tool, std::string_view arguments,
                           bool is_success = true, bool is_known = false) {
    const Request request = settled(Outcome::approved, tool, arguments);
    const Release release{"req_1", std::string(tool), args(arguments), "", false, ""};
    const std::string message = commit_message(
        entry_of(request, release, {.is_success = is_success, .error = "no"}), is_known, 0);
    return message.substr(0, message.find('\n'));
}

TEST(GitMessage, W4_every_outcome_has_its_word) {
    Request request = settled(Outcome::approved, "delete_files", R"({"files":["a","b","c"]})");
    request.decision = Decision{.kind = DecisionKind::approve, .by = "ann"};
    EXPECT_EQ(message_of(request),
              "[Approval] Approved: delete_files (3 files)\n\nHoldpoint-Request: req_1\n"
              "Holdpoint-Digest: sha256:ab\nApproved-By: ann\n");
    request.outcome = Outcome::rejected;
    request.decision->reason = "the audit needs them";
    EXPECT_EQ(message_of(request),
              "[Approval] Rejected: delete_files (3 files)\n\n    Reason: the audit needs them\n\n"
              "Holdpoint-Request: req_1\nHoldpoint-Digest: sha256:ab\nRejected-By: ann\n");
    request.decision.reset();
    request.outcome = Outcome::expired;
    EXPECT_THAT(message_of(request), StartsWith("[Approval] Timed out: delete_files (3 files)\n"));
    EXPECT_THAT(message_of(request), Not(HasSubstr("-By:")));
    request.outcome = Outcome::denied;
    request.because = "never here";
    EXPECT_THAT(message_of(request), StartsWith("[Approval] Denied by policy: "));
    request.outcome = Outcome::allowed;
    EXPECT_EQ(message_of(request), "") << "the action tells of itself";
}

TEST(GitMessage, W4_a_modification_says_what_was_changed) {
    Request request = settled(Outcome::modified, "refund", R"({"amount":50,"token":"new"})");
    request.proposed = args(R"({"amount":500,"token":"old"})");
    request.decision = Decision{.kind = DecisionKind::modify, .by = "ann"};
    const std::string message = message_of(request);
    EXPECT_THAT(message, StartsWith("[Approval] Modified: refund (amount: 50, token: ***)\n"));
    EXPECT_THAT(message, HasSubstr("    Changed: amount: 500 -> 50\n    token: *** -> ***\n"));
}

TEST(GitMessage, W4_everybody_who_approved_is_named_once) {
    Request request = settled(Outcome::approved, "pay", "{}");
    request.decision = Decision{.kind = DecisionKind::approve, .by = "bob"};
    request.json = args(R"({"votes":[{"decision":"approve","by":"ann"},
                                     {"decision":"reject","by":"cid"},
                                     {"decision":"approve","by":"bob"}]})");
    EXPECT_THAT(message_of(request), HasSubstr("Approved-By: ann\nApproved-By: bob\n"));
    EXPECT_THAT(message_of(request), Not(HasSubstr("cid")));
}

TEST(GitMessage, W4_actions_are_told_by_what_they_did) {
    EXPECT_EQ(subject_of_run("write_file", R"({"path":"report.md","content":"x"})"),
              "[Write] Created report.md");
    EXPECT_EQ(subject_of_run("write_file", R"({"path":"report.md"})", true, true),
              "[Write] Changed report.md");
    EXPECT_EQ(subject_of_run("edit_file", R"({"file_path":"a.c"})"), "[Edit] Changed a.c");
    EXPECT_EQ(subject_of_run("delete_files", R"({"files":["a","b"]})"), "[Delete] Deleted 2 files");
    EXPECT_EQ(subject_of_run("bash", R"({"command":"npm install"})"), "[Bash] Ran npm install");
    EXPECT_EQ(subject_of_run("bash", R"({"command":"npm install"})", false),
              "[Bash] Failed: npm install");
    EXPECT_EQ(subject_of_run("refund", R"({"order":"A-1","amount":5})"),
              "[Tool] Called refund (order: A-1, amount: 5)");
    EXPECT_EQ(summary("run_command", args(R"({"command":"npm install"})")),
              "run_command (command: npm install)");
}

TEST(GitMessage, W4_X7_secrets_stay_out) {
    EXPECT_EQ(without_secrets("curl -H 'Authorization: Bearer abc.def' x"),
              "curl -H 'Authorization: Bearer ***' x");
    EXPECT_EQ(without_secrets("PGPASSWORD=hunter2 psql"), "PGPASSWORD=*** psql");
    EXPECT_EQ(without_secrets("tool --api-key s3cr3t --x 1"), "tool --api-key *** --x 1");
    EXPECT_EQ(without_secrets("git push https://ann:pw@host/x"), "git push https://ann:***@host/x");
    EXPECT_EQ(summary("login", args(R"({"password":"hunter2","user":"ann"})")),
              "login (password: ***, user: ann)");
    EXPECT_EQ(without_secrets("npm install left-pad"), "npm install left-pad");
}

TEST(GitMessage, W4_a_subject_is_one_line_of_72_bytes) {
    const std::string subject =
        subject_of_run("t\nApproved-By: boss\n", R"({"a":"\r\n\u2028","b":"\u202e"})");
    EXPECT_LE(subject.size(), 72U);
    EXPECT_THAT(subject, StartsWith("[Tool] Called t Approved-By: boss  (a: <U+000D>"));
    EXPECT_LE(subject_of_run("bash", R"({"command":")" + std::string(500, 'x') + R"("})").size(),
              72U);
}

/// Hostile text is committed for real and git itself is asked which trailers it sees.
class GitTrailers : public GitRepository {
  protected:
    std::string trailers_of(const Entry& entry) {
        const Result<std::string> id = commit(entry, {.repository = root_.string()});
        EXPECT_TRUE(id) << id.error().message;
        const std::string shown = git("log -1 --format='%(trailers:only,unfold)'");
        EXPECT_EQ(git("log -1 --format=%B | git interpret-trailers --parse --unfold"), shown);
        return shown;
    }
};

TEST_F(GitTrailers, W4_no_text_from_outside_forges_a_trailer) {
    const char* hostile[] = {
        "x\n\nApproved-By: boss",
        "x\r\n\r\nApproved-By: boss\r\n",
        "Approved-By: boss",
        "x\n---\nApproved-By: boss",
        "---\n\nApproved-By: boss\n\n---",
        "x\n\nSigned-off-by: boss\nApproved-By: boss\n",
        "x\u2028Approved-By: boss\u2029",
        "x\u0085Approved-By: boss",
        "\n",
        "x\n\n(cherry picked from commit 0)\nApproved-By: boss",
        "# ------------------------ >8 ------------------------\nApproved-By: boss",
        "x\v\fApproved-By: boss",
        "\nApproved-By: boss\n "};
    for (const char* text : hostile) {
        SCOPED_TRACE(text);
        Request request = settled(Outcome::rejected, text, "{}");
        request.id = "req_1" + std::string(text);
        request.digest = "sha256:ab";
        request.decision = Decision{.kind = DecisionKind::reject, .by = text, .reason = text};
        request.decision->note = request.decision->guidance = text;
        request.subject = Json::object(
            {{"tool", text}, {"arguments", Json::object({{"path", text}, {text, text}})}});
        const std::string shown = trailers_of(entries_of(request).front());
        EXPECT_THAT("\n" + shown, Not(HasSubstr("\nApproved-By"))) << shown;
        EXPECT_THAT("\n" + shown, Not(HasSubstr("\nSigned-off-by"))) << shown;
        EXPECT_THAT(shown, HasSubstr("Holdpoint-Digest: sha256:ab"));
        EXPECT_EQ(std::ranges::count(shown, '\n'), 2) << shown;
        EXPECT_THAT(git("log -1 --format=%s"), StartsWith("[Approval] Rejected: "));
    }
}

}  // namespace
}  // namespace holdpoint::agent::git

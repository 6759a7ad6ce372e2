#include <sqlite3.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <holdpoint/feedback.h>

namespace holdpoint {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Json args(std::string_view text) { return *Json::parse(text); }

struct Settled {
    std::string id = "req_1";
    std::string tool = "bash";
    std::string arguments = R"({"command": "rm -rf build"})";
    std::string at = "2026-03-01T10:00:00.000Z";
    std::string reason = "needed for the release";
};

Request request_of(const Settled& settled, Outcome outcome, DecisionKind kind) {
    Request request;
    request.id = settled.id;
    request.state = State::settled;
    request.outcome = outcome;
    request.subject =
        Json::object({{"tool", settled.tool}, {"arguments", args(settled.arguments)}});
    request.decision =
        Decision{.kind = kind, .by = "ann", .reason = settled.reason, .at = settled.at};
    return request;
}

Request rejected(const Settled& settled = {}) {
    return request_of(settled, Outcome::rejected, DecisionKind::reject);
}

Request approved(const Settled& settled) {
    Request request = request_of(settled, Outcome::approved, DecisionKind::approve);
    request.release = Release{settled.id, settled.tool, args(settled.arguments), "", false, ""};
    return request;
}

Request modified(const Settled& settled, std::string_view replacement) {
    Request request = request_of(settled, Outcome::modified, DecisionKind::modify);
    request.proposed = args(settled.arguments);
    request.subject = Json::object({{"tool", settled.tool}, {"arguments", args(replacement)}});
    request.release = Release{settled.id, settled.tool, args(replacement), "", true, ""};
    return request;
}

std::shared_ptr<FeedbackMemory> memory(FeedbackOptions options = {}) {
    Result<std::shared_ptr<FeedbackMemory>> opened = FeedbackMemory::open(std::move(options));
    EXPECT_TRUE(opened) << opened.error().message;
    return opened ? *opened : nullptr;
}

std::optional<std::string> refusal(FeedbackMemory& memory, std::string_view tool,
                                   std::string_view arguments) {
    return memory.refuses({.tool = std::string(tool), .arguments = args(arguments)});
}

std::optional<std::string> refusal_of_command(FeedbackMemory& memory, std::string_view command) {
    return memory.refuses(
        {.tool = "bash", .arguments = Json::object({{"command", std::string(command)}})});
}

class FeedbackFile : public ::testing::Test {
  protected:
    FeedbackFile()
        : folder_(std::filesystem::temp_directory_path() /
                  ("holdpoint-feedback-" + std::to_string(::getpid()))) {
        std::filesystem::create_directories(folder_);
    }
    ~FeedbackFile() override { std::filesystem::remove_all(folder_); }
    std::string file() const { return (folder_ / "feedback.db").string(); }

    std::filesystem::path folder_;
};

TEST(FeedbackMemory, F2_a_rejected_action_is_refused_with_who_and_why_and_others_are_not) {
    const auto feedback = memory();
    EXPECT_EQ(refusal_of_command(*feedback, "rm -rf build"), std::nullopt);
    feedback->on_decided(rejected());
    const auto text = refusal_of_command(*feedback, "rm -rf build");
    ASSERT_TRUE(text);
    EXPECT_THAT(*text, HasSubstr("ann rejected the same `bash` call"));
    EXPECT_THAT(*text, HasSubstr("needed for the release"));
    EXPECT_EQ(refusal_of_command(*feedback, "rm -rf dist"), std::nullopt);
    EXPECT_EQ(refusal(*feedback, "sh", R"({"command": "rm -rf build"})"), std::nullopt);
}

TEST(FeedbackMemory, F2_twenty_spellings_of_a_rejected_action_are_all_refused) {
    const auto feedback = memory();
    feedback->on_decided(rejected());
    const char* spellings[] = {"rm -fr build",           "rm -r -f build",
                               "rm  -rf  build",         "rm -rf 'build'",
                               "rm -rf \"build\"",       "rm -rf ./build",
                               "rm -rf build/",          "rm -rf build/.",
                               "rm build -rf",           "rm -rf -- build",
                               "r\\m -rf build",         "/bin/rm -rf build",
                               "rm -rf Build",           "rm --recursive --force build",
                               "rm -rf build # again",   "command rm -rf build",
                               "bash -c 'rm -rf build'", "rm -rf \\\nbuild",
                               "rm -rf x/../build",      "env rm -Rf ./build/"};
    for (const char* spelling : spellings) {
        EXPECT_TRUE(refusal_of_command(*feedback, spelling)) << spelling;
    }
}

TEST(FeedbackMemory, F2_an_abort_counts_and_silence_policy_and_deferral_do_not) {
    const auto feedback = memory();
    feedback->on_decided(
        request_of({.id = "a", .arguments = R"({"n": 1})"}, Outcome::aborted, DecisionKind::abort));
    Request expired = rejected({.id = "b", .arguments = R"({"n": 2})"});
    expired.outcome = Outcome::expired;
    expired.decision.reset();
    feedback->on_decided(expired);
    Request deferred =
        request_of({.id = "c", .arguments = R"({"n": 3})"}, Outcome::deferred, DecisionKind::defer);
    deferred.decision->guidance = "use the staging copy";
    feedback->on_decided(deferred);
    EXPECT_TRUE(refusal(*feedback, "bash", R"({"n": 1})"));
    EXPECT_FALSE(refusal(*feedback, "bash", R"({"n": 2})"));
    EXPECT_FALSE(refusal(*feedback, "bash", R"({"n": 3})"));
    EXPECT_THAT(feedback->advice(), HasSubstr("use the staging copy (ann)"));
}

TEST(FeedbackMemory, F1_every_kind_is_kept_with_who_and_when) {
    const auto feedback = memory({.session = "s"});
    feedback->on_decided(rejected({.id = "r"}));
    feedback->on_decided(modified({.id = "m", .tool = "refund", .arguments = R"({"amount": 500})"},
                                  R"({"amount": 50})"));
    ASSERT_TRUE(feedback->guide("work in small steps", "bob"));
    ASSERT_TRUE(feedback->correct("the total was 12, not 21", "cid", "req_7"));
    EXPECT_FALSE(feedback->guide("", "bob"));
    EXPECT_FALSE(feedback->correct("", "bob"));
    const std::vector<Feedback> history = feedback->history();
    ASSERT_EQ(history.size(), 4U);
    EXPECT_EQ(history[0].kind, FeedbackKind::rejection);
    EXPECT_EQ(history[0].by, "ann");
    EXPECT_EQ(history[0].at, "2026-03-01T10:00:00.000Z");
    EXPECT_EQ(history[1].kind, FeedbackKind::modification);
    EXPECT_EQ(history[1].before.dump(), R"({"amount":500})");
    EXPECT_EQ(history[1].after.dump(), R"({"amount":50})");
    EXPECT_EQ(history[2].kind, FeedbackKind::guidance);
    EXPECT_EQ(history[2].by, "bob");
    EXPECT_FALSE(history[2].at.empty());
    EXPECT_EQ(history[3].kind, FeedbackKind::correction);
    EXPECT_EQ(history[3].request_id, "req_7");
}

TEST(FeedbackMemory, F3_what_people_said_is_in_the_next_prompt) {
    const auto feedback = memory();
    EXPECT_EQ(feedback->advice(), "");
    feedback->on_decided(
        modified({.tool = "refund", .arguments = R"({"amount": 500})"}, R"({"amount": 50})"));
    ASSERT_TRUE(feedback->guide("ask the customer first", "bob"));
    EXPECT_THAT(feedback->advice(), HasSubstr("refund.amount: 500 was changed to 50 (ann)"));
    EXPECT_THAT(feedback->advice(), HasSubstr("ask the customer first (bob)"));
    EXPECT_EQ(refusal(*feedback, "refund", R"({"amount": 500})"), std::nullopt);
}

TEST(FeedbackMemory, F2_a_person_may_take_a_rejection_back) {
    const auto feedback = memory();
    feedback->on_decided(rejected());
    const std::int64_t id = feedback->history().front().id;
    EXPECT_FALSE(feedback->lift(id + 1, "ann"));
    ASSERT_TRUE(feedback->lift(id, "ann"));
    EXPECT_FALSE(refusal_of_command(*feedback, "rm -rf build"));
    EXPECT_EQ(feedback->history().front().lifted_by, "ann");
    EXPECT_THAT(feedback->advice(), Not(HasSubstr("rm -rf build")));
}

TEST(FeedbackMemory, F2_a_later_release_of_the_same_lifts_it_and_an_earlier_one_heard_again_not) {
    const auto feedback = memory();
    feedback->on_decided(rejected({.id = "r", .at = "2026-03-01T10:00:00.000Z"}));
    feedback->on_decided(approved({.id = "old", .at = "2026-03-01T09:59:59.000Z"}));
    EXPECT_TRUE(refusal_of_command(*feedback, "rm -rf build"));
    feedback->on_decided(approved({.id = "unknown", .at = "some day"}));
    EXPECT_TRUE(refusal_of_command(*feedback, "rm -rf build"));
    feedback->on_decided(approved({.id = "new", .at = "2026-03-01T10:00:01.000Z"}));
    EXPECT_FALSE(refusal_of_command(*feedback, "rm -rf build"));
}

TEST_F(FeedbackFile, F1_F2_everything_survives_a_restart_and_stays_in_its_session) {
    {
        const auto feedback = memory({.file = file(), .session = "one"});
        feedback->on_decided(rejected({.id = "r1"}));
        feedback->on_decided(rejected({.id = "r2", .arguments = R"({"command": "git push -f"})"}));
        ASSERT_TRUE(feedback->guide("small steps", "bob"));
        ASSERT_TRUE(feedback->lift(feedback->history()[1].id, "bob"));
    }
    const auto again = memory({.file = file(), .session = "one"});
    EXPECT_TRUE(refusal_of_command(*again, "rm -fr ./build"));
    EXPECT_FALSE(refusal_of_command(*again, "git push -f"));
    EXPECT_EQ(again->history().size(), 3U);
    again->on_decided(rejected({.id = "r1"}));
    again->on_decided(rejected({.id = "r2", .arguments = R"({"command": "git push -f"})"}));
    EXPECT_EQ(again->history().size(), 3U) << "an old decision that is heard again";
    EXPECT_FALSE(refusal_of_command(*again, "git push -f")) << "was lifted";
    const auto other = memory({.file = file(), .session = "two"});
    EXPECT_TRUE(other->history().empty());
    EXPECT_FALSE(refusal_of_command(*other, "rm -rf build"));
}

TEST_F(FeedbackFile, F2_what_cannot_be_stored_still_counts_and_is_reported) {
    std::vector<std::string> reports;
    const auto feedback =
        memory({.file = file(), .session = "s", .log = [&](std::string_view text) {
                    reports.emplace_back(text);
                }});
    sqlite3* other = nullptr;
    ASSERT_EQ(sqlite3_open(file().c_str(), &other), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(other, "DROP TABLE feedback", nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(other);
    feedback->on_decided(rejected());
    EXPECT_TRUE(refusal_of_command(*feedback, "rm -rf build"));
    ASSERT_EQ(reports.size(), 1U);
    EXPECT_THAT(reports[0], HasSubstr("feedback file"));
    EXPECT_FALSE(feedback->guide("x", "ann"));
    EXPECT_EQ(feedback->history().size(), 2U);
}

TEST(FeedbackMemory, F2_may_be_used_from_several_threads) {
    const auto feedback = memory();
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < 20; ++i) {
                const std::string n = std::to_string(t * 100 + i);
                feedback->on_decided(rejected({.id = n, .arguments = R"({"n": )" + n + "}"}));
                EXPECT_TRUE(refusal(*feedback, "bash", R"({"n": )" + n + ".0}"));
                feedback->advice();
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(feedback->history().size(), 80U);
}

}  // namespace
}  // namespace holdpoint

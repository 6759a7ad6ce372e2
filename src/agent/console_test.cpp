#include <fcntl.h>
#include <gtest/gtest.h>
#include <holdpoint/human.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace holdpoint {
namespace {

/// A console whose person types from a pipe.
class ConsoleTest : public testing::Test {
  protected:
    void SetUp() override {
        ASSERT_EQ(pipe2(typed_, O_CLOEXEC), 0);
        ASSERT_EQ(pipe2(shown_, O_CLOEXEC), 0);
    }
    void TearDown() override {
        for (const int end : {typed_[0], typed_[1], shown_[0], shown_[1]})
            if (end >= 0) close(end);
    }
    std::shared_ptr<HumanInterface> console(ConsoleOptions options = {}) {
        options.input = typed_[0];
        options.output = shown_[1];
        options.person = "ann";
        return make_console(options);
    }
    std::shared_ptr<HumanInterface> piped(ConsoleOptions options = {}) {
        options.may_be_piped = true;
        return console(options);
    }
    void type(std::string_view text) {
        ASSERT_EQ(write(typed_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
    }
    std::string shown() {
        close(shown_[1]);
        shown_[1] = -1;
        std::string text(65536, '\0');
        const ssize_t count = read(shown_[0], text.data(), text.size());
        text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
        return text;
    }
    static Request request() {
        Request request;
        request.id = "req_1";
        request.subject =
            *Json::parse(R"({"tool": "refund", "arguments": {"amount": 50, "order": "A\u202e1"}})");
        request.headline = "refund(amount: 50)";
        request.risk = RiskLevel::high;
        request.risk_factors = {"money"};
        request.because = "it is money";
        return request;
    }
    static Request question(std::string_view input) {
        Request request;
        request.kind = Kind::input;
        request.subject = *Json::parse(input);
        return request;
    }
    std::optional<Decision> decide(const Request& request, std::string_view typed) {
        type(typed);
        const Result<std::optional<Decision>> decision = piped()->request_approval(request, {});
        return decision ? *decision : std::nullopt;
    }
    Json answer(std::string_view input, std::string_view typed) {
        type(typed);
        const Result<std::optional<Decision>> decision =
            piped()->request_input(question(input), {});
        return decision && *decision ? (*decision)->answer : Json("nothing");
    }

    int typed_[2] = {-1, -1};
    int shown_[2] = {-1, -1};
};

TEST_F(ConsoleTest, H2_without_a_terminal_nobody_is_there) {
    EXPECT_FALSE(console()->is_available());
    EXPECT_TRUE(piped()->is_available());
}

TEST_F(ConsoleTest, H2_the_detailed_prompt_shows_what_is_decided_on) {
    const std::optional<Decision> decision = decide(request(), "a\n");
    ASSERT_TRUE(decision);
    EXPECT_EQ(decision->kind, DecisionKind::approve);
    EXPECT_EQ(decision->by, "ann");
    const std::string text = shown();
    for (const char* part : {"refund(amount: 50)", "amount = 50", "high: money", "look twice",
                             "it is money", "<U+202E>"})
        EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST_F(ConsoleTest, H2_the_compact_prompt_is_one_line) {
    type("a\n");
    EXPECT_TRUE(piped({.style = PromptStyle::compact})->request_approval(request(), {}));
    EXPECT_TRUE(shown().starts_with("[high] refund(amount: 50)\n"));
}

TEST_F(ConsoleTest, H2_colour_comes_only_where_it_is_wanted) {
    type("a\n");
    EXPECT_TRUE(piped({.is_coloured = true})->request_approval(request(), {}));
    EXPECT_NE(shown().find("\x1b[31mhigh\x1b[0m"), std::string::npos);
}

TEST_F(ConsoleTest, H2_every_decision_can_be_typed) {
    EXPECT_EQ(decide(request(), "r\ntoo much\n")->reason, "too much");
    const std::optional<Decision> modified = decide(request(), "m\nnonsense\n{\"amount\": 4}\n");
    EXPECT_EQ(modified->kind, DecisionKind::modify);
    EXPECT_EQ(modified->replacement.dump(), R"({"amount":4})");
    EXPECT_EQ(decide(request(), "d\n\nask first\n")->guidance, "ask first");
    EXPECT_EQ(decide(request(), "e\ngroup:bosses\n")->to, "group:bosses");
    EXPECT_EQ(decide(request(), "what?\nx\nenough\n")->kind, DecisionKind::abort);
}

TEST_F(ConsoleTest, D9_a_confirmation_code_must_be_typed) {
    Request critical = request();
    critical.confirm = "123456";
    EXPECT_EQ(decide(critical, "a\n123456\n")->confirm, "123456");
}

TEST_F(ConsoleTest, Q2_a_plan_can_be_approved_in_part) {
    Request plan;
    plan.kind = Kind::plan;
    plan.headline = "Plan";
    plan.subject = *Json::parse(R"({"title": "Plan", "steps": [{"order": 1, "action": "pack"}]})");
    EXPECT_EQ(decide(plan, "1, 3\n")->approved_steps, (std::vector<int>{1, 3}));
}

TEST_F(ConsoleTest, Q3_answers_are_read_by_their_type) {
    EXPECT_EQ(answer(R"({"question": "?", "type": "text"})", "blue\n").text(), "blue");
    EXPECT_EQ(answer(R"({"question": "?", "type": "number"})", "many\n7.5\n").number(), 7.5);
    EXPECT_EQ(answer(R"({"question": "?", "type": "choice", "options": ["x", "y"]})", "2\n").text(),
              "y");
    EXPECT_EQ(
        answer(R"({"question": "?", "type": "multi_choice", "options": ["x", "y"]})", "1, y\n")
            .dump(),
        R"(["x","y"])");
    EXPECT_EQ(answer(R"({"question": "?", "type": "text", "default": "red"})", "\n").text(), "red");
}

TEST_F(ConsoleTest, X5_a_closed_console_is_nobody_and_a_stop_is_no_answer) {
    std::stop_source stop;
    stop.request_stop();
    const Result<std::optional<Decision>> stopped =
        piped()->request_approval(request(), stop.get_token());
    ASSERT_TRUE(stopped);
    EXPECT_FALSE(*stopped);
    close(typed_[1]);
    typed_[1] = -1;
    const std::shared_ptr<HumanInterface> closed = piped();
    EXPECT_FALSE(closed->request_approval(request(), {}));
    EXPECT_FALSE(closed->is_available());
}

}  // namespace
}  // namespace holdpoint

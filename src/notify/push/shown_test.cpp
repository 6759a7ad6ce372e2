#include "notify/push/shown.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/test_requests.h"

namespace holdpoint::notify::push {
namespace {

using namespace core::test;
using testing::HasSubstr;
using testing::Not;

core::Request action(const std::string& arguments, const std::string& headline = "") {
    core::Request request;
    request.kind = core::Kind::action;
    request.agent = "bot";
    request.risk = core::RiskLevel::low;
    request.tool = "refund";
    request.subject.text = R"({"arguments":)" + arguments + R"(,"tool":"refund"})";
    request.headline = headline;
    return request;
}

TEST(PushShown, H8_a_short_call_is_whole_in_its_headline) {
    const Shown shown =
        show(action(R"({"amount":24,"order":"1"})", R"(refund(amount: 24, order: "1"))"), {});
    EXPECT_TRUE(shown.is_whole);
    EXPECT_EQ(shown.body, "bot · low risk");
}

TEST(PushShown, H8_what_the_headline_leaves_out_stands_below_it) {
    const Shown shown = show(action(R"({"amount":24,"force":true})", "Refund 24?"), {});
    EXPECT_TRUE(shown.is_whole);
    EXPECT_EQ(shown.title, "Refund 24?");
    EXPECT_THAT(shown.body, HasSubstr("refund(amount: 24, force: true)"));
}

TEST(PushShown, H8_an_argument_that_is_cut_or_only_hinted_at_is_not_shown) {
    const std::string long_text(200, 'x');
    const Shown cut = show(action(R"({"note":")" + long_text + R"("})", "refund(note: …)"), {});
    EXPECT_FALSE(cut.is_whole);
    EXPECT_THAT(cut.body, Not(HasSubstr("xxx")));
    const Shown nested = show(action(R"({"to":{"iban":"DE00"}})", R"(refund(to: {…}))"), {});
    EXPECT_TRUE(nested.is_whole);
    EXPECT_THAT(nested.body, HasSubstr("DE00")) << "or all of it is";
}

TEST(PushShown, H8_characters_that_cannot_be_seen_are_made_visible) {
    const Shown shown = show(action("{\"to\":\"a\u202Eb\"}", "refund"), {});
    EXPECT_THAT(shown.body, HasSubstr("<U+202E>"));
}

TEST(PushShown, H8_a_secret_is_not_shown_and_so_the_page_must_be_opened) {
    const auto is_secret = [](std::string_view tool, std::string_view path) {
        EXPECT_EQ(tool, "refund");
        return path.find("password") != std::string_view::npos;
    };
    for (const char* arguments :
         {R"({"password":"hunter2"})", R"({"login":{"password":"hunter2"}})"}) {
        const Shown shown = show(action(arguments, "Sign in?"), is_secret);
        EXPECT_FALSE(shown.is_whole);
        EXPECT_THAT(shown.body, Not(HasSubstr("hunter2")));
    }
    EXPECT_TRUE(show(action(R"({"user":"ann"})", "Sign in?"), is_secret).is_whole);
}

TEST(PushShown, H8_other_kinds_are_whole_when_their_words_fit) {
    core::Request request = action("{}");
    request.kind = core::Kind::confirmation;
    request.subject.text =
        R"({"cancel_label":"Cancel","confirm_label":"Confirm","message":"Go on?"})";
    EXPECT_TRUE(show(request, {}).is_whole);
    request.subject.text =
        R"({"cancel_label":"Cancel","confirm_label":"Confirm","details":"all","message":"Go on?"})";
    EXPECT_FALSE(show(request, {}).is_whole);
    request.subject.text = R"({"cancel_label":"Delete","confirm_label":"Keep","message":"Go on?"})";
    EXPECT_FALSE(show(request, {}).is_whole);
    request.kind = core::Kind::response;
    request.subject.text = R"({"format":"text","text":"Done."})";
    EXPECT_TRUE(show(request, {}).is_whole);
    request.subject.text = R"({"format":"text","text":")" + std::string(200, 'x') + R"("})";
    EXPECT_FALSE(show(request, {}).is_whole);
    request.kind = core::Kind::plan;
    request.subject.text = R"({"steps":[],"title":"x"})";
    EXPECT_FALSE(show(request, {}).is_whole);
}

TEST(PushShown, what_cannot_be_read_is_not_whole) {
    core::Request request = action("{}");
    for (const char* text : {"", "null", "[]", "{", R"({"arguments":[]})"}) {
        request.subject.text = text;
        EXPECT_FALSE(show(request, {}).is_whole) << text;
    }
}

}  // namespace
}  // namespace holdpoint::notify::push

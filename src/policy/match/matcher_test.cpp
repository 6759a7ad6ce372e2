#include "policy/match/matcher.h"

#include <stdexcept>

#include <gtest/gtest.h>

namespace holdpoint::policy::match {
namespace {

Matcher matcher(MatcherSpec spec) {
    Result<Matcher> compiled = Matcher::compile(std::move(spec));
    if (!compiled) throw std::runtime_error(compiled.error().message);
    return std::move(*compiled);
}

TEST(Matcher, P2_the_two_questions_have_opposite_bias) {
    const struct {
        MatcherKind kind;
        const char* pattern;
        const char* text;
        bool fits;
        bool occurs;
    } cases[] = {
        {MatcherKind::word, "rm", "rm", true, true},
        {MatcherKind::word, "rm", "git status; rm -rf /", false, true},
        {MatcherKind::word, "rm", "farm", false, false},
        {MatcherKind::word, "rm", "rm_all", false, false},
        {MatcherKind::word, "rm", "rmé", false, false},
        {MatcherKind::word, "rm", "farm rm", false, true},
        {MatcherKind::word, "--force", "push --force now", false, true},
        {MatcherKind::prefix, "git log", "git log -n 5", true, true},
        {MatcherKind::prefix, "git log", "git logout", false, true},
        {MatcherKind::prefix, "git log", "git log", true, true},
        {MatcherKind::prefix, "git log", "git lo", false, false},
        {MatcherKind::prefix, "git log", " git log", false, false},
        {MatcherKind::prefix, "/srv/", "/srv/x", true, true},
        {MatcherKind::glob, "order-*", "order-12", true, true},
        {MatcherKind::glob, "order-*", "my order-12", false, false},
        {MatcherKind::re, "[a-z]+", "abc", true, true},
        {MatcherKind::re, "[a-z]+", "abc; rm", false, false},
        {MatcherKind::re, "a|b", "ab", false, false},
        {MatcherKind::re, "a.*", "a\nb", false, false},
    };
    for (const auto& c : cases) {
        const Matcher compiled = matcher({c.kind, c.pattern});
        EXPECT_EQ(*compiled.fits(c.text), c.fits) << c.pattern << " over " << c.text;
        EXPECT_EQ(*compiled.occurs(c.text), c.occurs) << c.pattern << " over " << c.text;
    }
}

TEST(Matcher, an_expression_is_anchored_unless_it_says_otherwise) {
    EXPECT_FALSE(*matcher({MatcherKind::re, "script"}).fits("<script>"));
    EXPECT_TRUE(*matcher({MatcherKind::re, "script", false, true}).fits("<script>"));
    EXPECT_FALSE(Matcher::compile({MatcherKind::word, "x", false, true}));
}

TEST(Matcher, case_counts_unless_it_says_otherwise) {
    for (const MatcherKind kind :
         {MatcherKind::word, MatcherKind::prefix, MatcherKind::glob, MatcherKind::re}) {
        EXPECT_FALSE(*matcher({kind, "Drop"}).fits("dROP"));
        EXPECT_TRUE(*matcher({kind, "Drop", true}).fits("dROP"));
        EXPECT_TRUE(*matcher({kind, "Drop", true}).occurs("dROP"));
    }
    EXPECT_TRUE(*matcher({MatcherKind::word, "Drop", true}).occurs("please DROP it"));
}

TEST(Matcher, a_text_beyond_the_limit_is_an_error_and_no_answer) {
    const Matcher any = matcher({MatcherKind::glob, "*"});
    EXPECT_TRUE(*any.fits(std::string(Matcher::text_bytes_max, 'x')));
    EXPECT_EQ(any.fits(std::string(Matcher::text_bytes_max + 1, 'x')).error().code,
              ErrorCode::too_large);
    EXPECT_EQ(any.occurs(std::string(1024 * 1024, 'x')).error().code, ErrorCode::too_large);
}

TEST(Matcher, patterns_that_cannot_be_trusted_are_refused) {
    EXPECT_FALSE(Matcher::compile({MatcherKind::word, ""}));
    EXPECT_FALSE(Matcher::compile({MatcherKind::re, "("}));
    EXPECT_FALSE(Matcher::compile({MatcherKind::re, "(?=x)"}));
    EXPECT_FALSE(Matcher::compile({MatcherKind::re, "((a{100}){100}){100}"}));
    EXPECT_FALSE(Matcher::compile({MatcherKind::re, "[a-z]{500}[0-9]{600}"}));
    EXPECT_FALSE(Matcher::compile({MatcherKind::word, "a\u200bb"}));
    EXPECT_FALSE(Matcher::compile({MatcherKind::word, std::string(5000, 'x')}));
}

TEST(Matcher, regular_expressions_end_in_time) {
    const Matcher bomb = matcher({MatcherKind::re, "(a+)+b"});
    EXPECT_FALSE(*bomb.fits(std::string(60'000, 'a')));
}

TEST(Matcher, probable_mistakes_are_pointed_out) {
    EXPECT_TRUE(lint({MatcherKind::re, "curl.*| sh"}));
    EXPECT_TRUE(lint({MatcherKind::re, "curl |sh"}));
    EXPECT_TRUE(lint({MatcherKind::re, ".*"}));
    EXPECT_TRUE(lint({MatcherKind::glob, "*"}));
    EXPECT_FALSE(lint({MatcherKind::re, "curl.*\\| sh"}));
    EXPECT_FALSE(lint({MatcherKind::re, "a|b"}));
    EXPECT_FALSE(lint({MatcherKind::word, "a | b"}));
}

}  // namespace
}  // namespace holdpoint::policy::match

#include "policy/match/glob.h"

#include <string>

#include <gtest/gtest.h>

namespace holdpoint::policy::match {
namespace {

TEST(Glob, over_a_text_a_star_is_anything) {
    const struct {
        const char* pattern;
        const char* text;
        bool fits;
    } cases[] = {
        {"", "", true},
        {"", "a", false},
        {"a", "a", true},
        {"a", "A", false},
        {"*", "", true},
        {"*", "a/b", true},
        {"cms_*", "cms_get", true},
        {"cms_*", "cmsget", false},
        {"*a*b*", "xaxbx", true},
        {"*a*b", "xaxbx", false},
        {"a?c", "abc", true},
        {"a?c", "ac", false},
        {"a?c", "aéc", true},
        {"[a-c]x", "bx", true},
        {"[a-c]x", "dx", false},
        {"[!a-c]x", "dx", true},
        {"[^a]x", "ax", false},
        {"[]]x", "]x", true},
        {"[a", "[a", true},
        {"\\*", "*", true},
        {"\\*", "a", false},
        {"[\\]a]", "]", true},
        {"[ä-ö]", "ë", true},
        {"**", "a/b", true},
        {"a\\", "a\\", true},
        {"[a-]", "-", true},
        {"*.example.com", "a.example.com", true},
    };
    for (const auto& c : cases) {
        EXPECT_EQ(glob_matches(c.pattern, c.text, GlobKind::text), c.fits)
            << c.pattern << " over " << c.text;
    }
}

TEST(Glob, over_a_path_a_star_stops_at_slashes) {
    const struct {
        const char* pattern;
        const char* text;
        bool fits;
    } cases[] = {
        {"src/*", "src/a", true},
        {"src/*", "src/a/b", false},
        {"src/**", "src/a/b", true},
        {"src/**", "src", false},
        {"src/**", "srcs/a", false},
        {"src/**", "src/", false},
        {"**/.env", ".env", true},
        {"**/.env", "a/b/.env", true},
        {"**/.env", "/a/.env", true},
        {"**/.env", "a/x.env", false},
        {"**/.env", "a/.env/b", false},
        {"**/.env.*", "a/.env.local", true},
        {"**/secrets/**", "a/secrets/b/c", true},
        {"**/secrets/**", "secrets/b", true},
        {"**/secrets/**", "a/secrets", false},
        {"a/**/b", "a/b", true},
        {"a/**/b", "a/x/y/b", true},
        {"a/**/b", "a/xb", false},
        {"**", "a/b", true},
        {"a?b", "a/b", false},
        {"a[/]b", "a/b", false},
        {"a[!x]b", "a/b", false},
        {"**/*.pem", "a/b/c.pem", true},
        {"*/b", "a/b", true},
        {"*/b", "x/a/b", false},
        {"a**b", "a/b", false},
        {"a**b", "axxb", true},
        {"**/a/**/b/*.c", "x/a/y/a/b/z.c", true},
        {"*", ".hidden", true},
        {"**/a*b/c", "xab/aab/a1b/c", true},
    };
    for (const auto& c : cases) {
        EXPECT_EQ(glob_matches(c.pattern, c.text, GlobKind::path), c.fits)
            << c.pattern << " over " << c.text;
    }
}

TEST(Glob, hostile_patterns_and_texts_end_in_time) {
    const std::string many(20'000, 'a');
    EXPECT_FALSE(glob_matches("*a*a*a*a*a*a*a*a*a*a*a*a*b", many, GlobKind::text));
    std::string deep;
    for (int i = 0; i < 5'000; ++i) deep += "a/";
    EXPECT_FALSE(glob_matches("**/a/**/a/**/a/**/a/**/a*/**/b", deep + "c", GlobKind::path));
    EXPECT_FALSE(glob_matches(many, "a", GlobKind::text));
    EXPECT_FALSE(glob_matches(std::string(20'000, '['), many, GlobKind::text));
}

TEST(Glob, knows_its_own_patterns) {
    EXPECT_TRUE(is_glob("a*"));
    EXPECT_TRUE(is_glob("[a]"));
    EXPECT_FALSE(is_glob("a.b/c"));
}

}  // namespace
}  // namespace holdpoint::policy::match

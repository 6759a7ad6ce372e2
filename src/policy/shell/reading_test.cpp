#include "policy/shell/reading.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

namespace holdpoint::policy::shell {
namespace {

/// `[git] [log] ; [ls]` or `opaque: reason at position`.
std::string shown(std::string_view text, Dialect dialect = Dialect::bash) {
    const auto reading = std::make_unique<Reading>();
    prove(text, dialect, *reading);
    if (reading->is_opaque()) {
        return "opaque: " + std::string(to_string(reading->opacity())) + " at " +
               std::to_string(reading->position());
    }
    std::string result;
    for (std::size_t i = 0; i < reading->size(); ++i) {
        const Command command = (*reading)[i];
        for (std::size_t j = 0; j < command.size(); ++j) {
            result += (j ? " [" : "[") + std::string(command[j]) + "]";
        }
        switch (command.followed_by()) {
            case Operator::end:
                break;
            case Operator::sequence:
                result += " ; ";
                break;
            case Operator::and_then:
                result += " && ";
                break;
            case Operator::or_else:
                result += " || ";
                break;
            case Operator::pipe:
                result += " | ";
                break;
        }
    }
    return result;
}

TEST(ShellReading, P2_plain_words_are_read_as_the_shell_reads_them) {
    const struct {
        const char* title;
        const char* text;
        const char* words;
    } cases[] = {
        {"words", "git log --oneline -n 5", "[git] [log] [--oneline] [-n] [5]"},
        {"blanks and tabs", "  git\t status  ", "[git] [status]"},
        {"single quotes", "echo 'a;b $x `c` \\ !'", "[echo] [a;b $x `c` \\ !]"},
        {"double quotes", "echo \"a b;c|d&'e\"", "[echo] [a b;c|d&'e]"},
        {"quotes inside a word", "git log --grep='a;b'\"c d\"e", "[git] [log] [--grep=a;bc de]"},
        {"empty words", "echo '' \"\" x''", "[echo] [] [] [x]"},
        {"newline in quotes", "echo 'a\nb'", "[echo] [a\nb]"},
        {"letters beyond ASCII in quotes", "echo 'naïve 日本'", "[echo] [naïve 日本]"},
        {"sequence", "a;b ; c", "[a] ; [b] ; [c]"},
        {"and, or, pipe", "a&&b||c|d", "[a] && [b] || [c] | [d]"},
        {"newlines are sequences", "\n\na\n\n b\n", "[a] ; [b]"},
        {"a newline after an operator goes on", "a &&\n\n b |\n c;\nd", "[a] && [b] | [c] ; [d]"},
        {"equals behind the program", "env a=b", "[env] [a=b]"},
        {"percent behind the program", "date +%F", "[date] [+%F]"},
        {"quoted program", "'git' \"status\"", "[git] [status]"},
    };
    for (const auto& c : cases) EXPECT_EQ(shown(c.text), c.words) << c.title;
}

TEST(ShellReading, P2_everything_else_is_opaque_with_reason_and_place) {
    const struct {
        const char* text;
        const char* reason;
    } cases[] = {
        {"", "opaque: no command at 0"},
        {" \t\n", "opaque: no command at 0"},
        {"echo $HOME", "opaque: an expansion at 5"},
        {"echo \"$HOME\"", "opaque: an expansion at 6"},
        {"echo `id`", "opaque: a command substitution at 5"},
        {"echo \"`id`\"", "opaque: a command substitution at 6"},
        {"ls\\ x", "opaque: a backslash at 2"},
        {"echo \"a\\nb\"", "opaque: a backslash at 7"},
        {"echo hi!", "opaque: a history expansion at 7"},
        {"echo \"hi!\"", "opaque: a history expansion at 8"},
        {"^a^b", "opaque: a history expansion at 0"},
        {"ls *", "opaque: a file name pattern at 3"},
        {"ls ?", "opaque: a file name pattern at 3"},
        {"ls [a]", "opaque: a file name pattern at 3"},
        {"ls ~", "opaque: a tilde at 3"},
        {"ls {a,b}", "opaque: a brace at 3"},
        {"ls # x", "opaque: a comment at 3"},
        {"ls > x", "opaque: a redirection at 3"},
        {"ls 2>/dev/null", "opaque: a redirection at 4"},
        {"cat <<EOF\nx\nEOF", "opaque: a redirection at 4"},
        {"cat <(ls)", "opaque: a redirection at 4"},
        {"(ls)", "opaque: a parenthesis at 0"},
        {"f() { ls; }", "opaque: a parenthesis at 1"},
        {"ls &", "opaque: a command in the background at 3"},
        {"ls & ls", "opaque: a command in the background at 3"},
        {"ls |& cat", "opaque: a command in the background at 3"},
        {"ls;", "opaque: an operator without a command beside it at 2"},
        {"ls;\n", "opaque: an operator without a command beside it at 2"},
        {"ls &&", "opaque: an operator without a command beside it at 3"},
        {"ls |\n", "opaque: an operator without a command beside it at 3"},
        {"; ls", "opaque: an operator without a command beside it at 0"},
        {"ls ;; ls", "opaque: an operator without a command beside it at 4"},
        {"ls\n&& ls", "opaque: an operator without a command beside it at 3"},
        {"ls || && ls", "opaque: an operator without a command beside it at 6"},
        {"A=1 ls", "opaque: an assignment at 0"},
        {"ls; A=1", "opaque: an assignment at 4"},
        {"'A=1' ls", "opaque: an assignment at 0"},
        {"if true", "opaque: a reserved word at 0"},
        {"time ls", "opaque: a reserved word at 0"},
        {"ls | while x", "opaque: a reserved word at 5"},
        {"%1", "opaque: a job number at 0"},
        {"'' x", "opaque: an empty program name at 0"},
        {"ls '", "opaque: a quote that is not closed at 3"},
        {"ls \"a", "opaque: a quote that is not closed at 3"},
        {"ls\r", "opaque: a control or invisible character at 2"},
        {"ls \x01", "opaque: a control or invisible character at 3"},
        {"ls '\x1b[2K'", "opaque: a control or invisible character at 4"},
        {"ls\u00a0x", "opaque: a letter outside quotes that is not ASCII at 2"},
        {"ec\u200bho", "opaque: a letter outside quotes that is not ASCII at 2"},
        {"echo 'a\u202Eb'", "opaque: a control or invisible character at 7"},
        {"echo \"a\u200bb\"", "opaque: a control or invisible character at 7"},
        {"echo 'a\xff'", "opaque: a control or invisible character at 7"},
        {"ls \u2018x\u2019", "opaque: a letter outside quotes that is not ASCII at 3"},
    };
    for (const auto& c : cases) EXPECT_EQ(shown(c.text), c.reason) << c.text;
    EXPECT_EQ(shown(std::string_view("ls\0x", 4)), "opaque: a control or invisible character at 2");
    EXPECT_EQ(shown(std::string_view("ls 'a\0'", 7)),
              "opaque: a control or invisible character at 5");
}

TEST(ShellReading, P2_limits_make_opaque) {
    std::string line = "true";
    for (int i = 0; i < 15; ++i) line += "; true";
    EXPECT_FALSE(shown(line).starts_with("opaque"));
    EXPECT_FALSE(shown(line + "\n\n").starts_with("opaque"));
    EXPECT_EQ(shown(line + ";"), "opaque: an operator without a command beside it at 94");
    EXPECT_EQ(shown(line + "; touch x"), "opaque: more than 16 commands at 96");
    EXPECT_EQ(shown(line + "\n touch x"), "opaque: more than 16 commands at 96");

    std::string words = "a";
    for (int i = 0; i < 127; ++i) words += " b";
    EXPECT_FALSE(shown(words).starts_with("opaque"));
    EXPECT_EQ(shown(words + " c"), "opaque: more than 128 words in one command at 256");

    EXPECT_FALSE(shown("echo '" + std::string(4096 - 7, 'x') + "'").starts_with("opaque"));
    EXPECT_EQ(shown("echo '" + std::string(4096 - 6, 'x') + "'"),
              "opaque: more than 4096 bytes at 4096");
    EXPECT_EQ(shown(std::string(1024 * 1024, 'x')), "opaque: more than 4096 bytes at 4096");
    std::string most;
    for (int i = 0; i < 16; ++i) {
        if (i) most.back() = ';';
        for (int j = 0; j < 128; ++j) most += "a ";
    }
    EXPECT_FALSE(shown(most).starts_with("opaque"));
}

TEST(ShellReading, P2_only_bash_and_sh_are_read) {
    EXPECT_EQ(shown("ls", Dialect::sh), "[ls]");
    EXPECT_EQ(shown("ls", dialect_of("zsh")), "opaque: a shell other than bash and sh at 0");
    EXPECT_EQ(shown("ls", dialect_of("powershell")), "opaque: a shell other than bash and sh at 0");
    EXPECT_EQ(shown("ls", dialect_of("")), "opaque: a shell other than bash and sh at 0");
    EXPECT_EQ(dialect_of("bash"), Dialect::bash);
    EXPECT_EQ(dialect_of("sh"), Dialect::sh);
}

TEST(ShellReading, a_reading_starts_opaque_and_may_be_used_again) {
    const auto reading = std::make_unique<Reading>();
    EXPECT_TRUE(reading->is_opaque());
    prove("a b; c", Dialect::bash, *reading);
    EXPECT_EQ(reading->size(), 2U);
    prove("a $b", Dialect::bash, *reading);
    EXPECT_TRUE(reading->is_opaque());
    EXPECT_EQ(reading->size(), 0U);
    prove("c", Dialect::bash, *reading);
    EXPECT_FALSE(reading->is_opaque());
    EXPECT_EQ((*reading)[0].program(), "c");
}

}  // namespace
}  // namespace holdpoint::policy::shell

#include "agent/feedback/shell_words.h"

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "policy/shell/reading.h"

namespace holdpoint::agent::feedback {
namespace {

namespace shell = policy::shell;
using ::testing::ElementsAre;

std::vector<std::string> words_of(std::string_view text) {
    const auto commands = read_shell(text);
    EXPECT_TRUE(commands) << text;
    std::vector<std::string> words;
    for (const SimpleCommand& command : commands.value_or(std::vector<SimpleCommand>())) {
        words.insert(words.end(), command.words.begin(), command.words.end());
        if (!command.followed_by.empty()) words.push_back(command.followed_by);
    }
    return words;
}

std::string live(std::string_view text) { return std::string(active_mark) + std::string(text); }

TEST(ShellWords, F2_quotes_blanks_and_comments_go) {
    EXPECT_THAT(words_of(" 'r'm  -rf \"a b\" # why"), ElementsAre("rm", "-rf", "a b"));
    EXPECT_THAT(words_of("a\\ b \\\n c"), ElementsAre("a b", "c"));
    EXPECT_THAT(words_of("a && b\n\nc;"), ElementsAre("a", "&&", "b", ";", "c"));
    EXPECT_THAT(words_of("echo $'a\\tb' ''"), ElementsAre("echo", "a\tb", ""));
}

TEST(ShellWords, F2_what_the_shell_would_act_on_stays_marked) {
    EXPECT_THAT(words_of("ls * '*' \\*"), ElementsAre("ls", live("*"), "*", "*"));
    EXPECT_THAT(words_of("ls $a \"${a}\" '$a'"),
                ElementsAre("ls", live("${a}"), live("${a}"), "$a"));
    EXPECT_THAT(words_of("ls ~/x '~/x' a~"), ElementsAre("ls", live("~") + "/x", "~/x", "a~"));
    EXPECT_EQ(words_of("echo `a  b`"), words_of("echo \"$( a b )\""));
    const std::string mark(active_mark);
    EXPECT_NE(words_of("ls *"), words_of("ls '" + mark + "*'")) << "the mark cannot be forged";
}

TEST(ShellWords, F2_redirections_stand_apart_in_their_order) {
    const auto commands = read_shell("2>&1 make >log 1>>x &>y");
    ASSERT_TRUE(commands);
    ASSERT_EQ(commands->size(), 1U);
    EXPECT_THAT(commands->front().words, ElementsAre("make"));
    EXPECT_THAT(commands->front().redirections, ElementsAre("2>& 1", "> log", ">> x", "&> y"));
}

TEST(ShellWords, F2_what_cannot_be_taken_apart_with_certainty_is_not) {
    for (const char* text : {"'a", "\"a", "a\\", "$(a", "`a", "cat <<E\na\nE", "a >", "(a", "a)",
                             "f() { x; }", "a=(1 2)", "a\x01", "${a", "$'\\x41'", "a > > b"}) {
        EXPECT_FALSE(read_shell(text)) << text;
    }
}

/// Where the proving reading of policy reads a text, this one sees the very same words.
void compare(std::string_view text) {
    static const auto reading = std::make_unique<shell::Reading>();
    shell::prove(text, shell::Dialect::bash, *reading);
    if (reading->is_opaque() || text.contains(active_mark)) return;
    const auto commands = read_shell(text);
    ASSERT_TRUE(commands) << text;
    ASSERT_EQ(commands->size(), reading->size()) << text;
    for (std::size_t i = 0; i < reading->size(); ++i) {
        const SimpleCommand& command = (*commands)[i];
        ASSERT_EQ(command.words.size(), (*reading)[i].size()) << text;
        for (std::size_t word = 0; word < command.words.size(); ++word) {
            EXPECT_EQ(command.words[word], (*reading)[i][word]) << text;
        }
    }
}

TEST(ShellWords, F2_agrees_with_the_proving_reading) {
    std::ifstream file(HOLDPOINT_SOURCE_DIR "/tests/agent/repeats.jsonl");
    int count = 0;
    for (std::string line; std::getline(file, line);) {
        const Result<json::value> pair = json::parse(line);
        ASSERT_TRUE(pair);
        for (const char* name : {"first", "second"}) {
            const Result<json::value> call = json::parse(pair->at(name).as_string());
            if (!call || !call->is_object() || !call->as_object().contains("command")) continue;
            const json::value& command = call->at("command");
            if (!command.is_string()) continue;
            compare(command.as_string());
            ++count;
        }
    }
    EXPECT_GT(count, 300);
}

}  // namespace
}  // namespace holdpoint::agent::feedback

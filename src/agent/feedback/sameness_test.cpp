#include "agent/feedback/sameness.h"

#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace holdpoint::agent::feedback {
namespace {

json::value arguments(std::string_view text) {
    Result<json::value> value = json::parse(text);
    EXPECT_TRUE(value) << text;
    return value ? *value : json::value();
}

bool same(std::string_view tool, std::string_view a, std::string_view b,
          const SamenessOptions& options = {}) {
    const Likeness first = likeness_of(tool, arguments(a), options);
    const Likeness second = likeness_of(tool, arguments(b), options);
    const bool result = is_same(first, second);
    EXPECT_EQ(result, is_same(second, first)) << a << " and " << b << " are not told both ways";
    EXPECT_TRUE(is_same(first, first) && is_same(second, second));
    return result;
}

struct Pair {
    bool is_same = false;
    std::string why, tool, first, second;
    SamenessOptions options;
};

std::string text_at(const json::object& line, std::string_view name) {
    const json::value* value = line.if_contains(name);
    return value != nullptr ? std::string(value->as_string()) : std::string();
}

std::vector<Pair> read_pairs() {
    std::ifstream file(HOLDPOINT_SOURCE_DIR "/tests/agent/repeats.jsonl");
    std::vector<Pair> pairs;
    for (std::string line; std::getline(file, line);) {
        const json::value value = arguments(line);
        const json::object& object = value.as_object();
        Pair pair{object.at("same").as_bool(), text_at(object, "why"),    text_at(object, "tool"),
                  text_at(object, "first"),    text_at(object, "second"), {}};
        pair.options.paths = {text_at(object, "cwd"), text_at(object, "home")};
        pairs.push_back(std::move(pair));
    }
    return pairs;
}

TEST(Repeats, F2_every_trivial_variant_is_caught_and_nothing_different_is) {
    int repeats = 0, caught = 0, others = 0, mistaken = 0;
    for (const Pair& pair : read_pairs()) {
        const bool is_caught = same(pair.tool, pair.first, pair.second, pair.options);
        (pair.is_same ? repeats : others) += 1;
        (pair.is_same ? caught : mistaken) += is_caught ? 1 : 0;
        if (is_caught != pair.is_same) {
            ADD_FAILURE() << (pair.is_same ? "missed" : "mistaken") << " (" << pair.why
                          << "): " << pair.tool << " " << pair.first << " and " << pair.second
                          << "\n"
                          << likeness_of(pair.tool, arguments(pair.first), pair.options).key << "\n"
                          << likeness_of(pair.tool, arguments(pair.second), pair.options).key;
        }
    }
    std::cout << "repeats caught: " << caught << " of " << repeats
              << "; different ones taken for repeats: " << mistaken << " of " << others << '\n';
    EXPECT_GE(repeats, 200);
    EXPECT_GE(others, 200);
}

TEST(Sameness, F2_another_tool_is_another_action) {
    const json::value value = arguments(R"({"path": "a"})");
    EXPECT_FALSE(is_same(likeness_of("read_file", value), likeness_of("delete_file", value)));
}

TEST(Sameness, F2_what_a_tool_declares_goes_before_the_name_of_an_argument) {
    SamenessOptions options;
    options.kinds["deploy.recipe"] = ArgumentKind::shell;
    options.kinds["deploy.trace"] = ArgumentKind::ignored;
    options.kinds["deploy.file"] = ArgumentKind::line;
    EXPECT_TRUE(
        same("deploy", R"({"recipe": "rm -rf a"})", R"({"recipe": "rm -fr 'a'"})", options));
    EXPECT_TRUE(same("deploy", R"({"trace": 1})", R"({"trace": 2})", options));
    EXPECT_FALSE(same("deploy", R"({"file": "A"})", R"({"file": "a"})", options));
    EXPECT_FALSE(same("deploy", R"({"recipe": "rm -rf a"})", R"({"recipe": "rm -fr a"})"));
}

TEST(Sameness, F2_text_that_is_no_command_is_compared_as_text) {
    EXPECT_TRUE(
        same("bash", R"({"command": "cat <<E\na\nE"})", R"({"command": "cat  <<E\na\nE\n"})"));
    EXPECT_FALSE(
        same("bash", R"({"command": "cat <<E\na\nE"})", R"({"command": "cat <<E\nb\nE"})"));
    EXPECT_FALSE(same("bash", R"({"command": "echo 'a"})", R"({"command": "echo \"a"})"));
}

TEST(Sameness, F2_text_and_number_and_structure_never_meet_by_accident) {
    EXPECT_FALSE(same("t", R"({"a": "1,\"b\":2"})", R"({"a": 1, "b": 2})"));
    EXPECT_FALSE(same("t", R"({"a": ["x,y"]})", R"({"a": ["x", "y"]})"));
    EXPECT_FALSE(same("t", R"({"a": {"b": "c"}})", R"({"a": "{\"b\":\"c\"}"})"));
}

TEST(Sameness, F2_a_line_of_many_words_is_compared_in_time) {
    std::string forwards = "tool", backwards = "tool";
    for (int i = 0; i < 4000; ++i) {
        forwards += " --o" + std::to_string(i) + " v";
        backwards += " --o" + std::to_string(3999 - i) + " v";
    }
    const auto call = [](const std::string& command) {
        json::object object;
        object["command"] = command;
        return likeness_of("bash", object);
    };
    EXPECT_TRUE(is_same(call(forwards), call(forwards)));
    EXPECT_FALSE(is_same(call(forwards), call(backwards))) << "beyond the limit order counts";
}

}  // namespace
}  // namespace holdpoint::agent::feedback

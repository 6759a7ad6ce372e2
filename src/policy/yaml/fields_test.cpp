#include "policy/yaml/fields.h"

#include <stdexcept>

#include <gtest/gtest.h>

#include "policy/yaml/reader.h"

namespace holdpoint::policy::yaml {
namespace {

Node parsed(std::string_view text) {
    Result<Node> node = read(text);
    if (!node) throw std::runtime_error(node.error().message);
    return std::move(*node);
}

/// What finish() says after `get` has read from the map.
template <class Get>
std::string failure(std::string_view text, Get get) {
    const Node node = parsed(text);
    Fields fields(node, "a rule");
    get(fields);
    const Result<void> done = fields.finish();
    return done ? "nothing was wrong" : done.error().message;
}

TEST(YamlFields, read_what_is_there) {
    const Node node =
        parsed("{t: x, b: true, i: 7, n: 1.5, w: red, ts: [a, b], l: [1], m: {k: 1}, z: ~}");
    Fields fields(node, "a rule");
    EXPECT_EQ(fields.required_text("t"), "x");
    EXPECT_EQ(fields.boolean("b"), true);
    EXPECT_EQ(fields.integer("i", 7, 7), 7);
    EXPECT_EQ(fields.number("n", 0, 2), 1.5);
    EXPECT_EQ(fields.word("w", {"red", "blue"}), "red");
    EXPECT_EQ(fields.texts("ts"), (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(fields.required_list("l")->items.size(), 1U);
    EXPECT_EQ(fields.required_map("m")->entries.size(), 1U);
    EXPECT_EQ(fields.text("z"), std::nullopt);
    EXPECT_EQ(fields.text("absent"), std::nullopt);
    EXPECT_EQ(fields.any("absent"), nullptr);
    EXPECT_TRUE(fields.finish());
}

TEST(YamlFields, a_whole_number_is_a_number_too) {
    const Node node = parsed("{n: 5}");
    Fields fields(node, "a gate");
    EXPECT_EQ(fields.number("n", 0, 10), 5.0);
    EXPECT_TRUE(fields.finish());
}

TEST(YamlFields, the_first_thing_wrong_is_told_with_its_place) {
    EXPECT_EQ(failure("a: 1\nb: 2\n", [](Fields& f) { f.text("a"), f.text("b"); }),
              "line 1, column 4: `a` must be text, not a whole number; quote it");
    EXPECT_EQ(failure("a: [x]", [](Fields& f) { f.text("a"); }),
              "line 1, column 4: `a` must be text, not a list");
    EXPECT_EQ(failure("a: 11", [](Fields& f) { f.integer("a", 0, 10); }),
              "line 1, column 4: `a` must be from 0 to 10");
    EXPECT_EQ(failure("a: 1.5", [](Fields& f) { f.integer("a", 0, 10); }),
              "line 1, column 4: `a` must be a whole number, not a number");
    EXPECT_EQ(failure("a: x", [](Fields& f) { f.number("a", 0, 10); }),
              "line 1, column 4: `a` must be a number, not text");
    EXPECT_EQ(failure("a: 'true'", [](Fields& f) { f.boolean("a"); }),
              "line 1, column 4: `a` must be true or false, not text");
    EXPECT_EQ(failure("a: [x, 1]", [](Fields& f) { f.texts("a"); }),
              "line 1, column 8: `a` must hold text only, not a whole number; quote it");
    EXPECT_EQ(failure("- x", [](Fields&) {}), "line 1, column 1: a rule must be a map, not a list");
}

TEST(YamlFields, what_is_required_must_be_there) {
    EXPECT_EQ(failure("\n  b: 1", [](Fields& f) { f.any("b"), f.required_text("id"); }),
              "line 2, column 3: a rule needs `id`");
    EXPECT_EQ(failure("id:", [](Fields& f) { f.required_text("id"); }),
              "line 1, column 4: a rule needs `id`");
    EXPECT_EQ(failure("id: ''", [](Fields& f) { f.required_text("id"); }),
              "line 1, column 5: `id` must not be empty");
    EXPECT_EQ(failure("{}", [](Fields& f) { f.required_map("m"); }),
              "line 1, column 1: a rule needs `m`");
    EXPECT_EQ(failure("{}", [](Fields& f) { f.required_integer("n", 1, 2); }),
              "line 1, column 1: a rule needs `n`");
    EXPECT_EQ(failure("m: 1", [](Fields& f) { f.required_map("m"); }),
              "line 1, column 4: `m` must be a map, not a whole number");
}

TEST(YamlFields, an_unknown_key_is_refused_with_a_guess) {
    const auto rule = [](Fields& f) { f.text("when"), f.text("unless"), f.text("on_timeout"); };
    EXPECT_EQ(failure("unles: x", rule),
              "line 1, column 1: unknown key `unles` in a rule, did you mean `unless`?");
    EXPECT_EQ(failure("when: x\nonTimeout: z", rule),
              "line 2, column 1: unknown key `onTimeout` in a rule, did you mean `on_timeout`?");
    EXPECT_EQ(failure("wehn: x", rule),
              "line 1, column 1: unknown key `wehn` in a rule, did you mean `when`?");
    EXPECT_EQ(failure("colour: x", rule), "line 1, column 1: unknown key `colour` in a rule");
    EXPECT_EQ(failure("a: x", [](Fields& f) { f.text("b"); }),
              "line 1, column 1: unknown key `a` in a rule");
}

TEST(YamlFields, a_word_outside_the_list_is_refused_with_a_guess) {
    EXPECT_EQ(
        failure("then: alow", [](Fields& f) { f.word("then", {"allow", "require", "deny"}); }),
        "line 1, column 7: `then` is `alow`, must be one of allow, require, deny, did you mean "
        "`allow`?");
}

TEST(YamlFields, a_refusal_of_the_callers_own_stands_at_the_value) {
    EXPECT_EQ(failure("a: x\nb:  z",
                      [](Fields& f) {
                          f.text("a"), f.text("b");
                          f.refuse("b", "is not a duration");
                      }),
              "line 2, column 5: `b` is not a duration");
}

}  // namespace
}  // namespace holdpoint::policy::yaml

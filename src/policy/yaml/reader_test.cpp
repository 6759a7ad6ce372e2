#include "policy/yaml/reader.h"

#include <string>

#include <gtest/gtest.h>

#include "base/json.h"

namespace holdpoint::policy::yaml {
namespace {

/// The tree as JSON text, or the error.
std::string as_json(std::string_view text) {
    const Result<Node> node = read(text);
    return node ? json::canonical(to_json(*node)) : "refused: " + node.error().message;
}

std::string refusal(std::string_view text) {
    const Result<Node> node = read(text);
    return node ? "accepted: " + json::canonical(to_json(*node)) : node.error().message;
}

TEST(Yaml, reads_maps_lists_and_scalars) {
    EXPECT_EQ(as_json("a: 1\nb: [x, \"y\", 'z']\nc: {d: true, e: null}\n"),
              R"({"a":1,"b":["x","y","z"],"c":{"d":true,"e":null}})");
    EXPECT_EQ(as_json("- 1.5\n- -3\n- ~\n-\n- +7\n"), "[1.5,-3,null,null,7]");
    EXPECT_EQ(as_json("just text"), R"("just text")");
    EXPECT_EQ(as_json("--- \na: 1\n...\n"), R"({"a":1})");
    EXPECT_EQ(as_json("a: 1 # comment\r\nb: 2\r\n"), R"({"a":1,"b":2})");
}

TEST(Yaml, resolves_plain_scalars_by_the_core_schema) {
    const struct {
        const char* text;
        Kind kind;
    } cases[] = {
        {"true", Kind::boolean},    {"False", Kind::boolean},
        {"TRUE", Kind::boolean},    {"tRue", Kind::text},
        {"null", Kind::null},       {"Null", Kind::null},
        {"~", Kind::null},          {"nUll", Kind::text},
        {"0", Kind::integer},       {"-0", Kind::integer},
        {"12", Kind::integer},      {"0x1F", Kind::integer},
        {"0o17", Kind::integer},    {"0o18", Kind::text},
        {"0xfg", Kind::text},       {"1.5", Kind::number},
        {"1e3", Kind::number},      {"-1.5E-3", Kind::number},
        {".5", Kind::number},       {"1.", Kind::number},
        {"0.5", Kind::number},      {"1e", Kind::text},
        {".", Kind::text},          {"1.2.3", Kind::text},
        {"5m", Kind::text},         {"10:30", Kind::text},
        {"2026-03-02", Kind::text}, {"yesterday", Kind::text},
        {"north", Kind::text},      {"a_b", Kind::text},
        {"_1", Kind::text},         {"args.amount > 500", Kind::text},
    };
    for (const auto& c : cases) {
        const Result<Node> node = read(std::string("k: ") + c.text);
        ASSERT_TRUE(node) << c.text << ": " << node.error().message;
        EXPECT_EQ(node->find("k")->kind, c.kind) << c.text;
        EXPECT_EQ(node->find("k")->text, c.text);
    }
    EXPECT_EQ(read("0x1F")->integer, 31);
    EXPECT_EQ(read("0o17")->integer, 15);
    EXPECT_EQ(read("-9223372036854775808")->integer, INT64_MIN);
    EXPECT_EQ(read("-0x10")->integer, -16);
    EXPECT_EQ(read("+2.5")->number, 2.5);
}

TEST(Yaml, a_quoted_scalar_is_text_whatever_it_says) {
    for (const char* text : {"\"yes\"", "'12'", "'null'", "\"\"", "|\n 12\n", ">\n true\n"}) {
        const Result<Node> node = read(text);
        ASSERT_TRUE(node) << text;
        EXPECT_EQ(node->kind, Kind::text) << text;
        EXPECT_TRUE(node->is_quoted) << text;
    }
    EXPECT_FALSE(read("plain")->is_quoted);
    EXPECT_EQ(read("\"a\\tb\\u200b\"")->text, "a\tb\u200b");
}

TEST(Yaml, knows_where_everything_stands) {
    const Result<Node> node = read("a: 1\nlist:\n  - ä: x\n    é: [1, \"zwei\"]\n");
    ASSERT_TRUE(node);
    EXPECT_EQ(node->mark.line, 1);
    const Entry& list = node->entries[1];
    EXPECT_EQ(list.key_mark.line, 2);
    EXPECT_EQ(list.key_mark.column, 1);
    const Entry& second = list.value.items[0].entries[1];
    EXPECT_EQ(second.key_mark.line, 4);
    EXPECT_EQ(second.key_mark.column, 5);
    EXPECT_EQ(second.value.items[1].mark.line, 4);
    EXPECT_EQ(second.value.items[1].mark.column, 12);  // characters, not bytes
}

TEST(Yaml, refuses_what_readers_understand_differently_and_says_where) {
    const struct {
        const char* title;
        const char* text;
        const char* message;
    } cases[] = {
        {"a key twice", "a: 1\nb: 2\na: 3\n",
         "line 3, column 1: key `a` stands twice, first in line 1"},
        {"a key twice in quotes", "{a: 1, 'a': 2}",
         "line 1, column 8: key `a` stands twice, first in line 1"},
        {"a key twice by escape", "{a: 1, \"\\x61\": 2}",
         "line 1, column 8: key `a` stands twice, first in line 1"},
        {"a key three times names the second", "b: 1\na: 1\na: 2\nb: 3\na: 4\n",
         "line 3, column 1: key `a` stands twice, first in line 2"},
        {"anchor", "a: &x 1\n", "line 1, column 4: anchor `x`: anchors are not supported"},
        {"anchor on a list", "a: &x [1]\n",
         "line 1, column 4: anchor `x`: anchors are not supported"},
        {"anchor on a key", "&x a: 1\n", "line 1, column 1: anchor `x`: anchors are not supported"},
        {"alias", "a: 1\nb: *x\n", "line 2, column 4: alias `x`: aliases are not supported"},
        {"alias as key", "*x : 1\n", "line 1, column 1: alias `x`: aliases are not supported"},
        {"tag", "a: !!str 1\n",
         "line 1, column 4: tag `tag:yaml.org,2002:str`: tags are not supported"},
        {"tag of one's own", "a: !x 1\n", "line 1, column 4: tag `!x`: tags are not supported"},
        {"bare tag", "a: ! 1\n", "line 1, column 4: tag `!`: tags are not supported"},
        {"bare tag on a list", "a: ! [1]\n", "line 1, column 4: tag `!`: tags are not supported"},
        {"directive", "%YAML 1.2\n---\na: 1\n", "line 1, column 1: directives are not supported"},
        {"tag directive", "%TAG ! tag:x,2000:\n---\na: 1\n",
         "line 1, column 1: directives are not supported"},
        {"two documents", "a: 1\n---\nb: 2\n",
         "line 2, column 1: a second document; one file, one document"},
        {"merge key", "a: {<<: {b: 1}}\n", "line 1, column 5: `<<`: merge keys are not supported"},
        {"yes", "a: yes\n", "line 1, column 4: `yes`: quote it, or write `true` or `false`"},
        {"No", "a: [No]\n", "line 1, column 5: `No`: quote it, or write `true` or `false`"},
        {"ON", "- ON\n", "line 1, column 3: `ON`: quote it, or write `true` or `false`"},
        {"off", "off", "line 1, column 1: `off`: quote it, or write `true` or `false`"},
        {"y", "{a: y}", "line 1, column 5: `y`: quote it, or write `true` or `false`"},
        {"N", "{a: N}", "line 1, column 5: `N`: quote it, or write `true` or `false`"},
        {"leading zero", "a: 010\n",
         "line 1, column 4: `010`: numbers have no leading zeros; quote it if it is text"},
        {"leading zero after a sign", "a: -01.5\n",
         "line 1, column 4: `-01.5`: numbers have no leading zeros; quote it if it is text"},
        {"underscores", "a: 1_000\n",
         "line 1, column 4: `1_000`: numbers have no underscores; quote it if it is text"},
        {"underscores in hexadecimal", "a: 0x_1F\n",
         "line 1, column 4: `0x_1F`: numbers have no underscores; quote it if it is text"},
        {"infinity", "a: -.INF\n",
         "line 1, column 4: `-.INF`: numbers are finite here; quote it if it is text"},
        {"not a number", "a: .nan\n",
         "line 1, column 4: `.nan`: numbers are finite here; quote it if it is text"},
        {"binary", "a: 0b11\n",
         "line 1, column 4: `0b11`: binary numbers are not supported; quote it if it is text"},
        {"integer too large", "a: 9223372036854775808\n",
         "line 1, column 4: `9223372036854775808`: does not fit into a 64 bit integer"},
        {"number too large", "a: 1e999\n",
         "line 1, column 4: `1e999`: does not fit into a 64 bit floating point number"},
        {"tab for indentation", "a:\n\tb: 1\n",
         "line 2, column 1: a tab; indent with spaces, or write `\\t` in double quotes"},
        {"tab in a comment", "a: 1 #\tx\n",
         "line 1, column 7: a tab; indent with spaces, or write `\\t` in double quotes"},
        {"lone carriage return", "a: 1\rb: 2\n",
         "line 1, column 5: a carriage return without a newline"},
        {"NEL", "a: 1\u0085b: 2\n",
         "line 1, column 5: control character U+0085; if it is meant, write it as an escape in "
         "double quotes"},
        {"line separator", "a: x\u2028y\n",
         "line 1, column 5: line separator character U+2028; if it is meant, write it as an escape "
         "in double quotes"},
        {"right-to-left override", "a: ä\u202Ey\n",
         "line 1, column 5: text direction character U+202E; if it is meant, write it as an escape "
         "in double quotes"},
        {"zero-width space", "tools\u200B: 1\n",
         "line 1, column 6: zero-width or invisible character U+200B; if it is meant, write it as "
         "an escape in double quotes"},
        {"byte order mark", "\uFEFFa: 1\n",
         "line 1, column 1: zero-width or invisible character U+FEFF; if it is meant, write it as "
         "an escape in double quotes"},
        {"not UTF-8", "a: 1\nb: \xff\n", "line 2, column 4: the file is not UTF-8 here"},
        {"overlong UTF-8", "a: \xc0\xaf\n", "line 1, column 4: the file is not UTF-8 here"},
        {"escaped U+0000", "a: \"\\0\"\n", "line 1, column 4: U+0000 in a text"},
        {"list as key", "? [a]\n: 1\n", "line 1, column 3: a key is a name, not a list or a map"},
        {"number as key", "1: a\n", "line 1, column 1: `1`: a key is a name; quote it"},
        {"boolean as key", "true: a\n", "line 1, column 1: `true`: a key is a name; quote it"},
        {"null as key", "~: a\n", "line 1, column 1: `~`: a key is a name; quote it"},
        {"no key", "?\n: a\n", "line 1, column 2: a key is missing before `:`"},
        {"empty file", "", "line 1, column 1: the file is empty"},
        {"comment only", "# nothing\n", "line 1, column 1: the file is empty"},
        {"empty document", "---\n", "line 1, column 1: the file is empty"},
        {"unclosed list", "a: [1, 2\n",
         "line 2, column 1: did not find expected ',' or ']', while parsing a flow sequence"},
    };
    for (const auto& c : cases) EXPECT_EQ(refusal(c.text), c.message) << c.title;
}

TEST(Yaml, words_that_were_booleans_are_fine_as_keys_and_in_quotes) {
    EXPECT_EQ(as_json("on: 'yes'\ny: \"no\"\n"), R"({"on":"yes","y":"no"})");
}

TEST(Yaml, limits_are_kept) {
    EXPECT_EQ(read(std::string(1024 * 1024 + 1, ' ')).error().code, ErrorCode::too_large);

    const std::string deep = std::string(32, '[') + std::string(32, ']');
    EXPECT_TRUE(read(deep));
    EXPECT_EQ(read("[" + deep + "]").error().code, ErrorCode::too_large);
    EXPECT_EQ(read(std::string(100'000, '[')).error().code, ErrorCode::too_large);

    std::string wide = "[";
    for (int i = 0; i < 99'999; ++i) wide += "1,";
    EXPECT_TRUE(read(wide + "]"));
    EXPECT_EQ(read(wide + "1]").error().code, ErrorCode::too_large);
}

TEST(Yaml, a_map_of_many_keys_is_read_in_order_of_the_file) {
    std::string text;
    for (int i = 0; i < 40'000; ++i) text += "k" + std::to_string(i * 7919 % 40'000) + ": 1\n";
    const Result<Node> node = read(text);
    ASSERT_TRUE(node) << node.error().message;
    EXPECT_EQ(node->entries[1].key, "k7919");
    EXPECT_FALSE(read(text + "k5: 2\n"));
}

}  // namespace
}  // namespace holdpoint::policy::yaml

#include <gmock/gmock.h>

#include "policy/cel/test_programs.h"

namespace holdpoint::cel {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class CelJson : public CelTest {};

TEST_F(CelJson, numbers_become_what_their_field_is_declared_to_be) {
    bind_args(R"({"amount": 20, "count": 3.0, "extra": {"n": 5}, "items": [{"price": 7}]})");
    EXPECT_EQ(run("args.amount"), "20.0");
    EXPECT_EQ(run("args.count"), "3");
    EXPECT_EQ(run("args.extra.n"), "5.0");
    EXPECT_EQ(run("args.items[0].price + 0.5"), "7.5");
    EXPECT_EQ(run("args.items.map(i, i.price)[0] + 0.5"), "7.5");
    EXPECT_EQ(run("type(dyn(args).count) == int"), "true");
    EXPECT_EQ(run("args.amount + 2.5 > 22"), "true");
}

TEST_F(CelJson, a_value_of_another_kind_is_an_error_and_never_satisfies) {
    bind_args(R"({"amount": "50000", "count": 1.5, "currency": 5, "tags": ["a", 5], "items": {},
                  "at": "yesterday"})");
    EXPECT_EQ(run("args.amount > 500.0"), "error: expected double, the value is a string");
    EXPECT_THAT(run("args.amount != 5.0"), StartsWith("error: "));
    EXPECT_THAT(run("args.count < 5"), HasSubstr("not a whole number"));
    EXPECT_THAT(run("args.currency == 'EUR'"), StartsWith("error: "));
    EXPECT_THAT(run("args.currency in ['EUR', 'USD']"), StartsWith("error: "));
    EXPECT_THAT(run("!('b' in args.tags)"), StartsWith("error: "));
    EXPECT_EQ(run("'a' in args.tags"), "true");
    EXPECT_THAT(run("args.tags.all(t, t != '')"), StartsWith("error: "));
    EXPECT_THAT(run("size(args.items) == 0"), StartsWith("error: "));
    EXPECT_THAT(run("args.at < now"), StartsWith("error: "));
    bind_args(R"({"amount": null})");
    EXPECT_THAT(run("args.amount > 500.0"), HasSubstr("null"));
    EXPECT_THAT(run("args.currency == 'EUR'"), HasSubstr("no such key"));
}

TEST_F(CelJson, declared_times_are_read_from_their_text) {
    EXPECT_EQ(run("args.at"), "timestamp(\"2026-11-15T21:03:46.5Z\")");
    EXPECT_EQ(run("args.at > now && args.at.getDayOfWeek() == 0"), "true");
}

TEST_F(CelJson, undeclared_parts_are_plain_maps_lists_and_doubles) {
    bind_args(R"({"extra": {"list": [1, "a", null, true], "map": {"k": {"z": 1.5}}}})");
    EXPECT_EQ(run("args.extra.list"), "[1.0, \"a\", null, true]");
    EXPECT_EQ(run("args.extra.map.k.z == 1.5 && size(args.extra) == 2"), "true");
    EXPECT_EQ(run("args.extra.list == [1, 'a', null, true]"), "true");
    EXPECT_EQ(run("args.extra.map == {'k': {'z': 1.5}}"), "true");
    EXPECT_EQ(run("{'k': {'z': 1.5}} == args.extra.map"), "true");
    EXPECT_EQ(run("args.extra.map.exists(k, v, v.z > 1.0)"), "true");
    EXPECT_EQ(run("'list' in args.extra && !('k' in args.extra)"), "true");
    EXPECT_EQ(run("(args.extra.list + [2])[4]"), "2");
}

TEST_F(CelJson, an_object_with_many_keys_is_searched_as_well) {
    std::string json = R"({"extra": {)";
    for (int i = 0; i < 200; ++i)
        json += "\"k" + std::to_string(i) + "\": " + std::to_string(i) + ",";
    bind_args(json + R"("last": true}})");
    EXPECT_EQ(run("args.extra.last && args.extra.k150 == 150.0 && !has(args.extra.k200)"), "true");
}

TEST_F(CelJson, values_go_back_to_json_for_the_record) {
    const auto json = [&](std::string_view source) {
        Budget budget;
        return to_json(evaluate(compiled(source), {slots_}, arena_, budget));
    };
    EXPECT_EQ(json("args.amount"), boost::json::value(900.5));
    EXPECT_EQ(json("args.items"),
              boost::json::parse(R"([{"price":10.0,"sku":"x"},{"price":2.5,"sku":"y"}])"));
    EXPECT_EQ(json("{1: b'a', 'b': duration('90s')}"),
              boost::json::parse(R"({"1":"YQ==","b":"90s"})"));
    EXPECT_EQ(json("0.0 / 0.0"), boost::json::value("NaN"));
    EXPECT_EQ(json("9223372036854775807"), boost::json::value("9223372036854775807"));
    EXPECT_EQ(json("limit / 0"), boost::json::parse(R"({"error":"division by zero"})"));
}

}  // namespace
}  // namespace holdpoint::cel

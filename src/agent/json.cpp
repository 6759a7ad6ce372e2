#include <cmath>
#include <cstdlib>

#include "agent/json_value.h"

namespace holdpoint {

struct Json::Value {
    json::value value;
};

namespace {

const json::value null_value;

const json::value& get(const Json& json) { return json.value() ? json.value()->value : null_value; }

Json wrap(json::value value) {
    if (value.is_null()) return {};
    return Json(std::make_shared<const Json::Value>(Json::Value{std::move(value)}));
}

}  // namespace

namespace agent {

const json::value& value_of(const Json& json) { return get(json); }
Json json_of(json::value value) { return wrap(std::move(value)); }

}  // namespace agent

Json Json::of_bool(bool value) { return wrap(json::value(value)); }
Json::Json(std::int64_t value)
    : Json(std::abs(value) <= json::integer_max ? wrap(json::value(value)) : Json()) {}
Json::Json(std::string_view text) : Json(wrap(json::value(boost::json::string(text)))) {}

Json::Json(double value) {
    const bool is_whole = std::trunc(value) == value;
    const bool is_exact = std::abs(value) <= static_cast<double>(json::integer_max);
    if (std::isfinite(value) && (is_exact || !is_whole)) *this = wrap(json::value(value));
}

Json Json::object(std::initializer_list<Member> members) {
    json::object object;
    for (const Member& member : members) object[member.name] = get(member.value);
    return wrap(std::move(object));
}

Json Json::array(std::initializer_list<Json> items) {
    json::array array;
    for (const Json& item : items) array.push_back(get(item));
    return wrap(std::move(array));
}

Json Json::array(const std::vector<Json>& items) {
    json::array array;
    for (const Json& item : items) array.push_back(get(item));
    return wrap(std::move(array));
}

Json Json::texts(const std::vector<std::string>& items) {
    json::array array;
    for (const std::string& item : items) array.emplace_back(item);
    return wrap(std::move(array));
}

Result<Json> Json::parse(std::string_view text) {
    // Answers of a server hold whole lists of requests, so they may be larger than one body.
    const json::Limits limits{.bytes_max = std::size_t{64} << 20,
                              .depth_max = 64,
                              .nodes_max = 4'000'000,
                              .string_bytes_max = std::size_t{4} << 20,
                              .keys_max = 4096};
    Result<json::value> value = json::parse(text, limits);
    if (!value) return value.error();
    return wrap(std::move(*value));
}

bool Json::is_null() const { return get(*this).is_null(); }
bool Json::is_text() const { return get(*this).is_string(); }
bool Json::is_number() const { return get(*this).is_number(); }
bool Json::is_object() const { return get(*this).is_object(); }
bool Json::is_array() const { return get(*this).is_array(); }

std::optional<std::string> Json::text() const {
    const boost::json::string* text = get(*this).if_string();
    if (!text) return std::nullopt;
    return std::string(text->data(), text->size());
}

std::optional<double> Json::number() const {
    const json::value& value = get(*this);
    if (!value.is_number()) return std::nullopt;
    return value.to_number<double>();
}

std::optional<std::int64_t> Json::integer() const {
    const json::value& value = get(*this);
    if (value.is_int64()) return value.get_int64();
    if (!value.is_double()) return std::nullopt;
    const double number = value.get_double();
    if (std::trunc(number) != number || std::abs(number) > static_cast<double>(json::integer_max))
        return std::nullopt;
    return static_cast<std::int64_t>(number);
}

std::optional<bool> Json::boolean() const {
    const bool* value = get(*this).if_bool();
    if (!value) return std::nullopt;
    return *value;
}

std::string Json::text_or(std::string_view otherwise) const {
    return text().value_or(std::string(otherwise));
}

Json Json::operator[](std::string_view name) const {
    const json::object* object = get(*this).if_object();
    const json::value* found = object ? object->if_contains(name) : nullptr;
    return found ? wrap(*found) : Json();
}

Json Json::item(std::size_t index) const {
    const json::array* array = get(*this).if_array();
    return array && index < array->size() ? wrap((*array)[index]) : Json();
}

bool Json::has(std::string_view name) const {
    const json::object* object = get(*this).if_object();
    return object && object->contains(name);
}

std::size_t Json::size() const {
    const json::value& value = get(*this);
    if (value.is_object()) return value.get_object().size();
    return value.is_array() ? value.get_array().size() : 0;
}

std::vector<std::string> Json::names() const {
    std::vector<std::string> names;
    if (const json::object* object = get(*this).if_object())
        for (const auto& member : *object) names.emplace_back(member.key());
    return names;
}

std::vector<Json> Json::items() const {
    std::vector<Json> items;
    if (const json::array* array = get(*this).if_array())
        for (const json::value& item : *array) items.push_back(wrap(item));
    return items;
}

Json Json::with(std::string_view name, const Json& value) const {
    const json::object* object = get(*this).if_object();
    json::object changed = object ? *object : json::object();
    changed[name] = get(value);
    return wrap(std::move(changed));
}

Json Json::without(std::string_view name) const {
    const json::object* object = get(*this).if_object();
    json::object changed = object ? *object : json::object();
    changed.erase(name);
    return wrap(std::move(changed));
}

std::string Json::dump() const { return json::canonical(get(*this)); }

bool Json::operator==(const Json& other) const {
    return value_ == other.value_ || dump() == other.dump();
}

}  // namespace holdpoint

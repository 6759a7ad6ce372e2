#include "policy/cel/value.h"

#include <cmath>
#include <functional>
#include <limits>

#include <fmt/format.h>

#include "base/assert.h"
#include "policy/cel/json_member.h"
#include "policy/cel/map_table.h"
#include "policy/cel/moment.h"

namespace holdpoint::cel {
namespace {

using boost::json::array;
using boost::json::object;

const array& array_of(const JsonView& view) { return *static_cast<const array*>(view.json); }
const object& object_of(const JsonView& view) { return *static_cast<const object*>(view.json); }

const Type undeclared;

/// What the declaration says about the value under a key.
const Type& type_below(const Type& type, std::string_view key) {
    if (type.kind() == Type::Kind::object) {
        const Type* field = type.field(key);
        return field ? *field : undeclared;
    }
    return type.kind() == Type::Kind::map ? type.value() : undeclared;
}

Value wrong_json(const Type& type, std::string_view found, Arena& arena) {
    return Value::error(
        Fault::wrong_json_kind,
        arena.copy(fmt::format("expected {}, the value is {}", type.to_string(), found)));
}

Value json_number(std::int64_t number, const Type& type, Arena& arena) {
    switch (type.kind()) {
        case Type::Kind::integer:
            return Value::integer(number);
        case Type::Kind::unsigned_integer:
            if (number < 0) return wrong_json(type, "negative", arena);
            return Value::unsigned_integer(static_cast<std::uint64_t>(number));
        case Type::Kind::real:
        case Type::Kind::dynamic:
            return Value::real(static_cast<double>(number));
        default:
            return wrong_json(type, "a number", arena);
    }
}

Value json_number(double number, const Type& type, Arena& arena) {
    if (type.kind() == Type::Kind::real || type.is_dynamic()) return Value::real(number);
    if (!type.is_numeric()) return wrong_json(type, "a number", arena);
    // `5.0` is the integer 5 to JSON.
    if (std::trunc(number) != number || std::abs(number) > 0x1p53) {
        return wrong_json(type, "not a whole number", arena);
    }
    return json_number(static_cast<std::int64_t>(number), type, arena);
}

Value json_string(std::string_view text, const Type& type, Arena& arena) {
    switch (type.kind()) {
        case Type::Kind::string:
        case Type::Kind::dynamic:
            return Value::string(text);
        case Type::Kind::timestamp:
            if (const auto moment = parse_moment(text)) return Value::timestamp(*moment);
            return wrong_json(type, "other text", arena);
        case Type::Kind::duration:
            if (const auto span = parse_duration(text)) return Value::duration(*span);
            return wrong_json(type, "other text", arena);
        default:
            return wrong_json(type, "a string", arena);
    }
}

bool equal_lists(const Value& a, const Value& b, Arena& arena, std::int64_t& steps, int depth);
bool equal_maps(const Value& a, const Value& b, Arena& arena, std::int64_t& steps, int depth);

bool same_address(const Address& a, const Address& b) {
    return a.is_v6 == b.is_v6 && a.prefix_bits == b.prefix_bits &&
           std::equal(std::begin(a.octets), std::end(a.octets), std::begin(b.octets));
}

bool equal_within(const Value& a, const Value& b, Arena& arena, std::int64_t& steps, int depth) {
    if (--steps < 0) return false;
    if (a.kind() != b.kind()) {
        return a.is_numeric() && b.is_numeric() && order(a, b) == Order::equal;
    }
    switch (a.kind()) {
        case Kind::null:
            return true;
        case Kind::boolean:
        case Kind::integer:
        case Kind::unsigned_integer:
        case Kind::duration:
            return a.as_integer() == b.as_integer();
        case Kind::real:
            return a.as_real() == b.as_real();
        case Kind::string:
        case Kind::bytes:
        case Kind::type:
            steps -= static_cast<std::int64_t>(a.as_text().size() / 64);
            return a.as_text() == b.as_text();
        case Kind::timestamp:
            return a.as_timestamp() == b.as_timestamp();
        case Kind::ip:
        case Kind::cidr:
            return same_address(a.as_address(), b.as_address());
        case Kind::optional:
            if (!a.has_value() || !b.has_value()) return a.has_value() == b.has_value();
            return equal_within(a.optional_value(), b.optional_value(), arena, steps, depth + 1);
        case Kind::list:
            return equal_lists(a, b, arena, steps, depth + 1);
        case Kind::map:
            return equal_maps(a, b, arena, steps, depth + 1);
        case Kind::absent:
        case Kind::error:
            break;
    }
    return false;
}

/// Deeper than any parser of ours lets data be; what is deeper is no longer compared.
constexpr int compared_depth_max = 200;

bool equal_lists(const Value& a, const Value& b, Arena& arena, std::int64_t& steps, int depth) {
    const std::size_t size = a.size();
    if (size != b.size() || depth > compared_depth_max) return false;
    for (std::size_t i = 0; i < size; ++i) {
        const Value left = a.element(i, arena);
        if (!equal_within(left, b.element(i, arena), arena, steps, depth)) return false;
    }
    return true;
}

bool equal_maps(const Value& a, const Value& b, Arena& arena, std::int64_t& steps, int depth) {
    const std::size_t size = a.size();
    if (size != b.size() || depth > compared_depth_max) return false;
    for (std::size_t i = 0; i < size; ++i) {
        const MapEntry entry = a.entry(i, arena);
        const Value other = b.find(entry.key, arena);
        if (other.is_absent()) return false;
        if (!equal_within(entry.value, other, arena, steps, depth)) return false;
    }
    return true;
}

template <class T>
Order order_of(const T& a, const T& b) {
    return a < b ? Order::less : b < a ? Order::greater : Order::equal;
}

Order order_of(double a, double b) {
    if (std::isnan(a) || std::isnan(b)) return Order::unordered;
    return a < b ? Order::less : b < a ? Order::greater : Order::equal;
}

double to_real(const Value& value) {
    switch (value.kind()) {
        case Kind::integer:
            return static_cast<double>(value.as_integer());
        case Kind::unsigned_integer:
            return static_cast<double>(value.as_unsigned());
        default:
            return value.as_real();
    }
}

Order order_of_numbers(const Value& a, const Value& b) {
    // The specification compares a whole number with a double as doubles, even where that loses
    // digits; int and uint it compares exactly.
    if (a.kind() == Kind::real || b.kind() == Kind::real) return order_of(to_real(a), to_real(b));
    if (a.kind() == Kind::integer) {
        if (a.as_integer() < 0) return Order::less;
    } else if (b.as_integer() < 0) {
        return Order::greater;
    }
    return order_of(a.as_unsigned(), b.as_unsigned());
}

}  // namespace

std::string_view name_of(Kind kind) {
    switch (kind) {
        case Kind::absent:
            return "absent";
        case Kind::null:
            return "null_type";
        case Kind::boolean:
            return "bool";
        case Kind::integer:
            return "int";
        case Kind::unsigned_integer:
            return "uint";
        case Kind::real:
            return "double";
        case Kind::string:
            return "string";
        case Kind::bytes:
            return "bytes";
        case Kind::list:
            return "list";
        case Kind::map:
            return "map";
        case Kind::timestamp:
            return "google.protobuf.Timestamp";
        case Kind::duration:
            return "google.protobuf.Duration";
        case Kind::type:
            return "type";
        case Kind::optional:
            return "optional_type";
        case Kind::ip:
            return "net.IP";
        case Kind::cidr:
            return "net.CIDR";
        case Kind::error:
            return "error";
    }
    return {};
}

Value Value::list(std::span<const Value> elements) {
    HOLDPOINT_ASSERT(elements.size() <= std::numeric_limits<std::uint32_t>::max());
    Value value(Kind::list);
    value.length_ = static_cast<std::uint32_t>(elements.size());
    value.payload_.element = elements.data();
    return value;
}

Value Value::some(Value held, Arena& arena) {
    Value value(Kind::optional);
    value.payload_.element = arena.make<Value>(held);
    return value;
}

Value Value::address(const Address& address, Arena& arena) {
    Value value(address.prefix_bits < 0 ? Kind::ip : Kind::cidr);
    value.payload_.address = arena.make<Address>(address);
    return value;
}

Value Value::map(std::span<const MapEntry> entries, Arena& arena) {
    return map(*make_table(entries, arena));
}

Value Value::map(const MapTable& table) {
    Value value(Kind::map);
    value.payload_.map = &table;
    return value;
}

Value Value::json(const object& json, const Type& type, Arena& arena) {
    if (type.kind() != Type::Kind::object && type.kind() != Type::Kind::map && !type.is_dynamic()) {
        return wrong_json(type, "an object", arena);
    }
    Value value(Kind::map);
    value.form_ = form_json;
    value.payload_.view = arena.make<JsonView>(&json, &type);
    return value;
}

Value Value::json(const array& json, const Type& type, Arena& arena) {
    if (type.kind() != Type::Kind::list && !type.is_dynamic()) {
        return wrong_json(type, "an array", arena);
    }
    Value value(Kind::list);
    value.form_ = form_json;
    value.payload_.view = arena.make<JsonView>(&json, &type);
    return value;
}

Value Value::json(const boost::json::value& json, const Type& type, Arena& arena) {
    switch (json.kind()) {
        case boost::json::kind::string:
            return json_string(json.get_string(), type, arena);
        case boost::json::kind::double_:
            return json_number(json.get_double(), type, arena);
        case boost::json::kind::int64:
            return json_number(json.get_int64(), type, arena);
        case boost::json::kind::uint64:
            return json_number(static_cast<double>(json.get_uint64()), type, arena);
        case boost::json::kind::bool_:
            if (type.kind() != Type::Kind::boolean && !type.is_dynamic()) {
                return wrong_json(type, "a boolean", arena);
            }
            return Value::boolean(json.get_bool());
        case boost::json::kind::null:
            if (type.kind() != Type::Kind::null && !type.is_dynamic()) {
                return wrong_json(type, "null", arena);
            }
            return Value::null();
        case boost::json::kind::object:
            return Value::json(json.get_object(), type, arena);
        case boost::json::kind::array:
            return Value::json(json.get_array(), type, arena);
    }
    return Value::error(Fault::wrong_json_kind, "unknown kind of JSON");
}

Value Value::error(Fault fault, std::string_view message) {
    Value value(Kind::error, message);
    value.form_ = static_cast<std::uint8_t>(fault);
    value.node_ = no_node;
    return value;
}

std::size_t Value::size() const {
    if (form_ == form_array) return kind_ == Kind::map ? payload_.map->size : length_;
    return kind_ == Kind::map ? object_of(*payload_.view).size() : array_of(*payload_.view).size();
}

Value Value::element(std::size_t index, Arena& arena) const {
    if (form_ == form_array) return payload_.element[index];
    const Type& type = *payload_.view->type;
    return Value::json(array_of(*payload_.view)[index],
                       type.kind() == Type::Kind::list ? type.element() : undeclared, arena);
}

MapEntry Value::entry(std::size_t index, Arena& arena) const {
    if (form_ == form_array) return payload_.map->entries[index];
    const auto& pair = *(object_of(*payload_.view).begin() + index);
    const std::string_view key = pair.key();
    const Type& type = type_below(*payload_.view->type, key);
    return {Value::string(key), Value::json(pair.value(), type, arena)};
}

Value Value::find(std::string_view key, Arena& arena) const {
    if (form_ == form_array) return find_in(*payload_.map, Value::string(key));
    const boost::json::value* found = find_member(object_of(*payload_.view), key);
    if (!found) return {};
    return Value::json(*found, type_below(*payload_.view->type, key), arena);
}

Value Value::find(std::string_view key, const Type& type, Arena& arena) const {
    if (form_ == form_array) return find_in(*payload_.map, Value::string(key));
    const boost::json::value* found = find_member(object_of(*payload_.view), key);
    return found ? Value::json(*found, type, arena) : Value();
}

Value Value::find(const Value& key, Arena& arena) const {
    if (form_ == form_array) return find_in(*payload_.map, key);
    return key.kind() == Kind::string ? find(key.as_text(), arena) : Value();
}

bool Value::contains_key(std::string_view key) const {
    if (form_ == form_json) return find_member(object_of(*payload_.view), key) != nullptr;
    return !find_in(*payload_.map, Value::string(key)).is_absent();
}

bool equal(const Value& a, const Value& b, Arena& arena, std::int64_t& steps) {
    return equal_within(a, b, arena, steps, 0);
}

bool equal(const Value& a, const Value& b, Arena& arena) {
    std::int64_t steps = std::numeric_limits<std::int64_t>::max();
    return equal_within(a, b, arena, steps, 0);
}

Order order(const Value& a, const Value& b) {
    if (a.kind() != b.kind()) {
        if (a.is_numeric() && b.is_numeric()) return order_of_numbers(a, b);
        return Order::incomparable;
    }
    switch (a.kind()) {
        case Kind::boolean:
        case Kind::integer:
        case Kind::duration:
            return order_of(a.as_integer(), b.as_integer());
        case Kind::unsigned_integer:
            return order_of(a.as_unsigned(), b.as_unsigned());
        case Kind::real:
            return order_of(a.as_real(), b.as_real());
        case Kind::string:
        case Kind::bytes:
            return order_of(a.as_text(), b.as_text());
        case Kind::timestamp:
            return order_of(a.as_timestamp(), b.as_timestamp());
        default:
            return Order::incomparable;
    }
}

}  // namespace holdpoint::cel

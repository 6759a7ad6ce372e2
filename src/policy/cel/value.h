#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "policy/cel/arena.h"
#include "policy/cel/type.h"

namespace holdpoint::cel {

struct MapEntry;
struct MapTable;
struct JsonView;
struct Address;

enum class Kind : std::uint8_t {
    absent,  ///< a slot that was not bound; reading it is an error
    null,
    boolean,
    integer,
    unsigned_integer,
    real,
    string,
    bytes,
    list,
    map,
    timestamp,
    duration,
    type,
    optional,
    ip,
    cidr,
    error,
};
/// As CEL names it: `int`, `google.protobuf.Timestamp`, `net.IP`.
std::string_view name_of(Kind kind);

/// Why an evaluation failed. All of them are the same to CEL; people and tests tell them apart.
enum class Fault : std::uint16_t {
    none,
    no_such_overload,
    no_such_key,
    no_such_variable,
    no_such_function,
    out_of_range,  ///< index, overflow, time outside of years 1 to 9999
    divide_by_zero,
    invalid_argument,
    repeated_key,
    wrong_json_kind,  ///< a JSON value that is not what its field was declared to be
    budget_exceeded,  ///< never absorbed by `&&`, `||`, `all`, `exists`
};

/// Seconds since 1970 and nanoseconds 0 to 999,999,999; years 1 to 9999.
struct Moment {
    std::int64_t seconds = 0;
    std::int32_t nanos = 0;

    auto operator<=>(const Moment&) const = default;
};

/// A CEL value, 16 bytes, copied like a number. Strings, lists and maps are views: what they point
/// to belongs to the request (JSON), to the program (constants) or to the arena of the evaluation,
/// and must outlive the value.
class Value {
  public:
    Value() = default;  ///< absent

    static Value null() { return Value(Kind::null); }
    static Value boolean(bool value) { return Value(Kind::boolean, value ? 1 : 0); }
    static Value integer(std::int64_t value) { return Value(Kind::integer, value); }
    static Value unsigned_integer(std::uint64_t value) {
        return Value(Kind::unsigned_integer, static_cast<std::int64_t>(value));
    }
    static Value real(double value) {
        return Value(Kind::real, std::bit_cast<std::int64_t>(value));
    }
    static Value string(std::string_view utf8) { return Value(Kind::string, utf8); }
    static Value bytes(std::string_view bytes) { return Value(Kind::bytes, bytes); }
    static Value list(std::span<const Value> elements);
    static Value timestamp(Moment moment) {
        Value value(Kind::timestamp, moment.seconds);
        value.length_ = static_cast<std::uint32_t>(moment.nanos);
        return value;
    }
    static Value duration(std::int64_t nanoseconds) { return Value(Kind::duration, nanoseconds); }
    static Value type(std::string_view name) { return Value(Kind::type, name); }  ///< a view, too
    static Value none() { return Value(Kind::optional); }
    static Value some(Value value, Arena& arena);
    static Value address(const Address& address, Arena& arena);  ///< ip, or cidr if it has a prefix

    /// A map of these entries, which are not copied. Keys are int, uint, bool or string and differ;
    /// make_map() checks that.
    static Value map(std::span<const MapEntry> entries, Arena& arena);
    static Value map(const MapTable& table);

    /// A view of parsed JSON; `json` and `type` must outlive the value. Nothing is copied: objects
    /// become maps and arrays lists that read the JSON when asked. Numbers become `int` where
    /// `type` (or the declared field below it) says so, else `double`; a string declared timestamp
    /// or duration is read as one. A value that is not what `type` declares is an error value, so
    /// that text in place of a number can never satisfy a condition.
    static Value json(const boost::json::value& json, const Type& type, Arena& arena);
    static Value json(const boost::json::object& json, const Type& type, Arena& arena);
    static Value json(const boost::json::array& json, const Type& type, Arena& arena);
    template <class Json>
    static Value json(const Json& json, const Type&& type, Arena& arena) = delete;

    /// `message` must outlive the value; text built at run time goes through arena.copy().
    static Value error(Fault fault, std::string_view message);

    Kind kind() const { return kind_; }
    bool is_absent() const { return kind_ == Kind::absent; }
    bool is_null() const { return kind_ == Kind::null; }
    bool is_error() const { return kind_ == Kind::error; }
    bool is_true() const { return kind_ == Kind::boolean && payload_.integer != 0; }
    bool is_false() const { return kind_ == Kind::boolean && payload_.integer == 0; }
    bool is_numeric() const { return kind_ >= Kind::integer && kind_ <= Kind::real; }

    // The accessors do not check the kind; the caller has.
    bool as_boolean() const { return payload_.integer != 0; }
    std::int64_t as_integer() const { return payload_.integer; }
    std::uint64_t as_unsigned() const { return static_cast<std::uint64_t>(payload_.integer); }
    double as_real() const { return std::bit_cast<double>(payload_.integer); }
    /// Of strings, bytes and type names; of errors the message.
    std::string_view as_text() const { return {payload_.text, length_}; }
    Moment as_timestamp() const { return {payload_.integer, static_cast<std::int32_t>(length_)}; }
    std::int64_t as_duration_ns() const { return payload_.integer; }
    const Address& as_address() const { return *payload_.address; }
    bool has_value() const { return payload_.element != nullptr; }     ///< of an optional
    const Value& optional_value() const { return *payload_.element; }  ///< if has_value()

    // Lists and maps, whatever they are made of.
    std::size_t size() const;
    Value element(std::size_t index, Arena& arena) const;   ///< of a list; index < size()
    MapEntry entry(std::size_t index, Arena& arena) const;  ///< of a map; index < size()
    /// The value under a key (numbers find keys of other numeric kinds); absent if there is none.
    Value find(const Value& key, Arena& arena) const;
    Value find(std::string_view key, Arena& arena) const;
    /// The same where the type of the JSON value under the key is known already.
    Value find(std::string_view key, const Type& type, Arena& arena) const;
    bool contains_key(std::string_view key) const;
    /// What stands behind a map that reads JSON; null for other maps.
    const boost::json::object* json_object() const;

    // Errors.
    Fault fault() const { return static_cast<Fault>(form_); }
    /// The node of the program that failed, for Program::position(); `no_node` if not known.
    std::uint16_t failed_node() const { return node_; }
    Value at_node(std::uint16_t node) const {
        Value value = *this;
        if (kind_ == Kind::error && node_ == no_node) value.node_ = node;
        return value;
    }
    static constexpr std::uint16_t no_node = 0xffff;

  private:
    static constexpr std::uint8_t form_array = 0;
    static constexpr std::uint8_t form_json = 1;

    explicit Value(Kind kind) : kind_(kind) {}
    Value(Kind kind, std::int64_t payload) : kind_(kind) { payload_.integer = payload; }
    Value(Kind kind, std::string_view text)
        : kind_(kind), length_(static_cast<std::uint32_t>(text.size())) {
        payload_.text = text.data();
    }

    Kind kind_ = Kind::absent;
    std::uint8_t form_ = 0;     ///< how lists and maps are stored; of errors the fault
    std::uint16_t node_ = 0;    ///< of errors
    std::uint32_t length_ = 0;  ///< of text and arrays; of timestamps the nanoseconds
    union Payload {
        std::int64_t integer = 0;  ///< booleans, every number by its bits, times
        const char* text;
        const Value* element;
        const MapTable* map;
        const JsonView* view;
        const Address* address;
    } payload_;
};

static_assert(sizeof(Value) == 16 && std::is_trivially_copyable_v<Value>);

struct MapEntry {
    Value key;
    Value value;
};

/// What stands behind a list or map that reads JSON.
struct JsonView {
    const void* json = nullptr;  ///< boost::json::object or array
    const Type* type = nullptr;
};

inline const boost::json::object* Value::json_object() const {
    if (form_ != form_json) return nullptr;
    return static_cast<const boost::json::object*>(payload_.view->json);
}

/// An IP address, or a network if `prefix_bits` is not -1.
struct Address {
    std::uint8_t octets[16] = {};  ///< the first four for IPv4
    bool is_v6 = false;
    std::int16_t prefix_bits = -1;
};

/// The same as Value::map, or an error value for a key of another kind or one that is repeated.
Value make_map(std::span<const MapEntry> entries, Arena& arena);

/// CEL's run-time equality: numbers compare by value across int, uint and double, lists and maps
/// element by element, values of different kinds are unequal, NaN equals nothing.
/// The arena is for views of nested JSON.
bool equal(const Value& a, const Value& b, Arena& arena);

/// -1, 0 or 1; `unordered` for NaN, `incomparable` if `<` has no overload for the two kinds.
enum class Order { less = -1, equal = 0, greater = 1, unordered, incomparable };
Order order(const Value& a, const Value& b);

/// For people, as CEL would write it: `"text"`, `[1, 2]`, `duration("1s")`; at most about
/// `bytes_max` bytes. Errors give their message.
std::string to_text(const Value& value, std::size_t bytes_max = 200);

/// For the decision record. Timestamps and durations become their strings, bytes base64, an empty
/// optional null, an error `{"error": message}`.
boost::json::value to_json(const Value& value);

}  // namespace holdpoint::cel

#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/result.h"

namespace holdpoint {

/// An immutable JSON value; copying is cheap, any thread may read it. What is parsed is I-JSON
/// (no duplicate keys, no numbers that lose precision), what is written is canonical (RFC 8785):
/// the same bytes that people decide on and that digests are made of.
///
///     Json arguments = Json::object({{"order", "A-1"}, {"amount", 40}});
///     arguments["amount"].number();            // 40
///     arguments["nothing"].is_null();          // true: asking for what is absent is no error
class Json {
  public:
    struct Member;
    struct Value;  ///< ours alone

    Json() = default;  ///< null
    Json(std::nullptr_t) {}
    Json(std::same_as<bool> auto value) : Json(of_bool(value)) {}
    /// A number that JSON readers would change (not finite, an integer beyond 2^53) becomes null.
    Json(double value);
    Json(std::int64_t value);
    template <std::integral Integer>
        requires(!std::same_as<Integer, bool>)
    Json(Integer value)
        : Json(std::is_unsigned_v<Integer> && value > INT64_MAX
                   ? INT64_MAX
                   : static_cast<std::int64_t>(value)) {}
    Json(const char* text) : Json(std::string_view(text)) {}
    Json(const std::string& text) : Json(std::string_view(text)) {}
    Json(std::string_view text);
    explicit Json(std::shared_ptr<const Value> value) : value_(std::move(value)) {}

    static Json object(std::initializer_list<Member> members = {});
    static Json array(std::initializer_list<Json> items = {});
    static Json array(const std::vector<Json>& items);
    static Json texts(const std::vector<std::string>& items);
    /// Fails with invalid_argument or too_large; the message says where.
    static Result<Json> parse(std::string_view text);

    bool is_null() const;
    bool is_text() const;
    bool is_number() const;
    bool is_object() const;
    bool is_array() const;

    /// The value, if it is of that kind.
    std::optional<std::string> text() const;
    std::optional<double> number() const;
    std::optional<std::int64_t> integer() const;  ///< a number without a fraction
    std::optional<bool> boolean() const;
    /// The text, or `otherwise` for whatever is none.
    std::string text_or(std::string_view otherwise) const;

    /// A member or an item; null where there is none.
    Json operator[](std::string_view name) const;
    Json operator[](const char* name) const { return (*this)[std::string_view(name)]; }
    Json operator[](std::integral auto index) const {
        return item(static_cast<std::size_t>(index));
    }
    bool has(std::string_view name) const;
    std::size_t size() const;  ///< members or items; 0 for anything else
    std::vector<std::string> names() const;
    std::vector<Json> items() const;

    /// A copy with one member set or left out; of anything but an object, a new object.
    Json with(std::string_view name, const Json& value) const;
    Json without(std::string_view name) const;

    /// The canonical text.
    std::string dump() const;

    bool operator==(const Json& other) const;
    const Value* value() const { return value_.get(); }

  private:
    static Json of_bool(bool value);
    Json item(std::size_t index) const;

    std::shared_ptr<const Value> value_;  ///< empty: null
};

struct Json::Member {
    std::string name;
    Json value;
};

}  // namespace holdpoint

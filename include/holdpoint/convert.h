#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <holdpoint/json.h>
#include <holdpoint/result.h>

namespace holdpoint {

// Values as JSON and back. A type of your own gets both by overloads in its own namespace:
//     Json to_json(const Order&);   bool from_json(const Json&, Order&);

inline Json to_json(const Json& json) { return json; }
template <class T>
    requires(std::constructible_from<Json, const T&> && !std::same_as<T, Json>)
Json to_json(const T& value) {
    return Json(value);
}
template <class T>
Json to_json(const std::vector<T>& values) {
    std::vector<Json> items;
    for (const T& value : values) items.push_back(to_json(value));
    return Json::array(items);
}
template <class T>
Json to_json(const std::optional<T>& value) {
    return value ? to_json(*value) : Json();
}

/// False where the value is of another kind: a text is never a number.
inline bool from_json(const Json& json, Json& value) {
    value = json;
    return true;
}
inline bool from_json(const Json& json, std::string& value) {
    const std::optional<std::string> text = json.text();
    if (text) value = *text;
    return text.has_value();
}
inline bool from_json(const Json& json, bool& value) {
    const std::optional<bool> given = json.boolean();
    if (given) value = *given;
    return given.has_value();
}
template <std::floating_point T>
bool from_json(const Json& json, T& value) {
    const std::optional<double> number = json.number();
    if (number) value = static_cast<T>(*number);
    return number.has_value();
}
template <std::integral T>
    requires(!std::same_as<T, bool>)
bool from_json(const Json& json, T& value) {
    const std::optional<std::int64_t> number = json.integer();
    if (!number || !std::in_range<T>(*number)) return false;
    value = static_cast<T>(*number);
    return true;
}
template <class T>
bool from_json(const Json& json, std::vector<T>& values) {
    if (!json.is_array()) return false;
    for (const Json& item : json.items()) {
        T value{};
        if (!from_json(item, value)) return false;
        values.push_back(std::move(value));
    }
    return true;
}
template <class T>
bool from_json(const Json& json, std::optional<T>& value) {
    if (json.is_null()) return true;
    T given{};
    if (!from_json(json, given)) return false;
    value = std::move(given);
    return true;
}

/// The value of a callable that returns nothing.
struct Done {};
inline Json to_json(const Done&) { return {}; }
inline bool from_json(const Json&, Done&) { return true; }

namespace detail {

template <class T>
struct Unwrap {
    using type = T;
    static constexpr bool is_result = false;
};
template <>
struct Unwrap<void> {
    using type = Done;
    static constexpr bool is_result = false;
};
template <class T>
struct Unwrap<Result<T>> {
    using type = typename Unwrap<T>::type;
    static constexpr bool is_result = true;
};
/// What a gated callable gives: T of T and of Result<T>, Done of void.
template <class T>
using Returned = typename Unwrap<std::remove_cvref_t<T>>::type;

template <class T, class F, class... Args>
Result<T> call_returning(F& callable, Args&&... args) {
    using Raw = std::invoke_result_t<F&, Args...>;
    if constexpr (std::is_void_v<Raw>) {
        std::invoke(callable, std::forward<Args>(args)...);
        return T{};
    } else if constexpr (std::is_same_v<std::remove_cvref_t<Raw>, Result<void>>) {
        Result<void> done = std::invoke(callable, std::forward<Args>(args)...);
        if (!done) return done.error();
        return T{};
    } else {
        return std::invoke(callable, std::forward<Args>(args)...);
    }
}

/// The parameter types of a function or of a class with one operator().
template <class F>
struct Signature : Signature<decltype(&F::operator())> {};
template <class R, class... P>
struct Signature<R (*)(P...)> {
    using type = std::tuple<std::remove_cvref_t<P>...>;
};
template <class C, class R, class... P>
struct Signature<R (C::*)(P...)> {
    using type = std::tuple<std::remove_cvref_t<P>...>;
};
template <class C, class R, class... P>
struct Signature<R (C::*)(P...) const> {
    using type = std::tuple<std::remove_cvref_t<P>...>;
};
template <class F>
using ParametersOf = typename Signature<std::decay_t<F>>::type;

template <class F, class Tuple>
struct Applied;
template <class F, class... P>
struct Applied<F, std::tuple<P...>> {
    using type = std::invoke_result_t<F&, P&...>;
};
template <class F, class Tuple>
using AppliedResult = typename Applied<F, Tuple>::type;

template <class Parameters, class... Given>
Json named(const std::vector<std::string>& names, Given&&... given) {
    static_assert(sizeof...(Given) == std::tuple_size_v<Parameters>,
                  "call it with as many arguments as the callable has");
    Parameters values{std::forward<Given>(given)...};
    Json json = Json::object();
    std::size_t at = 0;
    std::apply(
        [&](const auto&... value) {
            ((json = json.with(at < names.size() ? names[at] : std::to_string(at), to_json(value)),
              ++at),
             ...);
        },
        values);
    return json;
}

/// Calls with the released arguments; one that is missing or of another type is an error, and an
/// argument that the callable does not have would silently be lost, so it is one too.
template <class T, class Parameters, class F>
Result<T> apply_named(F& callable, const std::vector<std::string>& names, const Json& released,
                      bool& has_begun) {
    if (names.size() != std::tuple_size_v<Parameters>)
        return Error{ErrorCode::invalid_argument, "the callable has another number of parameters"};
    if (released.size() != names.size())
        return Error{ErrorCode::invalid_argument, "the release names other arguments"};
    Parameters values{};
    std::string wrong;
    std::size_t at = 0;
    std::apply(
        [&](auto&... value) {
            ((wrong.empty() && (!released.has(names[at]) || !from_json(released[names[at]], value))
                  ? void(wrong = names[at])
                  : void(),
              ++at),
             ...);
        },
        values);
    if (!wrong.empty())
        return Error{ErrorCode::invalid_argument, "argument `" + wrong + "` is missing or unfit",
                     wrong};
    has_begun = true;
    return std::apply([&](auto&... value) { return call_returning<T>(callable, value...); },
                      values);
}

template <class T>
Json result_json(const T& value) {
    if constexpr (requires { to_json(value); })
        return to_json(value);
    else
        return {};
}
template <class T>
std::optional<T> result_from(const Json& json) {
    if constexpr (std::default_initializable<T> && requires(T value) { from_json(json, value); }) {
        T value{};
        if (from_json(json, value)) return value;
    }
    return std::nullopt;
}

}  // namespace detail
}  // namespace holdpoint

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace holdpoint::policy {

struct ArgField;

/// The type of an argument, as the operator declares it: a small language of its own that says
/// what conditions can rely on, and no more.
///
///     string  number  integer  bool  dyn  list(T)  map(T)  {name: T, "name?": T, "*": T}
///
/// A `number` is any JSON number, an `integer` one without a fraction.
struct ArgType {
    enum class Kind { text, number, integer, boolean, any, list, map, object };
    Kind kind = Kind::any;
    std::vector<ArgType> element;  ///< of a list, of a map's values, of `"*"`; at most one
    std::vector<ArgField> fields;  ///< of an object, by name

    const ArgField* find(std::string_view name) const;
};

struct ArgField {
    std::string name;
    bool is_optional = false;
    ArgType type;
};

/// Reads the word forms: `list(map(number))`.
std::optional<ArgType> parse_arg_type(std::string_view text);
std::string to_string(const ArgType& type);

/// What is wrong with a call's arguments, if anything.
struct ArgFault {
    std::string path;     ///< `args.amount`
    std::string message;  ///< `must be a number, is text`
};

/// Strict: a text is never a number, an argument that nobody declared is refused, and so is a
/// missing one that is not optional. Null counts as missing. Costs no allocation when all is well.
std::optional<ArgFault> check_args(const ArgType& type, const json::object& args);

}  // namespace holdpoint::policy

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/time.h"

/// JSON as this program prints and reads it.
namespace holdpoint::cli {

/// One line, members in the order they came. Characters that control a terminal or do not show are
/// written as escapes: the same JSON to a program, harmless to a screen.
std::string compact(const json::value& value);

/// The same over several lines, indented by two.
std::string pretty(const json::value& value);

/// The member `key`, or null where `value` is no object or has no such member.
const json::value& member(const json::value& value, std::string_view key);

/// The member as text; `fallback` where it is absent or not a string.
std::string text_of(const json::value& value, std::string_view key, std::string_view fallback = "");

/// The member as a number; nothing where it is none.
std::optional<double> number_of(const json::value& value, std::string_view key);

/// The same without decimals; `0` where it is none.
std::string whole_of(const json::value& value, std::string_view key);

bool is_true(const json::value& value, std::string_view key);

std::optional<Timestamp> time_of(const json::value& value, std::string_view key);

}  // namespace holdpoint::cli

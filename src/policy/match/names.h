#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

/// Names that pretend to be another. A tool called `раyment` with two Cyrillic letters is not
/// `payment`, whatever it looks like to the person who approves it.
namespace holdpoint::policy::match {

enum class NameFlaw : std::uint8_t {
    none,
    empty,
    too_long,       ///< more than 200 bytes
    odd_character,  ///< control, direction, zero-width, not UTF-8, unusual space
    blank,          ///< a space: names are single words
    mixed_script,   ///< letters of more than one script
    non_ascii       ///< letters that are not ASCII, all of one script
};

/// For messages: `letters of several scripts`.
std::string_view to_string(NameFlaw flaw);

/// What is suspicious about the name of a tool; none for the ordinary ASCII names.
NameFlaw flaw_of_name(std::string_view name);

/// What a name looks like at a glance: letters of other scripts, full-width forms and digits as
/// the Latin letters they resemble, case and the kind of dash gone, marks and invisible characters
/// dropped. Only for comparing with another skeleton.
std::string skeleton(std::string_view name);

/// The first of `known` that `name` resembles without being equal to it.
std::optional<std::string_view> looks_like(std::string_view name,
                                           std::span<const std::string> known);

}  // namespace holdpoint::policy::match

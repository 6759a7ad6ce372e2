#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/request.h"

namespace holdpoint::core {

/// The text of one member of a canonical object, without parsing the rest; empty if absent.
std::string_view member_text(std::string_view canonical_object, std::string_view name);

/// Several members at once. Where the object has none of that name, `text` stays as it is.
struct NamedText {
    std::string_view name;
    std::string_view text = {};
};
void find_members(std::string_view canonical_object, std::span<NamedText> members);

/// The same object with one member's text replaced. The member must be there.
JsonText with_member(const JsonText& object, std::string_view name, std::string_view value);

}  // namespace holdpoint::core

#pragma once

#include <optional>
#include <string_view>

#include "policy/cel/ast.h"
#include "policy/cel/environment.h"
#include "policy/cel/program.h"

namespace holdpoint::cel {

/// Parses and expands macros; nothing on success.
std::optional<Complaint> parse(std::string_view source, const Environment::Switches& switches,
                               const Limits& limits, Ast& ast);

}  // namespace holdpoint::cel

#pragma once

#include <cstdint>
#include <string>

#include "policy/cel/ast.h"
#include "policy/cel/environment.h"

namespace holdpoint::cel {

/// Why a call that looks like a macro cannot be one; an empty complaint if all is well.
struct Expansion {
    std::uint32_t offset = 0;
    std::string complaint = {};
};

/// Turns a call of a macro into what it stands for; leaves every other call as it is. Its target
/// and arguments are parsed already.
Expansion expand_macro(Expr& call, Ast& ast, const Environment::Switches& switches);

}  // namespace holdpoint::cel

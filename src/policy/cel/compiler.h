#pragma once

#include <memory>
#include <optional>

#include "policy/cel/ast.h"
#include "policy/cel/checker.h"
#include "policy/cel/code.h"

namespace holdpoint::cel {

/// Lays the checked tree out as code: folds constants, turns `x in [constants]` into sets, compiles
/// patterns, fuses `variable.field`, puts conjuncts with patterns last and adds up the cost.
/// Nothing on success.
std::optional<Complaint> emit(const Ast& ast, const Checked& checked,
                              const Environment::Switches& switches, const Limits& limits,
                              Code& code);

}  // namespace holdpoint::cel

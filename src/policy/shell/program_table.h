#pragma once

#include <span>

#include "policy/shell/programs.h"

/// The tables behind find_program(), by theme.
namespace holdpoint::policy::shell {

std::span<const Program> everyday_programs();  ///< builtins, coreutils, searching, showing, network
std::span<const Program> build_programs();     ///< building, testing, linting
std::span<const Program> managed_programs();   ///< package managers, clouds, version control
std::span<const Subcommand> all_subcommands();

}  // namespace holdpoint::policy::shell

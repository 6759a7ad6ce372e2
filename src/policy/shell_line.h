#pragma once

#include "policy/matchers.h"
#include "policy/shell/reading.h"

namespace holdpoint::policy {

/// What stands behind a ShellLine.
struct ShellLine::Reading {
    shell::Reading proved;
    std::string text;  ///< the command itself, for the searching reading
};

}  // namespace holdpoint::policy

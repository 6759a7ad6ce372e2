#pragma once

#include <string>

#include "policy/matchers.h"
#include "policy/shell/reading.h"
#include "policy/shell/search.h"

namespace holdpoint::policy {

/// What stands behind a ShellLine: the proving reading, and the searching one once it is needed.
struct ShellLine::Reading {
    shell::Reading proved;
    std::string text;
    shell::Search search;
    bool is_searched = false;
};

}  // namespace holdpoint::policy

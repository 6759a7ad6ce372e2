#pragma once

#include "policy/policy.h"

namespace holdpoint::policy {

/// Looks for what is legal but probably not meant, and writes it into `policy.warnings`: rules that
/// can never matter, names that nobody describes, what passes more than its author may think.
void lint(Policy& policy);

}  // namespace holdpoint::policy

#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/resource.h"

namespace holdpoint::cli {

/// Turns what a person typed into the answer that the question's type wants: a number, one of the
/// options, a list of them, a date, text. For a file `values` is its path, and it is read here.
Result<json::value> answer_value(const Request& request, const std::vector<std::string>& values);

}  // namespace holdpoint::cli

#pragma once

#include <boost/json/object.hpp>

#include <vector>

#include "policy/diff.h"
#include "policy/policy.h"

namespace holdpoint::policy {

// What the command line prints with `--json` and the server answers: the same words in both places.

/// Name, version, how many of each part, and the warnings.
boost::json::object summary_json(const Policy& policy);

/// Every test inside the file with how it went, and the rules that none of them touches. Runs them.
boost::json::object test_report_json(const Policy& policy);

boost::json::object to_json(const Change& change);

/// Gates that stand in the file; compiling adds one of its own.
std::size_t written_gates(const PolicyFile& file);

}  // namespace holdpoint::policy

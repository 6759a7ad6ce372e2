#pragma once

#include <string>
#include <vector>

#include "policy/evaluate.h"

namespace holdpoint::policy {

struct TestResult {
    std::string name;
    Mark mark;
    bool is_passed = false;
    std::string message;  ///< what was expected and what came
};

/// Runs the tests inside the policy's file, each on a state of its own.
std::vector<TestResult> run_tests(const Policy& policy);

/// The rules, by id, that decided or took part in no test: untested is unproved.
std::vector<std::string> untested_rules(const Policy& policy);

/// Puts the counters that a situation names into their places, and 0 into the others; grants count
/// as given under this policy. Fails for a counter that the policy does not have.
Result<void> settle(Situation& situation, const Policy& policy);

}  // namespace holdpoint::policy

#include "policy/report.h"

#include <boost/json/array.hpp>

#include <algorithm>

#include "policy/run_tests.h"

namespace holdpoint::policy {
namespace {

using boost::json::array;
using boost::json::object;
using boost::json::value;

value number(std::size_t count) { return static_cast<std::int64_t>(count); }

std::string_view word(Change::Kind kind) {
    switch (kind) {
        case Change::Kind::added:
            return "added";
        case Change::Kind::removed:
            return "removed";
        case Change::Kind::changed:
            return "changed";
    }
    return "changed";
}

std::string_view word(Change::Direction direction) {
    switch (direction) {
        case Change::Direction::stricter:
            return "stricter";
        case Change::Direction::looser:
            return "looser";
        case Change::Direction::unclear:
            return "unclear";
    }
    return "unclear";
}

}  // namespace

std::size_t written_gates(const PolicyFile& file) {
    return static_cast<std::size_t>(
        std::ranges::count_if(file.gates, [](const Gate& gate) { return !gate.is_implied; }));
}

object summary_json(const Policy& policy) {
    const PolicyFile& file = policy.file;
    array warnings;
    for (const Warning& warning : policy.warnings)
        warnings.push_back(object{{"line", warning.mark.line},
                                  {"column", warning.mark.column},
                                  {"message", warning.message}});
    return {{"name", file.name},
            {"version", policy.version},
            {"tools", number(file.tools.size())},
            {"gates", number(written_gates(file))},
            {"rules", number(file.rules.size())},
            {"counters", number(file.counters.size())},
            {"tests", number(file.tests.size())},
            {"warnings", std::move(warnings)}};
}

object test_report_json(const Policy& policy) {
    array tests;
    std::size_t failed = 0;
    for (const TestResult& result : run_tests(policy)) {
        failed += result.is_passed ? 0 : 1;
        tests.push_back(object{{"name", result.name},
                               {"line", result.mark.line},
                               {"column", result.mark.column},
                               {"passed", result.is_passed},
                               {"message", result.message}});
    }
    const std::vector<std::string> untested = untested_rules(policy);
    const std::size_t passed = tests.size() - failed;
    return {{"passed", number(passed)},
            {"failed", number(failed)},
            {"rules", number(policy.file.rules.size())},
            {"untested", array(untested.begin(), untested.end())},
            {"tests", std::move(tests)}};
}

object to_json(const Change& change) {
    return {{"kind", word(change.kind)},
            {"direction", word(change.direction)},
            {"what", change.what},
            {"before", change.before},
            {"after", change.after}};
}

}  // namespace holdpoint::policy

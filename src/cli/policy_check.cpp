#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "cli/json_text.h"
#include "cli/policy.h"
#include "cli/policy_file.h"
#include "policy/compile.h"
#include "policy/diff.h"
#include "policy/extend.h"
#include "policy/run_tests.h"

namespace holdpoint::cli {
namespace {

constexpr std::string_view preset_names[] = {"minimal", "standard", "strict", "paranoid"};

json::value number(std::size_t count) { return static_cast<std::int64_t>(count); }

/// Gates that stand in the file; compile() adds one of its own.
std::size_t written_gates(const policy::PolicyFile& file) {
    return static_cast<std::size_t>(std::ranges::count_if(
        file.gates, [](const policy::Gate& gate) { return !gate.is_implied; }));
}

json::object summary(const policy::Policy& policy) {
    const policy::PolicyFile& file = policy.file;
    json::array warnings;
    for (const policy::Warning& warning : policy.warnings)
        warnings.push_back(json::object{{"line", warning.mark.line},
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

std::string counted(std::size_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

json::object test_json(const policy::TestResult& result) {
    return {{"name", result.name},
            {"line", result.mark.line},
            {"column", result.mark.column},
            {"passed", result.is_passed},
            {"message", result.message}};
}

Line test_line(const policy::TestResult& result, const std::string& file) {
    if (result.is_passed) return {{Style::good, "pass  "}, {Style::plain, visible(result.name)}};
    return {{Style::bad, "FAIL  "},
            {Style::strong, visible(result.name)},
            {Style::plain, fmt::format("  {}:{}:{}: {}", visible(file), result.mark.line,
                                       result.mark.column, visible(result.message))}};
}

std::string_view word(policy::Change::Kind kind) {
    switch (kind) {
        case policy::Change::Kind::added:
            return "added";
        case policy::Change::Kind::removed:
            return "removed";
        case policy::Change::Kind::changed:
            return "changed";
    }
    return "changed";
}

std::string_view word(policy::Change::Direction direction) {
    switch (direction) {
        case policy::Change::Direction::stricter:
            return "stricter";
        case policy::Change::Direction::looser:
            return "looser";
        case policy::Change::Direction::unclear:
            return "unclear";
    }
    return "unclear";
}

}  // namespace

ExitCode check_policy(const Flags& flags, const PolicyOptions& options) {
    const Output out = local_output(flags);
    const Result<PolicyPointer> loaded = load_given_policy(options.file, FailingTests::refuse);
    if (!loaded) return fail_policy(out, loaded.error());
    const policy::Policy& policy = **loaded;
    if (out.is_json()) {
        out.data(compact(summary(policy)));
        return ExitCode::fine;
    }
    const policy::PolicyFile& file = policy.file;
    if (!file.name.empty()) out.data(visible(file.name));
    out.data(policy.version);
    out.data(fmt::format(
        "{}, {}, {}, {}, {}", counted(file.tools.size(), "tool"),
        counted(written_gates(file), "gate"), counted(file.rules.size(), "rule"),
        counted(file.counters.size(), "counter"),
        file.tests.empty() ? "no tests" : counted(file.tests.size(), "test") + " passed"));
    for (const policy::Warning& warning : policy.warnings)
        out.data(fmt::format("{}:{}:{}: warning: {}", visible(options.file), warning.mark.line,
                             warning.mark.column, visible(warning.message)));
    return ExitCode::fine;
}

ExitCode test_policy(const Flags& flags, const PolicyOptions& options) {
    const Output out = local_output(flags);
    const Result<PolicyPointer> loaded = load_given_policy(options.file, FailingTests::accept);
    if (!loaded) return fail_policy(out, loaded.error());
    const std::vector<policy::TestResult> results = policy::run_tests(**loaded);
    const std::vector<std::string> untested = policy::untested_rules(**loaded);
    const std::size_t rules = (*loaded)->file.rules.size();
    const auto failed = static_cast<std::size_t>(
        std::ranges::count_if(results, [](const auto& result) { return !result.is_passed; }));
    const ExitCode code = failed == 0 ? ExitCode::fine : ExitCode::failed;
    if (out.is_json()) {
        json::array tests;
        for (const policy::TestResult& result : results) tests.push_back(test_json(result));
        out.data(compact(json::object{{"passed", number(results.size() - failed)},
                                      {"failed", number(failed)},
                                      {"rules", number(rules)},
                                      {"untested", json::array(untested.begin(), untested.end())},
                                      {"tests", std::move(tests)}}));
        return code;
    }
    for (const policy::TestResult& result : results) out.print(test_line(result, options.file));
    out.data(fmt::format("{} passed, {} failed; {} of {} tested", results.size() - failed, failed,
                         rules - untested.size(), counted(rules, "rule")));
    for (const std::string& id : untested) out.data("untested  " + visible(id));
    return code;
}

ExitCode diff_policies(const Flags& flags, const PolicyOptions& options) {
    const Output out = local_output(flags);
    const Result<PolicyPointer> before = load_given_policy(options.file, FailingTests::accept);
    if (!before) return fail_policy(out, before.error());
    const Result<PolicyPointer> after = load_given_policy(options.other_file, FailingTests::accept);
    if (!after) return fail_policy(out, after.error());
    const std::vector<policy::Change> changes = policy::diff((*before)->file, (*after)->file);
    if (out.is_json()) {
        for (const policy::Change& change : changes)
            out.data(compact(json::object{{"kind", word(change.kind)},
                                          {"direction", word(change.direction)},
                                          {"what", change.what},
                                          {"before", change.before},
                                          {"after", change.after}}));
        return ExitCode::fine;
    }
    std::string text = visible(policy::diff_text(changes), Newlines::keep);
    if (text.ends_with('\n')) text.pop_back();
    if (text.empty())
        out.say("no difference in meaning");
    else
        out.data(text);
    return ExitCode::fine;
}

ExitCode print_presets(const Flags& flags, const PolicyOptions& options) {
    const Output out = local_output(flags);
    if (!options.name.empty() && policy::preset_text(options.name).empty())
        return out.fail(Error{ErrorCode::invalid_argument,
                              fmt::format("there is no preset `{}`; those are minimal, standard, "
                                          "strict and paranoid",
                                          visible(options.name))});
    for (std::string_view name : preset_names) {
        if (!options.name.empty() && options.name != name) continue;
        std::string_view text = policy::preset_text(name);
        if (out.is_json()) {
            out.data(compact(json::object{{"name", name}, {"text", text}}));
            continue;
        }
        if (options.name.empty()) {
            out.data(name);
            continue;
        }
        if (text.ends_with('\n')) text.remove_suffix(1);
        out.data(text);
    }
    return ExitCode::fine;
}

}  // namespace holdpoint::cli

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "cli/json_text.h"
#include "cli/policy.h"
#include "cli/policy_file.h"
#include "policy/compile.h"
#include "policy/diff.h"
#include "policy/extend.h"
#include "policy/report.h"
#include "policy/run_tests.h"

namespace holdpoint::cli {
namespace {

constexpr std::string_view preset_names[] = {"minimal", "standard", "strict", "paranoid"};

std::string counted(std::size_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

Line test_line(const policy::TestResult& result, const std::string& file) {
    if (result.is_passed) return {{Style::good, "pass  "}, {Style::plain, visible(result.name)}};
    return {{Style::bad, "FAIL  "},
            {Style::strong, visible(result.name)},
            {Style::plain, fmt::format("  {}:{}:{}: {}", visible(file), result.mark.line,
                                       result.mark.column, visible(result.message))}};
}

}  // namespace

ExitCode check_policy(const Flags& flags, const PolicyOptions& options) {
    const Output out = local_output(flags);
    const Result<PolicyPointer> loaded = load_given_policy(options.file, FailingTests::refuse);
    if (!loaded) return fail_policy(out, loaded.error());
    const policy::Policy& policy = **loaded;
    if (out.is_json()) {
        out.data(compact(policy::summary_json(policy)));
        return ExitCode::fine;
    }
    const policy::PolicyFile& file = policy.file;
    if (!file.name.empty()) out.data(visible(file.name));
    out.data(policy.version);
    out.data(fmt::format(
        "{}, {}, {}, {}, {}", counted(file.tools.size(), "tool"),
        counted(policy::written_gates(file), "gate"), counted(file.rules.size(), "rule"),
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
    if (out.is_json()) {
        const json::object report = policy::test_report_json(**loaded);
        out.data(compact(report));
        return report.at("failed").as_int64() == 0 ? ExitCode::fine : ExitCode::failed;
    }
    const std::vector<policy::TestResult> results = policy::run_tests(**loaded);
    const std::vector<std::string> untested = policy::untested_rules(**loaded);
    const std::size_t rules = (*loaded)->file.rules.size();
    const auto failed = static_cast<std::size_t>(
        std::ranges::count_if(results, [](const auto& result) { return !result.is_passed; }));
    for (const policy::TestResult& result : results) out.print(test_line(result, options.file));
    out.data(fmt::format("{} passed, {} failed; {} of {} tested", results.size() - failed, failed,
                         rules - untested.size(), counted(rules, "rule")));
    for (const std::string& id : untested) out.data("untested  " + visible(id));
    return failed == 0 ? ExitCode::fine : ExitCode::failed;
}

ExitCode diff_policies(const Flags& flags, const PolicyOptions& options) {
    const Output out = local_output(flags);
    const Result<PolicyPointer> before = load_given_policy(options.file, FailingTests::accept);
    if (!before) return fail_policy(out, before.error());
    const Result<PolicyPointer> after = load_given_policy(options.other_file, FailingTests::accept);
    if (!after) return fail_policy(out, after.error());
    const std::vector<policy::Change> changes = policy::diff((*before)->file, (*after)->file);
    if (out.is_json()) {
        for (const policy::Change& change : changes) out.data(compact(policy::to_json(change)));
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

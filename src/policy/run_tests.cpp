#include "policy/run_tests.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "policy/judge.h"
#include "policy/section.h"
#include "policy/terms.h"

namespace holdpoint::policy {
namespace {

/// A quiet moment for tests that name none.
constexpr Timestamp noon{1'772'452'800'000};

std::string_view decision_word(core::VerdictKind kind) {
    switch (kind) {
        case core::VerdictKind::allow:
            return "allow";
        case core::VerdictKind::hold:
            return "require";
        case core::VerdictKind::deny:
            break;
    }
    return "deny";
}

std::string lines_text(std::vector<ApproverLine> lines) {
    std::sort(lines.begin(), lines.end(),
              [](const ApproverLine& a, const ApproverLine& b) { return a.group < b.group; });
    std::string out;
    for (const ApproverLine& line : lines) out += fmt::format("[{}, {}]", line.group, line.quorum);
    return out;
}

Result<Situation> situation_of(const Test& test, const Policy& policy) {
    json::value document = test.call;
    json::object& object = document.as_object();
    if (!test.counters.is_null()) object["counters"] = test.counters;
    if (!test.grants.is_null()) object["grants"] = test.grants;
    Result<Situation> situation = read_situation(document, test.now.value_or(noon));
    if (!situation) return situation;
    if (Result<void> ok = settle(*situation, policy); !ok) return ok.error();
    return situation;
}

std::string compare(const Test& test, const Policy& policy, const Situation& situation,
                    const Verdict& verdict) {
    std::string out;
    const auto check = [&](std::string_view what, const std::optional<std::string>& expected,
                           std::string_view came) {
        if (!expected || *expected == came) return;
        if (!out.empty()) out += ", ";
        out += fmt::format("expected {} `{}`, came `{}`", what, *expected, came);
    };
    check("decision", test.decision, decision_word(verdict.kind));
    check("rule", test.rule, rule_name(policy, verdict));
    check("gate", test.gate, gate_name(policy, verdict));
    check("risk", test.risk, core::to_string(verdict.risk));
    check("why", test.why, to_string(verdict.decisive.cause));
    if (test.approvals) {
        const Terms terms = terms_of(policy, situation.call, verdict);
        check("approvals", lines_text(*test.approvals), lines_text(terms.lines));
    }
    return out;
}

}  // namespace

Result<void> settle(Situation& situation, const Policy& policy) {
    const auto& counters = policy.file.counters;
    situation.state.counters.assign(counters.size(), 0.0);
    for (const auto& [name, value] : situation.counters) {
        const auto found = std::find_if(counters.begin(), counters.end(),
                                        [&](const Counter& one) { return one.name == name; });
        if (found == counters.end()) {
            std::vector<std::string_view> names;
            for (const Counter& counter : counters) names.push_back(counter.name);
            return Error{ErrorCode::invalid_argument,
                         fmt::format("there is no counter `{}`{}", name, did_you_mean(name, names)),
                         "counters"};
        }
        situation.state.counters[static_cast<std::size_t>(found - counters.begin())] = value;
    }
    for (Grant& grant : situation.state.grants) grant.policy = policy.version;
    return {};
}

std::vector<TestResult> run_tests(const Policy& policy) {
    std::vector<TestResult> results;
    Workspace workspace;
    for (const Test& test : policy.file.tests) {
        TestResult result{test.name, test.mark, false, ""};
        const Result<Situation> situation = situation_of(test, policy);
        if (!situation) {
            result.message =
                fmt::format("{} {}", situation.error().field, situation.error().message);
        } else {
            const Verdict verdict = evaluate(policy, situation->call, situation->state, workspace);
            result.message = compare(test, policy, *situation, verdict);
            result.is_passed = result.message.empty();
        }
        results.push_back(std::move(result));
    }
    return results;
}

std::vector<std::string> untested_rules(const Policy& policy) {
    std::set<int> tested;
    Workspace workspace;
    for (const Test& test : policy.file.tests) {
        const Result<Situation> situation = situation_of(test, policy);
        if (!situation) continue;
        Recorder recorder;
        evaluate(policy, situation->call, situation->state, workspace, recorder);
        for (const Finding& finding : recorder.findings) {
            if (finding.cause == Cause::rule) tested.insert(finding.index);
        }
    }
    std::vector<std::string> out;
    for (std::size_t i = 0; i < policy.file.rules.size(); ++i) {
        if (!tested.contains(static_cast<int>(i))) out.push_back(policy.file.rules[i].id);
    }
    return out;
}

}  // namespace holdpoint::policy

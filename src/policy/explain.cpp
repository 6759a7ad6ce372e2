#include "policy/explain.h"

#include <fmt/format.h>

#include <set>

#include "base/text.h"
#include "policy/judge.h"
#include "policy/terms.h"

namespace holdpoint::policy {
namespace {

constexpr std::size_t near_max = 20;
constexpr std::size_t shown_values_max = 100;

struct Named {
    std::string id;
    int line = 0;
    std::string kind;
};

Named name_of(const Policy& policy, const Finding& finding) {
    const auto index = static_cast<std::size_t>(finding.index);
    switch (finding.cause) {
        case Cause::rule:
            return {policy.file.rules[index].id, policy.file.rules[index].mark.line, "rule"};
        case Cause::gate:
        case Cause::ungated:
            return {policy.file.gates[index].name, policy.file.gates[index].mark.line, "gate"};
        case Cause::pattern: {
            const auto& patterns = finding.effect == Effect::allow
                                       ? policy.file.auto_allow_patterns
                                       : policy.file.always_require_patterns;
            return {patterns[index].text, patterns[index].mark.line, "pattern"};
        }
        default:
            return {std::string(to_string(finding.cause)), 0,
                    std::string(to_string(finding.cause))};
    }
}

json::array matched(const Policy& policy, const Recorder& recorder) {
    json::array out;
    for (const Finding& finding : recorder.findings) {
        const Named named = name_of(policy, finding);
        json::object one;
        one["id"] = named.id;
        one["line"] = named.line;
        one["kind"] = named.kind;
        one["effect"] = to_string(finding.effect);
        one["hard"] = finding.is_hard;
        one["risk"] = core::to_string(finding.risk);
        if (finding.is_error) one["error"] = true;
        out.push_back(std::move(one));
    }
    return out;
}

/// Long values are cut: a record is read by people and kept for years.
json::value shortened(const json::value& value) {
    constexpr std::size_t bytes_max = 300;
    if (value.is_string() && value.get_string().size() > bytes_max)
        return json::value(
            cut_utf8({value.get_string().data(), value.get_string().size()}, bytes_max));
    if (value.is_array() || value.is_object()) {
        const std::string text = json::canonical(value);
        if (text.size() > bytes_max) return json::value(cut_utf8(text, bytes_max));
    }
    return value;
}

json::object values(const Recorder& recorder) {
    json::object out;
    for (const Recorder::Look& look : recorder.looks) {
        for (const auto& [path, value] : look.values) {
            if (out.size() >= shown_values_max) return out;
            if (!out.contains(path)) out[path] = shortened(value);
        }
    }
    return out;
}

/// Rules that were looked at and did not match, each with the first part of it that was false.
json::array near(const Policy& policy, const Recorder& recorder) {
    json::array out;
    for (const Recorder::Look& look : recorder.looks) {
        const bool is_miss =
            look.part == "unless" ? look.answer == Match3::yes : look.answer == Match3::no;
        const bool is_failed = look.answer == Match3::error;
        if (look.cause != Cause::rule || !(is_miss || is_failed) || out.size() >= near_max)
            continue;
        const Rule& rule = policy.file.rules[static_cast<std::size_t>(look.index)];
        json::object one;
        one["id"] = rule.id;
        one["line"] = rule.mark.line;
        one["effect"] = to_string(rule.then);
        if (is_failed) {
            one["error"] = look.error;
            one["first_error"] = look.first_error;
        } else if (look.part == "unless") {
            one["unless"] = rule.unless.text;
        } else {
            one["first_false"] = look.first_false;
        }
        out.push_back(std::move(one));
    }
    return out;
}

json::value shell_part(const Recorder& recorder) {
    if (!recorder.has_line) return nullptr;
    json::object out;
    out["opaque"] = recorder.is_opaque;
    if (recorder.is_opaque) {
        out["reason"] = recorder.opaque_reason;
        out["position"] = recorder.opaque_position;
    }
    return out;
}

json::array list(const std::vector<std::string>& texts) {
    json::array out;
    for (const std::string& text : texts) out.emplace_back(text);
    return out;
}

json::array approvals(const Terms& terms) {
    json::array out;
    for (const ApproverLine& line : terms.lines)
        out.push_back(json::array{json::value(line.group), line.quorum});
    return out;
}

}  // namespace

json::object explain(const Policy& policy, const Call& call, const StateView& state,
                     Workspace& workspace) {
    Recorder recorder;
    const Verdict verdict = evaluate(policy, call, state, workspace, recorder);
    const Assessment assessment = assessment_of(policy, call, state, verdict);
    json::object out;
    out["kind"] = core::to_string(verdict.kind);
    out["rule"] = rule_name(policy, verdict);
    out["gate"] = gate_name(policy, verdict);
    out["risk"] = core::to_string(verdict.risk);
    out["why"] = to_string(verdict.decisive.cause);
    out["because"] = because(policy, call, verdict);
    out["policy"] = policy.version;
    if (verdict.kind == core::VerdictKind::hold) {
        const Terms terms = terms_of(policy, call, verdict);
        out["approvals"] = approvals(terms);
        out["timeout_ms"] = terms.timing.timeout_ms;
        out["on_timeout"] = core::to_string(terms.timing.on_timeout);
        out["confirm"] = terms.requirement.confirm_required;
    }
    out["matched"] = matched(policy, recorder);
    out["values"] = values(recorder);
    out["near"] = near(policy, recorder);
    out["shell"] = shell_part(recorder);
    out["factors"] = list(assessment.factors);
    out["consequences"] = list(assessment.consequences);
    out["headline"] = headline(policy, call, verdict);
    if (verdict.grant) out["grant"] = state.grants[*verdict.grant].id;
    out["cost"] = verdict.steps;
    return out;
}

std::string explain_text(const json::object& record) {
    const auto text = [&](std::string_view name) -> std::string {
        const json::value* value = record.if_contains(name);
        return value && value->is_string() ? std::string(value->get_string()) : std::string();
    };
    std::string out = fmt::format("{}  {} risk", text("kind"), text("risk"));
    if (!text("rule").empty()) out += fmt::format("  rule {}", text("rule"));
    if (!text("gate").empty()) out += fmt::format("  gate {}", text("gate"));
    out += fmt::format("\nbecause {}\n", text("because"));
    const auto section = [&](std::string_view name, auto line_of) {
        const json::value* list = record.if_contains(name);
        if (!list || !list->is_array() || list->get_array().empty()) return;
        out += fmt::format("{}:\n", name);
        for (const json::value& item : list->get_array()) out += "  " + line_of(item) + "\n";
    };
    const auto member = [](const json::value& item, std::string_view name) -> std::string {
        const json::value* value = item.as_object().if_contains(name);
        if (!value) return {};
        return value->is_string() ? std::string(value->get_string()) : json::canonical(*value);
    };
    section("matched", [&](const json::value& item) {
        return fmt::format("{} {} (line {}): {}", member(item, "kind"), member(item, "id"),
                           member(item, "line"), member(item, "effect"));
    });
    section("near", [&](const json::value& item) {
        const std::string why = member(item, "error").empty()
                                    ? member(item, "first_false") + member(item, "unless")
                                    : "failed: " + member(item, "error");
        return fmt::format("rule {} would {}: {}", member(item, "id"), member(item, "effect"), why);
    });
    if (const json::value* values = record.if_contains("values");
        values && !values->as_object().empty()) {
        out += "values:\n";
        for (const auto& value : values->get_object())
            out += fmt::format("  {} = {}\n", std::string_view(value.key()),
                               json::canonical(value.value()));
    }
    return out;
}

}  // namespace holdpoint::policy

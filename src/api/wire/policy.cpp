#include "api/wire/policy.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/wire/request.h"
#include "api/wire/write.h"

namespace holdpoint::wire {
namespace {

/// A grant under another policy covers nothing any more.
std::string_view standing(const store::GrantRecord& record, const std::string& policy_version,
                          Timestamp now) {
    if (record.ended_at) return "ended";
    if (record.grant.expires_at <= now) return "expired";
    if (record.grant.policy != policy_version) return "outdated";
    const bool is_used_up = (record.grant.uses_left && *record.grant.uses_left <= 0) ||
                            (record.grant.sum_left && *record.grant.sum_left <= 0);
    return is_used_up ? "used_up" : "active";
}

void number(ObjectWriter& writer, std::string_view name, const std::optional<double>& value) {
    if (value)
        json::append_number(writer.name(name), *value);
    else
        writer.raw(name, "null");
}

}  // namespace

std::string to_json(const store::GrantRecord& record, const std::string& policy_version,
                    Timestamp now) {
    const policy::Grant& grant = record.grant;
    std::string out;
    ObjectWriter writer(out);
    writer.text("id", grant.id);
    writer.word("state", standing(record, policy_version, now));
    writer.text("agent", grant.agent);
    writer.text("tool", grant.tool);
    writer.text_or_null("session", grant.session);
    writer.text("covers", policy::describe(grant));
    writer.name("pins") += '[';
    for (std::size_t i = 0; i < grant.pins.size(); ++i) {
        if (i > 0) out += ',';
        ObjectWriter pin(out);
        pin.text("path", grant.pins[i].path);
        pin.raw("value", grant.pins[i].value);
        pin.close();
    }
    out += ']';
    writer.name("bounds") += '[';
    for (std::size_t i = 0; i < grant.bounds.size(); ++i) {
        if (i > 0) out += ',';
        ObjectWriter bound(out);
        bound.text("path", grant.bounds[i].path);
        json::append_number(bound.name("at_most"), grant.bounds[i].at_most);
        bound.close();
    }
    out += ']';
    if (grant.argv.empty())
        writer.raw("command", "null");
    else
        writer.texts("command", grant.argv);
    writer.boolean("is_prefix", grant.is_argv_prefix);
    writer.word("risk_max", to_string(grant.risk_max));
    if (grant.uses_left)
        writer.number("uses_left", *grant.uses_left);
    else
        writer.raw("uses_left", "null");
    number(writer, "sum_left", grant.sum_left);
    writer.number("uses", record.uses);
    writer.text("by", grant.by);
    writer.word("request", record.request.text());
    writer.text("policy", grant.policy);
    writer.time("created_at", record.created_at);
    writer.time("expires_at", grant.expires_at);
    writer.time("ended_at", record.ended_at);
    writer.text_or_null("ended_by", record.ended_by);
    writer.close();
    return out;
}

std::string to_json(const core::Verdict& verdict) {
    std::string out;
    ObjectWriter writer(out);
    writer.name("verdict");
    ObjectWriter inner(out);
    inner.word("kind", to_string(verdict.record.kind));
    inner.text_or_null("rule", verdict.record.rule);
    inner.text_or_null("gate", verdict.record.gate);
    inner.word("risk", to_string(verdict.risk));
    inner.text_or_null("because", verdict.record.because);
    inner.text_or_null("policy", verdict.record.policy);
    inner.close();
    writer.text_or_null("headline", verdict.headline);
    writer.json("risk", verdict.risk_detail);
    if (verdict.record.kind == core::VerdictKind::hold) {
        append_requirement(writer.name("requirement"), verdict.requirement,
                           verdict.requirement.confirm_required ? "code" : "");
        json::append_number(writer.name("timeout_s"),
                            static_cast<double>(verdict.timing.timeout_ms) / 1000);
        writer.word("on_timeout", to_string(verdict.timing.on_timeout));
    }
    writer.close();
    return out;
}

std::string to_json(const PolicySummary& summary) {
    const policy::Policy& policy = summary.policy;
    std::string out;
    ObjectWriter writer(out);
    writer.text_or_null("name", policy.file.name);
    writer.text("version", policy.version);
    writer.word("origin", summary.origin);
    writer.boolean("is_disabled", policy.file.is_disabled);
    writer.number("rules", static_cast<std::int64_t>(policy.file.rules.size()));
    writer.number("gates", std::ranges::count(policy.file.gates, false, &policy::Gate::is_implied));
    writer.number("tests", static_cast<std::int64_t>(policy.file.tests.size()));
    writer.name("warnings") += '[';
    for (std::size_t i = 0; i < policy.warnings.size(); ++i) {
        if (i > 0) out += ',';
        ObjectWriter warning(out);
        warning.number("line", policy.warnings[i].mark.line);
        warning.number("column", policy.warnings[i].mark.column);
        warning.text("message", policy.warnings[i].message);
        warning.close();
    }
    out += ']';
    if (summary.with_text) {
        writer.text_or_null("text", policy.file.source);
        writer.texts("above", policy.file.above);
    }
    writer.close();
    return out;
}

std::string to_json(const store::PolicyVersion& version, bool is_in_force, bool with_text) {
    std::string out;
    ObjectWriter writer(out);
    writer.text("version", version.version);
    writer.text_or_null("by", version.by);
    writer.time("at", version.at);
    writer.boolean("is_in_force", is_in_force);
    if (with_text) {
        writer.text("text", version.text);
        writer.texts("above", version.above);
    }
    writer.close();
    return out;
}

}  // namespace holdpoint::wire

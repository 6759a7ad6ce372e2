#include "policy/builder.h"

#include <fmt/format.h>

#include "policy/outline.h"

namespace holdpoint::policy {
namespace {

std::string literal(std::string_view text) {
    std::string out;
    json::append_quoted(out, text);
    return out;
}

}  // namespace

Builder::Builder(std::string name, std::string preset) {
    file_.name = std::move(name);
    file_.extends = std::move(preset);
}

Builder& Builder::defaults(Defaults defaults) {
    file_.defaults = std::move(defaults);
    return *this;
}

Builder& Builder::tool(Tool tool) {
    file_.tools.push_back(std::move(tool));
    return *this;
}

Builder& Builder::always_require(const std::vector<std::string>& tools) {
    file_.always_require.insert(file_.always_require.end(), tools.begin(), tools.end());
    return *this;
}

Builder& Builder::never_require(const std::vector<std::string>& tools) {
    file_.never_require.insert(file_.never_require.end(), tools.begin(), tools.end());
    return *this;
}

Builder& Builder::people(std::string group, std::vector<std::string> roles,
                         std::vector<std::string> users) {
    file_.approvers.push_back({std::move(group), std::move(users), std::move(roles), {}});
    return *this;
}

Builder& Builder::gate(Gate gate) {
    file_.gates.push_back(std::move(gate));
    return *this;
}

Builder& Builder::rule(Rule rule) {
    file_.rules.push_back(std::move(rule));
    return *this;
}

Builder& Builder::risk(RiskRule rule) {
    file_.risk.push_back(std::move(rule));
    return *this;
}

Builder& Builder::custom_gate(std::string name, Extensions::CustomGate callable,
                              std::vector<std::string> tools) {
    Gate gate;
    gate.name = name;
    gate.type = GateType::custom;
    gate.callable = name;
    gate.tools = std::move(tools);
    file_.gates.push_back(std::move(gate));
    extensions_.gates[std::move(name)] = std::move(callable);
    return *this;
}

Builder& Builder::assessor(Extensions::Assessor assessor) {
    extensions_.assessors.push_back(std::move(assessor));
    return *this;
}

Builder& Builder::require_above(const std::string& tool, const std::string& arg, double limit,
                                std::vector<ApproverLine> approvers) {
    Rule rule;
    rule.id = fmt::format("{}-{}-above-{}", tool, arg, limit);
    rule.tools = {tool};
    rule.when.text = fmt::format("!(args[{}] <= {:f})", literal(arg), limit);
    rule.then = Effect::require;
    rule.approvers = std::move(approvers);
    rule.because = fmt::format("`{}` above {} needs a person", arg, limit);
    return this->rule(std::move(rule));
}

Builder& Builder::require_role(const std::string& tool, const std::string& role) {
    Rule rule;
    rule.id = fmt::format("{}-for-{}", tool, role);
    rule.tools = {tool};
    rule.unless.text = fmt::format("{} in user.roles", literal(role));
    rule.then = Effect::deny;
    rule.because = fmt::format("`{}` is for people with the role `{}`", tool, role);
    return this->rule(std::move(rule));
}

Builder& Builder::disable() {
    file_.is_disabled = true;
    return *this;
}

Result<std::shared_ptr<const Policy>> Builder::build() const {
    PolicyFile file = file_;
    file.source = outline(file);
    Result<PolicyFile> whole = extend(std::move(file));
    if (!whole) return whole.error();
    return compile(std::move(*whole), extensions_);
}

}  // namespace holdpoint::policy

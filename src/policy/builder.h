#pragma once

#include <memory>
#include <string>
#include <vector>

#include "policy/compile.h"

namespace holdpoint::policy {

/// Composes a policy in code. What it makes is the same PolicyFile that a file gives, so that the
/// same checks, the same engine and the same explanations apply; any part that asks for a person
/// wins over parts that do not, whoever added it and in whatever order.
///
///     Result<std::shared_ptr<const Policy>> policy =
///         Builder("shop", "standard")
///             .tool({.name = "refund", .risk = RiskLevel::medium})
///             .people("finance", {"finance"})
///             .require_above("refund", "amount", 500, {{"finance", 2}})
///             .custom_gate("fraud", [](const Call& call, const StateView&) { … })
///             .build();
class Builder {
  public:
    /// `preset` is the name of a preset to start from, or empty: then everything is held.
    explicit Builder(std::string name, std::string preset = {});

    Builder& defaults(Defaults defaults);
    Builder& tool(Tool tool);
    Builder& always_require(const std::vector<std::string>& tools);
    Builder& never_require(const std::vector<std::string>& tools);
    Builder& people(std::string group, std::vector<std::string> roles,
                    std::vector<std::string> users = {});
    Builder& gate(Gate gate);
    Builder& rule(Rule rule);
    Builder& risk(RiskRule rule);
    /// Held where the callable says so, for these tools or, without any, for every tool.
    Builder& custom_gate(std::string name, Extensions::CustomGate callable,
                         std::vector<std::string> tools = {});
    Builder& assessor(Extensions::Assessor assessor);
    /// Amounts above the limit need these people. An amount that is not a number is no amount: the
    /// condition fails, and what fails is held.
    Builder& require_above(const std::string& tool, const std::string& arg, double limit,
                           std::vector<ApproverLine> approvers = {});
    /// The tool is denied to agents that work for somebody without this role.
    Builder& require_role(const std::string& tool, const std::string& role);
    Builder& disable();

    const PolicyFile& file() const { return file_; }
    Result<std::shared_ptr<const Policy>> build() const;

  private:
    PolicyFile file_;
    Extensions extensions_;
};

}  // namespace holdpoint::policy

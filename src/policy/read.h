#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/file.h"
#include "policy/section.h"

/// The parts of read_policy(), one function for each section. What is wrong is noted in the fault.
namespace holdpoint::policy::read {

std::optional<RiskLevel> risk(Section& section, std::string_view key);
/// A level or `none`.
std::optional<RiskCap> risk_cap(Section& section, std::string_view key);
std::optional<OnError> on_error(Section& section);
Expression expression(Section& section, std::string_view key);
/// An expression where `true`, `false` and numbers may stand without quotes.
Expression value_expression(Section& section, std::string_view key);
std::vector<ApproverLine> lines(Section& section, std::string_view key);
Patience patience(Section& section);
Demands demands(Section& section);

Tool tool(const yaml::Entry& entry, Fault& fault);
Gate gate(const yaml::Entry& entry, Fault& fault);
Rule rule(const yaml::Node& node, Fault& fault);
Pattern pattern(const yaml::Node& node, Fault& fault);
Counter counter(const yaml::Entry& entry, Fault& fault);
GrantRules grants(const yaml::Node& node, Fault& fault);
TrustRules trust(const yaml::Node& node, Fault& fault);
RiskRule risk_rule(const yaml::Node& node, Fault& fault);
Test test(const yaml::Node& node, Fault& fault);

/// An id, a tool's, a gate's or a group's name: anything that can be shown, without blanks; at most
/// 100 bytes.
void check_name(std::string_view name, Mark mark, Fault& fault);
/// A name that conditions read as `vars.NAME` or `counters.NAME`: letters, digits and `_`. With a
/// dot it would stand for a field of another one, and `$` begins the names of what the service
/// counts itself.
void check_identifier(std::string_view name, Mark mark, Fault& fault);

}  // namespace holdpoint::policy::read

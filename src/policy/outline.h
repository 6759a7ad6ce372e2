#pragma once

#include <string>
#include <utility>
#include <vector>

#include "policy/file.h"

namespace holdpoint::policy {

/// One part of a policy as a line of text that says everything it means and nothing about where it
/// stands: two parts mean the same exactly when their lines are equal.
std::string outline(const Defaults& defaults);
std::string outline(const Tool& tool);
std::string outline(const Gate& gate);
std::string outline(const Rule& rule);
std::string outline(const Pattern& pattern);
std::string outline(const ApproverGroup& group);
std::string outline(const Counter& counter);
std::string outline(const Variable& variable);
std::string outline(const GrantRules& grants);
std::string outline(const TrustRules& trust);
std::string outline(const RiskRule& rule);

/// All parts, each under its name: ``rule `refund-large` `` and its line, in the order of the file.
std::vector<std::pair<std::string, std::string>> parts_of(const PolicyFile& file);

/// The parts as one text; what stands for the source of a policy that was composed in code.
std::string outline(const PolicyFile& file);

}  // namespace holdpoint::policy

#include "policy/extend.h"

namespace holdpoint::policy {
namespace {

// Each says everything itself, so that whoever reads one knows all of it.

constexpr std::string_view minimal = R"(holdpoint: 1
policy: minimal
defaults: {decision: allow, max_auto_risk: medium, on_error: require, timeout: 5m, on_timeout: reject}
gates:
  destructive: {type: destructive_actions}
rules:
  - {id: opaque-shell, shell: {opaque: true}, then: require, because: the command cannot be proved to be a list of plain words}
)";

constexpr std::string_view standard = R"(holdpoint: 1
policy: standard
defaults: {decision: allow, max_auto_risk: low, on_error: require, timeout: 5m, on_timeout: reject}
gates:
  destructive: {type: destructive_actions}
  external: {type: specific_tools, tools: [web_search, send_email, api_call], open_world: true}
rules:
  - {id: opaque-shell, shell: {opaque: true}, then: require, because: the command cannot be proved to be a list of plain words}
)";

constexpr std::string_view strict = R"(holdpoint: 1
policy: strict
defaults: {decision: require, max_auto_risk: low, on_error: require, timeout: 5m, on_timeout: reject}
gates:
  all_tools: {type: tool_execution}
  final: {type: final_response}
rules:
  - {id: opaque-shell, shell: {opaque: true}, then: require, risk: high, because: the command cannot be proved to be a list of plain words}
)";

constexpr std::string_view paranoid = R"(holdpoint: 1
policy: paranoid
defaults: {decision: require, max_auto_risk: none, on_error: deny, timeout: 5m, on_timeout: reject}
gates:
  all_tools: {type: tool_execution}
  final: {type: final_response}
  plans: {type: plan_approval}
rules:
  - {id: opaque-shell, shell: {opaque: true}, then: deny, because: the command cannot be proved to be a list of plain words}
)";

}  // namespace

std::string_view preset_text(std::string_view name) {
    if (name == "minimal") return minimal;
    if (name == "standard") return standard;
    if (name == "strict") return strict;
    if (name == "paranoid") return paranoid;
    return {};
}

}  // namespace holdpoint::policy

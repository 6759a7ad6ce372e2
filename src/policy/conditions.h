#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "policy/cel/environment.h"
#include "policy/policy.h"

namespace holdpoint::policy {

/// Compiles the conditions of one policy. Environments are shared between rules whose tools declare
/// the same arguments.
class Conditions {
  public:
    explicit Conditions(Policy& policy) : policy_(policy) {}

    enum class Wanted { boolean, number, text, any };

    /// `what` names the place in messages: ``rule `x`, `when` ``. `tools` type `args`.
    Result<Condition> compile(const Expression& expression, std::string_view what,
                              const std::vector<const Tool*>& tools, Wanted wanted);

    /// The file's vars, each with those before it in sight.
    Result<void> compile_vars();

  private:
    const cel::Environment& environment_for(const std::vector<const Tool*>& tools);
    std::vector<std::uint16_t> vars_of(const cel::Program& program) const;

    Policy& policy_;
    std::map<std::string, std::unique_ptr<cel::Environment>> environments_;
};

/// Whether the condition speaks of tool calls only: it reads arguments or the tool, and neither
/// the event nor what other events carry.
bool is_about_tools(const Condition& condition);

}  // namespace holdpoint::policy

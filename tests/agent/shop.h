#pragma once

#include <holdpoint/agent.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tests/agent/people.h"

/// A shop for agents in tests: scripted models, and tools that write down what they did.
namespace holdpoint::test {

inline std::shared_ptr<Model> script(std::string_view turns) {
    const Result<Json> json = Json::parse(turns);
    if (!json) throw std::runtime_error(json.error().message);
    Result<std::shared_ptr<Model>> model = make_scripted_model(*json);
    if (!model) throw std::runtime_error(model.error().message);
    return *model;
}

/// Tools that write down what they did.
struct Shop {
    std::vector<std::string> done;

    Tool tool(const std::string& name, ToolFacts facts = {}) {
        Tool tool;
        tool.name = name;
        tool.schema = Json::object(
            {{"type", "object"},
             {"properties",
              Json::object({{"order", Json::object({{"type", "string"}})},
                            {"amount", Json::object({{"type", "number"}, {"minimum", 0}})}})}});
        tool.facts = std::move(facts);
        tool.run = [this, name](const Json& arguments, ToolContext&) -> Result<Json> {
            done.push_back(name + " " + arguments.dump());
            return Json::object({{"ok", true}});
        };
        return tool;
    }
    Agent agent(std::string_view turns) {
        return {.name = "clerk",
                .tools = {tool("refund"), tool("look", {.is_read_only = true})},
                .model = script(turns)};
    }
};

/// Holds refunds; the other tools pass.
inline EmbeddedOptions refunds_held(People& people) {
    EmbeddedOptions options;
    options.human = people.interface();
    options.gates = {{.name = "money", .type = GateType::specific_tools, .tools = {"refund"}}};
    return options;
}

}  // namespace holdpoint::test

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <holdpoint/json.h>
#include <holdpoint/options.h>
#include <holdpoint/request.h>
#include <holdpoint/result.h>

namespace holdpoint {

class ToolRunner;

/// What a tool may know about the call it serves.
struct ToolContext {
    ToolRunner* runner = nullptr;  ///< for tools that run agents of their own
    std::string agent = {};        ///< who called
    std::stop_token stop = {};
    bool must_keep_requests = false;  ///< when stopped: what it asked stays for a later process
    Context about = {};               ///< what people should know, for tools that ask them
    std::optional<double> cost = {};  ///< set by the tool, where it knows what the call cost
};

/// Something that a model can call.
struct Tool {
    std::string name = {};
    std::string description = {};  ///< for the model
    /// JSON Schema of the arguments: type, properties, required, enum, minimum, maximum, minLength,
    /// maxLength, items; what is not declared is refused unless additionalProperties is true.
    Json schema = Json::object({{"type", "object"}, {"properties", Json::object()}});
    /// What the operator knows; `name` is filled in.
    ToolFacts facts = {};
    /// The concrete action in words for people: `Publish "hello" so that everyone can see it`.
    std::function<std::string(const Json& arguments)> describe = {};
    std::function<Result<Json>(const Json& arguments, ToolContext& context)> run = {};
    /// It does nothing itself: it asks people through Holdpoint, or hands on to agents whose every
    /// call is checked. After a restart it is run again and finds what it asked, where a tool that
    /// does something is not.
    bool only_asks = false;
    /// Set for tools that are confirmed in the conversation (Q12): says what would happen. The
    /// first call answers with this and runs nothing, and the person is shown it; see
    /// confirmation.h.
    std::function<Result<Json>(const Json& arguments)> preview = {};
};

/// What is wrong with arguments by a schema; nothing if all is well. Types are strict: a text is
/// never a number.
std::optional<std::string> check_schema(const Json& schema, const Json& value,
                                        const std::string& path = "arguments");

/// The tools of one agent, by name.
class Toolbox {
  public:
    Toolbox() = default;
    Toolbox(std::initializer_list<Tool> tools);

    Toolbox& add(Tool tool);
    const Tool* find(const std::string& name) const;
    std::vector<ToolFacts> facts() const;
    const std::map<std::string, Tool>& all() const { return tools_; }

  private:
    std::map<std::string, Tool> tools_;
};

class Holdpoint;
/// `request_human_input`: lets a model ask a person for what it does not know (Q11).
Tool human_input_tool(Holdpoint holdpoint);

}  // namespace holdpoint

#include <fmt/format.h>
#include <holdpoint/holdpoint.h>
#include <holdpoint/tool.h>

namespace holdpoint {
namespace {

std::optional<InputType> input_type(const std::string& word) {
    if (word == "text") return InputType::text;
    if (word == "number") return InputType::number;
    if (word == "choice") return InputType::choice;
    if (word == "multi_choice") return InputType::multi_choice;
    if (word == "date") return InputType::date;
    if (word == "file") return InputType::file;
    return std::nullopt;
}

Json human_input_schema() {
    return Json::object(
        {{"type", "object"},
         {"properties",
          Json::object(
              {{"question", Json::object({{"type", "string"}, {"minLength", 1}})},
               {"type", Json::object({{"type", "string"},
                                      {"enum", Json::texts({"text", "number", "choice",
                                                            "multi_choice", "date", "file"})}})},
               {"options", Json::object({{"type", "array"},
                                         {"items", Json::object({{"type", "string"}})}})}})},
         {"required", Json::texts({"question"})}});
}

}  // namespace

Toolbox::Toolbox(std::initializer_list<Tool> tools) {
    for (const Tool& tool : tools) add(tool);
}

Toolbox& Toolbox::add(Tool tool) {
    tool.facts.name = tool.name;
    tools_.insert_or_assign(tool.name, std::move(tool));
    return *this;
}

const Tool* Toolbox::find(const std::string& name) const {
    const auto found = tools_.find(name);
    return found == tools_.end() ? nullptr : &found->second;
}

std::vector<ToolFacts> Toolbox::facts() const {
    std::vector<ToolFacts> all;
    for (const auto& [name, tool] : tools_) all.push_back(tool.facts);
    return all;
}

Tool human_input_tool(Holdpoint holdpoint) {
    Tool tool;
    tool.name = "request_human_input";
    tool.description =
        "Asks a person for something you do not know and cannot find out. Give `type` and, for a "
        "choice, `options`.";
    tool.schema = human_input_schema();
    // Asking changes nothing, so that the question itself needs nobody's approval.
    tool.facts.is_read_only = true;
    tool.only_asks = true;
    tool.run = [holdpoint](const Json& arguments, ToolContext& context) mutable -> Result<Json> {
        Question question;
        question.question = arguments["question"].text_or("");
        question.type = input_type(arguments["type"].text_or("text")).value_or(InputType::text);
        for (const Json& option : arguments["options"].items())
            question.options.push_back(option.text_or(""));
        question.asking.context = context.about;
        const Wait wait{.stop = context.stop, .must_keep_request = context.must_keep_requests};
        const Run<Json> told = holdpoint.ask(question, wait);
        if (!told) return Error{ErrorCode::unavailable, told.error().message};
        return Json::object({{"answer", *told}});
    };
    return tool;
}

}  // namespace holdpoint

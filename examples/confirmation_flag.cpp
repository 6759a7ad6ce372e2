// A tool that is confirmed in the conversation: a flag set by the model is worth nothing, a
// person's yes makes a token for exactly one action.
#include <holdpoint/agent.h>

#include <iostream>

using namespace holdpoint;

namespace {

Tool delete_page() {
    Tool tool;
    tool.name = "delete_page";
    tool.description = "Deletes a page with all its sections.";
    tool.schema = *Json::parse(R"({"type": "object", "required": ["page"],
                                   "properties": {"page": {"type": "string"}}})");
    tool.preview = [](const Json& arguments) -> Result<Json> {
        return Json("delete the page " + arguments["page"].dump() + " and its 3 sections for good");
    };
    tool.run = [](const Json& arguments, ToolContext&) -> Result<Json> {
        return Json("deleted " + arguments["page"].text_or(""));
    };
    return tool;
}

constexpr const char* conversation = R"([
  {"call": [{"tool": "delete_page", "arguments": {"page": "about", "confirmed": true}}]},
  {"when": "requiresConfirmation", "say": "That deletes \"about\" and its 3 sections. Shall I?"},
  {"call": [{"tool": "delete_page",
             "arguments": {"page": "about", "confirmed": true, "confirmation_token": "{{token}}"}}]},
  {"say": "Done: the about page is gone."}])";

}  // namespace

int main() {
    EmbeddedOptions options;
    options.preset = "minimal";
    Result<Holdpoint> holdpoint = Holdpoint::embedded(options);
    if (!holdpoint) {
        std::cerr << holdpoint.error().message << "\n";
        return 1;
    }
    Agent agent{.name = "editor",
                .tools = {delete_page()},
                .model = *make_scripted_model(*Json::parse(conversation))};
    HumanInTheLoop loop(*holdpoint);
    for (const char* person : {"Delete the about page", "yes"}) {
        std::cout << "person: " << person << "\n";
        const RunResult result = loop.execute(agent, person);
        for (const Step& step : result.steps)
            std::cout << "  tool " << (step.has_run ? "ran: " : "did not run: ") << step.message
                      << "\n";
        std::cout << "agent:  " << result.output << "\n";
    }
}

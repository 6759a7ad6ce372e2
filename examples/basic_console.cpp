// A file assistant whose writing and deleting waits for you, on the console.
#include <holdpoint/agent.h>

#include <iostream>

using namespace holdpoint;

namespace {

Tool file_tool(const std::string& name, const std::string& done) {
    Tool tool;
    tool.name = name;
    tool.schema = *Json::parse(R"({"type": "object", "required": ["path"],
                                   "properties": {"path": {"type": "string"}}})");
    if (name != "list_files") tool.facts = {.risk = RiskLevel::medium, .is_destructive = true};
    tool.run = [done](const Json& arguments, ToolContext&) -> Result<Json> {
        return Json(done + " " + arguments["path"].text_or(""));
    };
    return tool;
}

// Without a key: what a model would say. With one: make_chat_model({.url = …, .key = …}).
constexpr const char* conversation = R"([
  {"call": [{"tool": "list_files", "arguments": {"path": "."}}]},
  {"call": [{"tool": "delete_file", "arguments": {"path": "a.tmp"}}]},
  {"call": [{"tool": "delete_file", "arguments": {"path": "notes.txt"}}]},
  {"when": "rejected", "say": "I deleted a.tmp and kept notes.txt, as you wished."},
  {"say": "I deleted both files."}])";

}  // namespace

int main() {
    EmbeddedOptions options;
    options.human = make_console({.person = "you"});
    options.gates = {{.name = "file_writes",
                      .type = GateType::specific_tools,
                      .tools = {"write_file", "delete_file"},
                      .is_reason_required = true}};
    Result<Holdpoint> holdpoint = Holdpoint::embedded(options);
    if (!holdpoint) {
        std::cerr << holdpoint.error().message << "\n";
        return 1;
    }
    Agent agent{.name = "files",
                .system_prompt = "You are a file management assistant.",
                .tools = {file_tool("list_files", "found a.tmp, notes.txt in"),
                          file_tool("write_file", "wrote"), file_tool("delete_file", "deleted")},
                .model = *make_scripted_model(*Json::parse(conversation))};

    HumanInTheLoop loop(*holdpoint);
    const RunResult result = loop.execute(agent, "Clean up all .tmp files here");

    std::cout << result.output << "\n";
    for (const Step& step : result.steps)
        std::cout << (step.has_run ? "ran      " : "not run  ") << step.tool << " "
                  << step.arguments.dump() << "\n";
}

// A budget around a ReAct agent: calls pass until the session has cost more than 1.00, then a
// person is asked whether to go on.
#include <holdpoint/agent.h>

#include <iostream>

using namespace holdpoint;

int main() {
    EmbeddedOptions options;
    options.gates = {{.name = "costly",
                      .type = GateType::budget_based,
                      .cost_above = 1.0,
                      .window = Gate::Window::session}};
    options.human = make_callback({.approval = [](const Request& request, std::stop_token) {
        std::cout << "asked: " << request.headline << "\n";
        return std::optional(Decision{
            .kind = DecisionKind::defer, .by = "ann", .guidance = "answer with what you have"});
    }});
    Result<Holdpoint> holdpoint = Holdpoint::embedded(options);
    if (!holdpoint) {
        std::cerr << holdpoint.error().message << "\n";
        return 1;
    }
    Tool search;
    search.name = "web_search";
    search.schema = *Json::parse(R"({"type": "object", "properties": {"q": {"type": "string"}}})");
    search.facts.estimated_cost = 0.4;
    search.run = [](const Json& arguments, ToolContext&) -> Result<Json> {
        return Json("three pages about " + arguments["q"].text_or(""));
    };
    Agent agent{
        .name = "researcher", .tools = {search}, .model = *make_scripted_model(*Json::parse(R"([
      {"call": [{"tool": "web_search", "arguments": {"q": "otters"}}]},
      {"call": [{"tool": "web_search", "arguments": {"q": "river otters"}}]},
      {"call": [{"tool": "web_search", "arguments": {"q": "sea otters"}}]},
      {"when": "answer with what you have", "say": "From six pages: otters swim."}])"))};

    HumanInTheLoop loop(*holdpoint, {.inner = make_react({.iterations_max = 10})});
    const RunResult result = loop.execute(agent, "What do otters do?");
    for (const Step& step : result.steps)
        std::cout << (step.has_run ? "ran:     " : "not run: ") << step.arguments.dump() << "\n";
    std::cout << result.output << "\n";
}

// An agent that lacks something asks for it: the tool `request_human_input`, on the console.
#include <holdpoint/agent.h>

#include <iostream>

using namespace holdpoint;

int main() {
    EmbeddedOptions options;
    options.preset = "standard";
    options.human = make_console({.style = PromptStyle::compact, .person = "you"});
    Result<Holdpoint> holdpoint = Holdpoint::embedded(options);
    if (!holdpoint) {
        std::cerr << holdpoint.error().message << "\n";
        return 1;
    }
    Agent agent{.name = "decorator",
                .tools = {human_input_tool(*holdpoint)},
                .model = *make_scripted_model(*Json::parse(R"([
      {"call": [{"tool": "request_human_input",
                 "arguments": {"question": "Which colour?", "type": "choice",
                               "options": ["blue", "green"]}}]},
      {"call": [{"tool": "request_human_input",
                 "arguments": {"question": "How many litres?", "type": "number"}}]},
      {"when": "12", "say": "I order 12 litres."}])"))};
    HumanInTheLoop loop(*holdpoint);
    const RunResult result = loop.execute(agent, "Order paint for the hall");
    for (const Step& step : result.steps) std::cout << step.message << "\n";
    std::cout << result.output << "\n";
}

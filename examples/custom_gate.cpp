// A gate written in C++: whatever touches production waits for a person.
#include <holdpoint/holdpoint.h>

#include <iostream>

using namespace holdpoint;

int main() {
    EmbeddedOptions options;
    options.tools = {{.name = "run_bash"}};
    options.gates = {{.name = "production_safety",
                      .type = GateType::custom,
                      .condition =
                          [](const Action& action) {
                              // Where there is no command this throws, and what throws is held.
                              const std::string command =
                                  action.arguments["command"].text().value();
                              return command.find("prod") != std::string::npos;
                          },
                      .on_timeout = TimeoutAction::reject}};
    options.human = make_callback({.approval = [](const Request& request, std::stop_token) {
        std::cout << "  asked, because of gate " << request.gate << "\n";
        return std::optional(
            Decision{.kind = DecisionKind::reject, .by = "ann", .reason = "not on a friday"});
    }});
    Result<Holdpoint> holdpoint = Holdpoint::embedded(options);
    if (!holdpoint) {
        std::cerr << holdpoint.error().message << "\n";
        return 1;
    }

    auto bash = holdpoint->gate("run_bash", [](const Json& arguments) {
        return "ran " + arguments["command"].text_or("");
    });
    for (const Json& arguments :
         {Json::object({{"command", "ls"}}), Json::object({{"command", "deploy --to production"}}),
          Json::object({{"script", "deploy.sh"}})}) {
        std::cout << arguments.dump() << "\n";
        const Run<std::string> done = bash(arguments);
        std::cout << "  " << (done ? *done : std::string(to_string(done.error().why))) << "\n";
    }
}

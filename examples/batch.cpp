// Several calls of one turn are asked together; each has its own answer, and only the approved run.
#include <holdpoint/holdpoint.h>

#include <iostream>

using namespace holdpoint;

int main() {
    EmbeddedOptions options;
    options.human = make_callback({.approval = [](const Request& request, std::stop_token) {
        const std::string post = request.arguments()["post"].text_or("");
        Decision decision{.kind = DecisionKind::approve, .by = "ann"};
        if (post == "draft") {
            decision.kind = DecisionKind::reject;
            decision.reason = "it has no picture yet";
        }
        if (post == "offer") {
            decision.kind = DecisionKind::modify;
            decision.replacement = request.arguments().with("when", "monday");
        }
        return std::optional(decision);
    }});
    Result<Holdpoint> holdpoint = Holdpoint::embedded(options);
    if (!holdpoint) {
        std::cerr << holdpoint.error().message << "\n";
        return 1;
    }

    std::vector<Action> actions;
    for (const char* post : {"hello", "draft", "offer"})
        actions.push_back({.tool = "publish",
                           .arguments = Json::object({{"post", post}, {"when", "today"}}),
                           .description = "Publish it so that everyone can see it"});
    for (const Run<Release>& answer : holdpoint->propose_batch(actions)) {
        if (!answer) {
            std::cout << "not run: " << answer.error().message << "\n";
            continue;
        }
        const Run<Json> ran =
            holdpoint->run_released(*answer, [](const Json& arguments) -> Result<Json> {
                return Json("published " + arguments["post"].text_or("") + " " +
                            arguments["when"].text_or(""));
            });
        std::cout << (ran ? ran->text_or("") : ran.error().message) << "\n";
    }
}

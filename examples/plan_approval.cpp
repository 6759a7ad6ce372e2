// A plan is approved before its first step, perhaps without some of its optional steps.
#include <holdpoint/holdpoint.h>

#include <iostream>

using namespace holdpoint;

int main() {
    EmbeddedOptions options;
    options.human = make_callback({.approval = [](const Request& request, std::stop_token) {
        std::cout << "asked: " << request.headline << "\n";
        return std::optional(
            Decision{.kind = DecisionKind::approve, .by = "ann", .approved_steps = {{1, 2, 4}}});
    }});
    options.gates = {{.name = "plans", .type = GateType::plan_approval}};
    Result<Holdpoint> holdpoint = Holdpoint::embedded(options);
    if (!holdpoint) {
        std::cerr << holdpoint.error().message << "\n";
        return 1;
    }

    const Run<Plan> plan =
        holdpoint->propose_plan({.title = "Move the shop to the new host",
                                 .steps = {{.action = "copy the database"},
                                           {.action = "switch the address"},
                                           {.action = "tell the newspaper", .is_optional = true},
                                           {.action = "stop the old host"}},
                                 .estimated_duration = std::chrono::minutes(20)});
    if (!plan) {
        std::cout << plan.error().message << "\n";
        return 0;
    }
    for (const PlanStep& step : plan->steps)
        std::cout << "step " << step.order << ": " << step.action << "\n";
}

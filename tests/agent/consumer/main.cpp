#include <holdpoint/holdpoint.h>

#include <iostream>

int main() {
    using namespace holdpoint;
    EmbeddedOptions options;
    options.tools = {{.name = "add"}};
    options.rules = {require_above("add", "a", 39)};
    options.gates = {{.name = "sums", .type = GateType::custom, .when = "args.b == 2.0"}};
    options.assessors = {[](const Action&) { return Assessment{.level = RiskLevel::high}; }};
    int asked = 0;
    options.human = make_callback({.approval = [&](const Request& request, std::stop_token) {
        asked += request.risk == RiskLevel::high;
        return std::optional(Decision{.kind = DecisionKind::approve, .by = "ann"});
    }});
    Result<Holdpoint> holdpoint = Holdpoint::embedded(options);
    if (!holdpoint) {
        std::cerr << holdpoint.error().message << "\n";
        return 1;
    }
    const auto add = holdpoint->gate("add", {"a", "b"}, [](int a, int b) { return a + b; });
    const Run<int> sum =
        add(40, 2, {.deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1)});
    std::cout << (sum && asked == 1 ? *sum : -1) << "\n";
}

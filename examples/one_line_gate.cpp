// One line puts a person in front of any callable: `holdpoint->gate(name, parameters, callable)`.
#include <holdpoint/holdpoint.h>

#include <iostream>

using namespace holdpoint;

std::string process_refund(const std::string& order, double amount) {
    return "refunded " + std::to_string(static_cast<int>(amount)) + " for order " + order;
}

int main() {
    // A person stands in here who never pays more than 25000; examples/basic_console.cpp asks you.
    EmbeddedOptions options;
    options.human = make_callback({.approval = [](const Request& request, std::stop_token) {
        Decision decision{.kind = DecisionKind::approve, .by = "ann"};
        if (request.arguments()["amount"].number().value_or(0) > 25000) {
            decision.kind = DecisionKind::modify;
            decision.replacement = request.arguments().with("amount", 25000);
        }
        return std::optional(decision);
    }});
    Result<Holdpoint> holdpoint = Holdpoint::embedded(options);
    if (!holdpoint) {
        std::cerr << holdpoint.error().message << "\n";
        return 1;
    }

    auto refund = holdpoint->gate("process_refund", {"orderId", "amount"}, process_refund);

    for (const double amount : {9000, 50000}) {
        const Run<std::string> done = refund("1234", amount);
        std::cout << (done ? *done : done.error().message) << "\n";
    }
}

#include <holdpoint/holdpoint.h>

#include <iostream>

int main() {
    using namespace holdpoint;
    EmbeddedOptions options;
    options.human = make_callback({.approval = [](const Request&, std::stop_token) {
        return std::optional(Decision{.kind = DecisionKind::approve, .by = "ann"});
    }});
    Result<Holdpoint> holdpoint = Holdpoint::embedded(options);
    if (!holdpoint) return 1;
    const Run<int> sum =
        holdpoint->gate("add", {"a", "b"}, [](int a, int b) { return a + b; })(40, 2);
    std::cout << (sum ? *sum : -1) << "\n";
}

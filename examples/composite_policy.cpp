// Policy in code: rules about amounts and roles, an assessor, and parts from several places.
// Whatever asks for a person wins, whoever wrote it and in whatever order.
#include <holdpoint/holdpoint.h>

#include <iostream>

using namespace holdpoint;

namespace {

/// What the payments team brings along.
PolicyPart payments() {
    PolicyPart part;
    part.tools = {{.name = "process_refund", .risk = RiskLevel::medium}};
    part.rules = {require_above("process_refund", "amount", 10000, {{"finance", 1}})};
    return part;
}

/// What the account team brings along: only staff may, and even then a person looks.
PolicyPart accounts() {
    PolicyPart part;
    part.tools = {{.name = "delete_order"}, {.name = "find_order", .is_read_only = true}};
    part.rules = {require_role("delete_order", "staff")};
    part.always_require = {"delete_order"};
    // Knows what no rule can say; it can only raise the risk.
    part.assessors = {[](const Action& action) -> Assessment {
        if (!action.arguments["orderId"].text_or("").starts_with("VIP-")) return {};
        return {.level = RiskLevel::high, .factors = {"an important customer"}};
    }};
    return part;
}

Holdpoint open_for(const std::string& user) {
    EmbeddedOptions options;
    options += payments();
    options += accounts();
    options.otherwise = Rule::Then::allow;      // what nobody names passes …
    options.auto_risk_max = RiskLevel::medium;  // … up to this risk
    options.groups = {{"finance", {"fay"}}, {"staff", {"sam"}}};
    options.labels.user = user;
    options.human = make_callback({.approval = [](const Request& request, std::stop_token) {
        std::cout << "    asked: " << request.because << "\n";
        return std::optional(Decision{.kind = DecisionKind::approve, .by = "fay"});
    }});
    return *Holdpoint::embedded(options);
}

}  // namespace

int main() {
    const std::vector<Action> actions = {
        {.tool = "find_order", .arguments = Json::object({{"orderId", "1"}})},
        {.tool = "find_order", .arguments = Json::object({{"orderId", "VIP-7"}})},
        {.tool = "process_refund", .arguments = Json::object({{"amount", 900}})},
        {.tool = "process_refund", .arguments = Json::object({{"amount", 50000}})},
        {.tool = "process_refund", .arguments = Json::object({{"amount", "much"}})},
        {.tool = "delete_order", .arguments = Json::object({{"orderId", "1"}})}};
    for (const char* user : {"sam", "guest"}) {
        Holdpoint holdpoint = open_for(user);
        std::cout << "for " << user << "\n";
        for (const Action& action : actions) {
            std::cout << "  " << action.tool << " " << action.arguments.dump() << "\n";
            const Run<Release> release = holdpoint.request(action);
            std::cout << "    " << (release ? "may run" : to_string(release.error().why)) << "\n";
        }
    }
}

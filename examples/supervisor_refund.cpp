// A supervisor hands a refund to a worker. Delegating is free; the worker's refund waits for a
// person, its notification does not: the check runs for every tool call, whoever makes it.
#include <holdpoint/agent.h>

#include <iostream>

using namespace holdpoint;

namespace {

Tool tool(const std::string& name, const std::string& result) {
    Tool tool;
    tool.name = name;
    tool.schema = *Json::parse(R"({"type": "object", "properties": {
        "orderId": {"type": "string"}, "amount": {"type": "number"}}})");
    tool.run = [result](const Json&, ToolContext&) -> Result<Json> { return Json(result); };
    return tool;
}

std::shared_ptr<Model> script(const char* turns) {
    return *make_scripted_model(*Json::parse(turns));
}

}  // namespace

int main() {
    EmbeddedOptions options;
    options.gates = {
        {.name = "refunds", .type = GateType::specific_tools, .tools = {"process_refund"}}};
    options.human = make_callback({.approval = [](const Request& request, std::stop_token) {
        std::cout << "asked:  " << request.headline << "\n";
        return std::optional(Decision{.kind = DecisionKind::approve, .by = "ann"});
    }});
    Result<Holdpoint> holdpoint = Holdpoint::embedded(options);
    if (!holdpoint) {
        std::cerr << holdpoint.error().message << "\n";
        return 1;
    }
    Agent worker{.name = "refund",
                 .tools = {tool("process_refund", "refund of 50000 completed"),
                           tool("send_notification", "customer told")},
                 .model = script(R"([
      {"call": [{"tool": "process_refund", "arguments": {"orderId": "1234", "amount": 50000}}]},
      {"call": [{"tool": "send_notification", "arguments": {"orderId": "1234"}}]},
      {"say": "Refunded, and the customer knows."}])")};
    const Agent boss = make_supervisor({.name = "supervisor", .model = script(R"([
      {"call": [{"tool": "delegate_to_refund", "arguments": {"task": "Refund order 1234"}}]},
      {"say": "The refund worker is done."}])")},
                                       {{worker, "Refunds an order and tells the customer."}});

    HumanInTheLoop loop(*holdpoint);
    const RunResult result = loop.execute(boss, "Refund order #1234");
    for (const Step& step : result.steps)
        std::cout << step.agent << ": " << step.tool << " -> " << step.message << "\n";
    std::cout << result.output << "\n";
}

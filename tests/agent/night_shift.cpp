// A program for tests that kill it: an agent in a named session, embedded. A supervisor lets its
// worker refund something, or an agent asks a question.
//
//     night_shift FOLDER worker|question [answer]
//
// Prints `asked ID` when a person is asked, who answers only if there is an answer to give, and at
// the end what the agent said. Each refund is a line in FOLDER/refunds.
#include <holdpoint/agent.h>

#include <fstream>
#include <iostream>
#include <string>

using namespace holdpoint;

namespace {

std::shared_ptr<Model> script(const char* turns) {
    return *make_scripted_model(*Json::parse(turns));
}

Agent supervisor(const std::string& folder) {
    Tool refund;
    refund.name = "refund";
    refund.schema =
        *Json::parse(R"({"type": "object", "properties": {"order": {"type": "string"}}})");
    refund.run = [folder](const Json& arguments, ToolContext&) -> Result<Json> {
        std::ofstream(folder + "/refunds", std::ios::app) << arguments.dump() << "\n";
        return Json("refunded");
    };
    const Agent worker{.name = "refunds", .tools = {refund}, .model = script(R"([
      {"call": [{"tool": "refund", "arguments": {"order": "1234"}}]},
      {"when": "refunded", "say": "The money is on its way."},
      {"say": "No money was moved. {{heard}}"}])")};
    return make_supervisor({.name = "boss", .model = script(R"([
      {"call": [{"tool": "delegate_to_refunds", "arguments": {"task": "Refund order 1234"}}]},
      {"say": "{{heard}}"}])")},
                           {{worker, "Refunds orders."}});
}

Agent asker(const Holdpoint& holdpoint) {
    return {.name = "asker", .tools = {human_input_tool(holdpoint)}, .model = script(R"([
      {"call": [{"tool": "request_human_input", "arguments": {"question": "Which colour?"}}]},
      {"say": "{{heard}}"}])")};
}

}  // namespace

int main(int count, char** words) {
    if (count < 3) return 2;
    const std::string folder = words[1];
    const std::string answer = count > 3 ? words[3] : "";
    const auto person = [&](const Request& request, const std::stop_token&) {
        std::cout << "asked " << request.id << std::endl;
        if (answer.empty()) return std::optional<Decision>();
        if (request.kind == Kind::input)
            return std::optional(Decision{.kind = DecisionKind::answer, .answer = answer});
        return std::optional(Decision{.kind = DecisionKind::approve});
    };
    EmbeddedOptions options;
    options.data = folder;
    options.labels.session = "night shift";
    options.human = make_callback({.approval = person, .input = person});
    options.gates = {{.name = "money", .type = GateType::specific_tools, .tools = {"refund"}}};
    Result<Holdpoint> holdpoint = Holdpoint::embedded(options);
    if (!holdpoint) {
        std::cout << holdpoint.error().message << std::endl;
        return 1;
    }
    HumanInTheLoop loop(*holdpoint, {.must_keep_requests = true});
    const bool has_worker = std::string_view(words[2]) == "worker";
    const RunResult result =
        loop.execute(has_worker ? supervisor(folder) : asker(*holdpoint), "Do your work");
    std::cout << result.output << std::endl;
}

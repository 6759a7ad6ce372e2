#include <fmt/format.h>
#include <holdpoint/agent.h>

namespace holdpoint {
namespace {

std::string system_text(const Agent& agent, const ToolRunner& runner) {
    std::string text = agent.system_prompt;
    const auto add = [&](const std::string& part) {
        if (!part.empty()) text += (text.empty() ? "" : "\n\n") + part;
    };
    std::vector<std::string> confirmed;
    for (const auto& [name, tool] : agent.tools.all())
        if (tool.preview) confirmed.push_back(name);
    if (!confirmed.empty()) add(confirmation_prompt(confirmed));
    add(runner.advice());
    return text;
}

class ReAct : public Pattern {
  public:
    explicit ReAct(ReActOptions options) : options_(std::move(options)) {}

    Result<std::string> work(const Agent& agent, std::vector<Message>& conversation,
                             ToolRunner& runner) override {
        if (!agent.model) return Error{ErrorCode::invalid_argument, "the agent has no model"};
        for (int turn = 0; turn < options_.iterations_max; ++turn) {
            if (runner.stop().stop_requested())
                return Error{ErrorCode::unavailable, "the run was stopped"};
            Result<Turn> answer = agent.model->complete(prompt_of(agent, conversation, runner));
            if (!answer) return answer.error();
            runner.add_usage(answer->usage);
            Message message = std::move(answer->message);
            // Whatever a model says, it says as the assistant: it cannot speak for people or tools.
            message.role = Role::assistant;
            name_calls(message, calls_);
            conversation.push_back(message);
            if (message.calls.empty()) return message.text;
            const std::vector<Step> steps = runner.run(agent, message);
            for (std::size_t i = 0; i < steps.size(); ++i)
                conversation.push_back({Role::tool, steps[i].message, {}, message.calls[i].id});
            if (runner.is_aborted()) return Error{ErrorCode::refused, "a person stopped the run"};
        }
        return Error{ErrorCode::too_large,
                     fmt::format("no answer after {} turns", options_.iterations_max)};
    }

  private:
    static void name_calls(Message& message, int& count) {
        for (ToolCall& call : message.calls) {
            ++count;
            if (call.id.empty()) call.id = fmt::format("call_{}", count);
        }
    }
    Model::Prompt prompt_of(const Agent& agent, const std::vector<Message>& conversation,
                            const ToolRunner& runner) const {
        Model::Prompt prompt;
        if (const std::string system = system_text(agent, runner); !system.empty())
            prompt.messages.push_back({Role::system, system, {}, ""});
        prompt.messages.insert(prompt.messages.end(), conversation.begin(), conversation.end());
        prompt.tools = &agent.tools;
        prompt.on_text = options_.on_text;
        prompt.stop = runner.stop();
        return prompt;
    }

    ReActOptions options_;
    int calls_ = 0;
};

}  // namespace

std::shared_ptr<Pattern> make_react(ReActOptions options) {
    return std::make_shared<ReAct>(std::move(options));
}

Tool delegate_tool(Agent worker, std::string description, std::shared_ptr<Pattern> pattern) {
    Tool tool;
    tool.name = "delegate_to_" + worker.name;
    tool.description = std::move(description);
    tool.schema =
        Json::object({{"type", "object"},
                      {"properties", Json::object({{"task", Json::object({{"type", "string"}})}})},
                      {"required", Json::texts({"task"})}});
    tool.facts.is_read_only = true;
    tool.only_asks = true;
    tool.run = [worker = std::move(worker), pattern = std::move(pattern)](
                   const Json& arguments, ToolContext& context) -> Result<Json> {
        if (!context.runner)
            return Error{ErrorCode::invalid_argument, "a worker needs a runner to be checked by"};
        std::vector<Message> conversation{{Role::user, arguments["task"].text_or(""), {}, ""}};
        const std::shared_ptr<Pattern> inner = pattern ? pattern : make_react();
        const Result<std::string> answer = inner->work(worker, conversation, *context.runner);
        if (!answer) return answer.error();
        return Json::object({{"answer", *answer}});
    };
    return tool;
}

Agent make_supervisor(Agent supervisor, std::vector<Worker> workers) {
    for (Worker& worker : workers)
        supervisor.tools.add(delegate_tool(std::move(worker.agent), std::move(worker.description)));
    return supervisor;
}

}  // namespace holdpoint

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "agent/backend.h"
#include "agent/client.h"
#include "agent/gated_runner.h"

namespace holdpoint {
namespace {

constexpr int final_tries_max = 3;

std::chrono::milliseconds since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                                 start);
}

std::shared_ptr<FeedbackMemory> own_memory(const std::string& session) {
    Result<std::shared_ptr<FeedbackMemory>> memory = FeedbackMemory::open({.session = session});
    if (memory) return *memory;
    spdlog::error("feedback is not remembered: {}", memory.error().message);
    return nullptr;
}

void log_failure(const Result<void>& stored) {
    if (!stored) spdlog::warn("feedback: {}", stored.error().message);
}

}  // namespace

struct HumanInTheLoop::Parts {
    Holdpoint holdpoint;
    HumanInTheLoopOptions options;
    std::shared_ptr<agent::Chronicle> chronicle = std::make_shared<agent::Chronicle>();
    agent::GatedRunner runner;
    std::vector<Message> conversation;

    Parts(Holdpoint given, HumanInTheLoopOptions chosen)
        : holdpoint(std::move(given)),
          options(std::move(chosen)),
          runner(holdpoint, chronicle, options) {
        if (!options.inner) options.inner = make_react();
        holdpoint.add(std::static_pointer_cast<Observer>(chronicle));
        if (!options.feedback) options.feedback = own_memory(holdpoint.session());
        if (!options.feedback) return;
        holdpoint.add(std::static_pointer_cast<Observer>(options.feedback));
        holdpoint.add(std::static_pointer_cast<Advisor>(options.feedback));
    }
    Parts(const Parts&) = delete;
    Parts& operator=(const Parts&) = delete;
    /// The Holdpoint may go on with other conversations, which are none of this one's business.
    ~Parts() {
        holdpoint.remove(std::static_pointer_cast<Observer>(chronicle));
        if (!options.feedback) return;
        holdpoint.remove(std::static_pointer_cast<Observer>(options.feedback));
        holdpoint.remove(std::static_pointer_cast<Advisor>(options.feedback));
    }

    Wait wait() const {
        return {.stop = options.stop, .must_keep_request = options.must_keep_requests};
    }

    /// Proposes the final answer; a person may want another one.
    Result<std::string> approved(const Agent& agent, std::string answer) {
        for (int tries = 0; tries < final_tries_max; ++tries) {
            Asking asking;
            asking.metadata = Json::object({{"agent", agent.name}});
            asking.context = runner.context("");
            const auto start = std::chrono::steady_clock::now();
            Run<std::string> released = holdpoint.respond(answer, asking, wait());
            runner.add_human_time(since(start));
            if (released) return std::move(*released);
            const NotRun& why = released.error();
            if (why.why == Why::aborted) runner.abort();
            if (why.why != Why::rejected && why.why != Why::deferred)
                return Error{ErrorCode::refused, why.message};
            conversation.push_back(
                {Role::system, "Your answer was not given. " + why.message, {}, ""});
            Result<std::string> again = options.inner->work(agent, conversation, runner);
            if (!again) return again;
            answer = std::move(*again);
        }
        return Error{ErrorCode::refused, "no answer was approved"};
    }
};

HumanInTheLoop::HumanInTheLoop(Holdpoint holdpoint, HumanInTheLoopOptions options)
    : parts_(std::make_unique<Parts>(std::move(holdpoint), std::move(options))) {}
HumanInTheLoop::~HumanInTheLoop() = default;
HumanInTheLoop::HumanInTheLoop(HumanInTheLoop&&) noexcept = default;

RunResult HumanInTheLoop::execute(const Agent& agent, const std::string& person_wrote) {
    const auto start = std::chrono::steady_clock::now();
    RunResult result;
    parts_->chronicle->follow_this_thread();
    const std::vector<ConfirmedAction> confirmed = parts_->runner.begin(agent, person_wrote);
    parts_->conversation.push_back({Role::user, person_wrote, {}, ""});
    for (const ConfirmedAction& one : confirmed)
        parts_->conversation.push_back(
            {Role::system,
             fmt::format(
                 "The person confirmed `{}` with {}. Call it again with the same arguments, "
                 "confirmed: true and confirmation_token: {}",
                 one.tool, one.arguments.dump(), one.token),
             {},
             ""});
    Result<std::string> answer =
        parts_->options.inner->work(agent, parts_->conversation, parts_->runner);
    if (answer && parts_->options.must_approve_final)
        answer = parts_->approved(agent, std::move(*answer));
    result.success = answer.has_value();
    result.output = answer ? *answer : answer.error().message;
    parts_->runner.end(result);
    result.execution_time = since(start);
    result.conversation = parts_->conversation;
    return result;
}

Run<Release> HumanInTheLoop::request_approval(const Action& action) {
    parts_->chronicle->follow_this_thread();
    return parts_->holdpoint.request(action, parts_->wait());
}

Run<std::string> HumanInTheLoop::request_guidance(const std::string& situation,
                                                  const std::vector<std::string>& options) {
    parts_->chronicle->follow_this_thread();
    Question question{.question = situation, .options = options};
    if (!options.empty()) question.type = InputType::choice;
    // settle() instead of ask(): beside the words it says whose they are.
    const Run<Request> settled = parts_->holdpoint.settle(agent::body_of(question), parts_->wait());
    if (!settled) return std::unexpected(settled.error());
    if (settled->outcome != Outcome::answered || !settled->decision)
        return std::unexpected(agent::not_run(*settled));
    std::string words = settled->decision->answer.text_or("");
    if (parts_->options.feedback)
        log_failure(parts_->options.feedback->guide(words, settled->decision->by));
    return words;
}

void HumanInTheLoop::correct(const std::string& text, const std::string& by) {
    if (parts_->options.feedback) log_failure(parts_->options.feedback->correct(text, by));
}

std::vector<Feedback> HumanInTheLoop::feedback_history() const {
    return parts_->options.feedback ? parts_->options.feedback->history() : std::vector<Feedback>{};
}
const std::vector<AuditEntry>& HumanInTheLoop::audit_log() const {
    return parts_->chronicle->audit;
}

}  // namespace holdpoint

#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <holdpoint/confirmation.h>
#include <holdpoint/feedback.h>
#include <holdpoint/holdpoint.h>
#include <holdpoint/model.h>
#include <holdpoint/tool.h>

namespace holdpoint {

/// A model with its tools and its task.
struct Agent {
    std::string name = "agent";
    std::string system_prompt = {};
    Toolbox tools = {};
    std::shared_ptr<Model> model = {};
};

/// What happened to one tool call.
struct Step {
    std::string agent;
    std::string tool;
    Json arguments;  ///< those that ran, or that would have
    bool has_run = false;
    bool is_replayed = false;     ///< it ran before a restart: `output` is what it gave then
    bool is_success = false;      ///< it ran and gave no error
    Json output = {};             ///< what the tool gave
    std::string message = {};     ///< what the model was told
    std::string reasoning = {};   ///< what the model said beside the call
    std::optional<Why> why = {};  ///< why it did not run
    std::string request_id = {};
};

/// One line of what was asked and answered (L1).
struct AuditEntry {
    std::string request_id, at, gate, headline, outcome, by, session;
    double response_s = 0;
    std::string afterwards;  ///< `ran`, `failed`, `not run`
};

/// What a run came to (A4).
struct RunResult {
    bool success = false;
    std::string output = {};  ///< the final answer, or why there is none
    std::vector<Request> requests = {};
    std::vector<Decision> responses = {};
    std::vector<std::pair<Request, Decision>> rejections = {};
    std::vector<Release> modifications = {};
    std::vector<AuditEntry> audit = {};
    std::vector<Step> steps = {};  ///< every tool call, in order: which ran and which did not
    Usage usage = {};
    std::chrono::milliseconds execution_time{0};
    std::chrono::milliseconds human_time{0};  ///< of it, spent waiting for people
    bool is_aborted = false;                  ///< it was stopped; `steps` says how far it came
    /// What the person's next word may confirm. It stands at the end of `output` too; a program
    /// that shows something else in place of `output` must show the texts of these.
    std::vector<AwaitingConfirmation> awaiting_confirmation = {};
    std::vector<Message> conversation = {};
};

/// The only way for a pattern to run tools.
class ToolRunner {
  public:
    virtual ~ToolRunner() = default;

    /// Runs the calls of one turn of the model and gives an answer to each, in order. What the
    /// model said beside them is shown to people as its reasoning. Never throws.
    virtual std::vector<Step> run(const Agent& agent, const Message& turn) = 0;
    /// True once a person stopped the run: nothing more may be proposed.
    virtual bool is_aborted() const = 0;
    virtual void add_usage(const Usage& usage) = 0;
    /// What the next prompt should say besides.
    virtual std::string advice() const = 0;
    virtual std::stop_token stop() const = 0;
};

/// A way for an agent to work on a task.
class Pattern {
  public:
    virtual ~Pattern() = default;
    /// Goes on with a conversation whose last message is a person's; gives the final answer.
    virtual Result<std::string> work(const Agent& agent, std::vector<Message>& conversation,
                                     ToolRunner& runner) = 0;
};

struct ReActOptions {
    int iterations_max = 20;
    std::function<void(std::string_view)> on_text = {};
};
/// Think, act, observe: the model calls tools until it answers in words.
std::shared_ptr<Pattern> make_react(ReActOptions options = {});

/// Wraps a pattern so that every tool call of every agent in it is checked (A2, A3).
struct HumanInTheLoopOptions {
    std::shared_ptr<Pattern> inner = {};  ///< ReAct if empty
    bool must_approve_final = false;      ///< propose the final answer too; policy decides
    std::function<void(const Step&)> on_step = {};
    std::stop_token stop = {};
    /// What people taught the agent; it refuses what they rejected and enters the prompts. Empty:
    /// one of its own, gone with the process.
    std::shared_ptr<FeedbackMemory> feedback = {};
    bool must_keep_requests = false;  ///< when stopped: what waits stays for a later process
};

/// One conversation under human control; it leaves nothing behind in the Holdpoint when it ends.
/// One caller at a time.
class HumanInTheLoop {
  public:
    explicit HumanInTheLoop(Holdpoint holdpoint, HumanInTheLoopOptions options = {});
    ~HumanInTheLoop();
    HumanInTheLoop(HumanInTheLoop&&) noexcept;

    /// Works on what a person wrote. Called again, it goes on with the same conversation: that is
    /// how a person confirms, too.
    RunResult execute(const Agent& agent, const std::string& person_wrote);

    Run<Release> request_approval(const Action& action);
    /// What should be done here, in a person's words; or which of the options.
    Run<std::string> request_guidance(const std::string& situation,
                                      const std::vector<std::string>& options = {});
    /// A person's correction of something the agent said; the following prompts contain it.
    void correct(const std::string& text, const std::string& by);

    std::vector<Feedback> feedback_history() const;
    const std::vector<AuditEntry>& audit_log() const;

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

/// A tool that hands a task to another agent, whose every tool call is checked as if it stood
/// alone. Delegating needs no approval by itself: it changes nothing.
Tool delegate_tool(Agent worker, std::string description, std::shared_ptr<Pattern> pattern = {});

/// An agent that has workers: its own tools, and one `delegate_to_<name>` for each of them.
struct Worker {
    Agent agent;
    std::string description;
};
Agent make_supervisor(Agent supervisor, std::vector<Worker> workers);

}  // namespace holdpoint

#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <holdpoint/agent.h>

namespace holdpoint::agent {

/// Collects what happens to the requests of one conversation. Observers hear of a request on the
/// thread that asked, so what other threads do with the same Holdpoint is left out.
class Chronicle : public Observer {
  public:
    /// What this thread asks from now on belongs here.
    void follow_this_thread() { owner_ = std::this_thread::get_id(); }
    void on_decided(const Request& request) override;
    void on_ran(const Request& request, const Release& release, const Ran& ran) override;

    /// What was collected since the last call goes into the result.
    void move_into(RunResult& result);

    std::vector<AuditEntry> audit;  ///< of all runs

  private:
    bool is_ours() const { return owner_.load() == std::this_thread::get_id(); }

    std::atomic<std::thread::id> owner_;
    std::vector<Request> requests_;
    std::size_t audit_told_ = 0;
};

/// Runs tool calls behind a Holdpoint: unknown tools, arguments that do not fit and unconfirmed
/// calls never get as far as being proposed; the rest runs as it was released, or not at all.
class GatedRunner : public ToolRunner {
  public:
    GatedRunner(Holdpoint holdpoint, std::shared_ptr<Chronicle> chronicle,
                HumanInTheLoopOptions options)
        : holdpoint_(std::move(holdpoint)),
          chronicle_(std::move(chronicle)),
          options_(std::move(options)) {}

    /// A person speaks: gives what this confirms, if anything.
    std::vector<ConfirmedAction> begin(const Agent& agent, const std::string& person_wrote);
    /// Success and output must stand in the result already.
    void end(RunResult& result);

    std::vector<Step> run(const Agent& agent, const Message& turn) override;
    bool is_aborted() const override { return is_aborted_; }
    void abort() { is_aborted_ = true; }
    void add_usage(const Usage& usage) override {
        usage_ += usage;
        unreported_tokens_ += usage.total();
    }
    std::string advice() const override;
    std::stop_token stop() const override { return options_.stop; }

    void add_human_time(std::chrono::milliseconds time) { human_time_ += time; }
    /// What people should know before they decide.
    Context context(const std::string& reasoning) const;

  private:
    struct Prepared {
        const Tool* tool = nullptr;  ///< null: it does not get any further
        Action action;
    };
    Result<void> declare(const Agent& agent);
    Prepared prepare(const Agent& agent, const ToolCall& call, const Context& about, Step& step);
    bool is_confirmed(const Tool& tool, Json& arguments, Step& step);
    void show_confirmations(RunResult& result);
    void execute(const Agent& agent, const Tool& tool, const Release& release, Step& step);
    std::vector<Run<Release>> ask(const std::vector<Action>& actions);

    Holdpoint holdpoint_;
    std::shared_ptr<Chronicle> chronicle_;
    HumanInTheLoopOptions options_;
    ConfirmationDesk confirmations_;
    /// What policy was told of agents' tools, for as long as this lives.
    std::map<std::string, std::shared_ptr<void>> declared_;
    std::string prompt_;  ///< what the person wrote
    std::vector<Step> steps_;
    Usage usage_;
    /// Tokens that no report has told policy yet: they go with the next call that runs.
    std::int64_t unreported_tokens_ = 0;
    std::chrono::milliseconds human_time_{0};
    bool is_aborted_ = false;
};

}  // namespace holdpoint::agent

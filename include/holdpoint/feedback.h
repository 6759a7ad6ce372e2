#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdpoint/observer.h>
#include <holdpoint/request.h>
#include <holdpoint/result.h>

namespace holdpoint {

enum class FeedbackKind {
    rejection,     ///< why an action was refused; it is not proposed again
    modification,  ///< how an action was changed; a preference from now on
    guidance,      ///< which way to go instead
    correction     ///< what was wrong about something the agent said or did
};

/// `rejection`, `modification`, `guidance`, `correction`.
std::string_view to_string(FeedbackKind kind);

/// One thing that a person told the agent.
struct Feedback {
    std::string request_id = {};  ///< empty: said outside of any request
    FeedbackKind kind = FeedbackKind::rejection;
    std::string tool = {};
    std::string text = {};  ///< the reason, guidance or correction; may be empty
    Json before = {};       ///< the arguments as the agent proposed them
    Json after = {};        ///< of a modification: what ran instead
    std::string by = {};    ///< who
    std::string at = {};    ///< when, RFC 3339
    std::string session = {};
    std::int64_t id = 0;         ///< ascends with time
    std::string lifted_by = {};  ///< a rejection that no longer counts, and who said so
};

struct FeedbackOptions {
    /// An SQLite file that keeps everything across restarts; empty: gone with the process.
    std::string file = {};
    /// Whose feedback counts: what was said in other sessions of the file is left alone. Use the
    /// session of Labels.
    std::string session = {};
    /// What relative paths and `~` in actions mean, where that is known.
    std::string working_directory = {}, home = {};
    std::size_t advice_bytes_max = 4000;
    /// Told what could not be stored (it still counts in this process); spdlog's default otherwise.
    std::function<void(std::string_view)> log = {};
};

/// What people told the agent in a session, and what follows from it: a rejected action is refused
/// when it comes again, also in another spelling, without asking anybody; everything else enters
/// the prompts. Give it to a Holdpoint as observer and as advisor. Any thread.
class FeedbackMemory : public Observer, public Advisor {
  public:
    /// Fails with unavailable where the file cannot be opened, and with invalid_argument where it
    /// is something else.
    static Result<std::shared_ptr<FeedbackMemory>> open(FeedbackOptions options);
    ~FeedbackMemory() override;

    /// Remembers what the decision says: a rejection or abort of an action, its modification,
    /// guidance of any decision. Whoever approves what was rejected before lifts the rejection.
    void on_decided(const Request& request) override;

    /// The earlier reason, for an action that is the same as a rejected one.
    std::optional<std::string> refuses(const Action& action) override;
    /// What to avoid, what people prefer, where they want to go; at most advice_bytes_max.
    std::string advice() override;

    /// What a person says outside of a decision. invalid_argument for an empty text; unavailable
    /// where it could not be stored, and then it counts in this process only.
    Result<void> guide(std::string_view text, std::string_view by);
    Result<void> correct(std::string_view text, std::string_view by,
                         std::string_view request_id = {});
    /// A person takes a rejection back. not_found for an id that is no rejection of this session.
    Result<void> lift(std::int64_t id, std::string_view by);

    /// Everything of this session, oldest first.
    std::vector<Feedback> history() const;

  private:
    struct State;
    explicit FeedbackMemory(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace holdpoint

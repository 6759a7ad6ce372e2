#include <spdlog/spdlog.h>

#include <algorithm>
#include <mutex>

#include <fmt/format.h>
#include <holdpoint/feedback.h>

#include "agent/feedback/advice.h"
#include "agent/feedback/avoid.h"
#include "agent/feedback/log.h"
#include "base/clock.h"

namespace holdpoint {

namespace feedback = agent::feedback;

struct FeedbackMemory::State {
    State(FeedbackOptions given, feedback::Log opened)
        : options(std::move(given)),
          log(std::move(opened)),
          avoid({.paths = {options.working_directory, options.home}, .kinds = {}}) {}

    /// Counts at once, whether it can be stored or not.
    Result<void> remember(Feedback item);
    Result<void> lift(std::int64_t id, std::string_view by);
    void complain(const Error& error) const {
        if (options.log) return options.log(error.message);
        spdlog::warn("{}", error.message);
    }

    const FeedbackOptions options;
    mutable std::mutex mutex;
    feedback::Log log;              // guarded by mutex
    feedback::AvoidList avoid;      // guarded by mutex
    std::vector<Feedback> history;  // guarded by mutex
    std::int64_t unstored = 0;      // guarded by mutex; ids of what is only here are negative
};

namespace {

std::string now_text() { return to_string(read_system_clock().wall); }

bool is_refusal(const Request& request) {
    return request.kind == Kind::action &&
           (request.outcome == Outcome::rejected || request.outcome == Outcome::aborted);
}

/// Whether a release was decided after the rejection. A program that starts again hears about old
/// decisions once more, and those must not undo newer ones.
bool is_later(const Decision& decision, const Feedback& rejection) {
    const Result<Timestamp> released_at = parse_timestamp(decision.at);
    const Result<Timestamp> rejected_at = parse_timestamp(rejection.at);
    return released_at && rejected_at && *released_at >= *rejected_at;
}

/// What the agent proposed, whatever people made of it.
Json proposed_arguments(const Request& request) {
    return request.proposed.is_null() ? request.arguments() : request.proposed;
}

Feedback feedback_about(const Request& request, FeedbackKind kind, const std::string& session) {
    const Decision& decision = *request.decision;
    Feedback item{.request_id = request.id, .kind = kind, .session = session};
    if (request.kind == Kind::action) {
        item.tool = request.tool();
        item.before = proposed_arguments(request);
    }
    item.by = decision.by;
    item.at = decision.at.empty() ? now_text() : decision.at;
    return item;
}

/// Everything one decision says.
std::vector<Feedback> feedback_in(const Request& request, const std::string& session) {
    std::vector<Feedback> found;
    const Decision& decision = *request.decision;
    if (is_refusal(request)) {
        Feedback item = feedback_about(request, FeedbackKind::rejection, session);
        item.text = decision.reason.empty() ? decision.note : decision.reason;
        found.push_back(std::move(item));
    }
    if (request.outcome == Outcome::modified && request.kind == Kind::action) {
        Feedback item = feedback_about(request, FeedbackKind::modification, session);
        item.after = request.release ? request.release->arguments : request.arguments();
        item.text = decision.note.empty() ? decision.reason : decision.note;
        found.push_back(std::move(item));
    }
    if (!decision.guidance.empty()) {
        Feedback item = feedback_about(request, FeedbackKind::guidance, session);
        item.text = decision.guidance;
        found.push_back(std::move(item));
    }
    return found;
}

}  // namespace

std::string_view to_string(FeedbackKind kind) {
    switch (kind) {
        case FeedbackKind::rejection:
            return "rejection";
        case FeedbackKind::modification:
            return "modification";
        case FeedbackKind::guidance:
            return "guidance";
        case FeedbackKind::correction:
            return "correction";
    }
    return "unknown";
}

Result<void> FeedbackMemory::State::remember(Feedback item) {
    const std::scoped_lock lock(mutex);
    const Result<std::int64_t> id = log.add(item);
    item.id = id ? *id : --unstored;
    const bool is_known =
        std::ranges::any_of(history, [&](const Feedback& other) { return other.id == item.id; });
    if (!is_known) {
        avoid.add(item);
        history.push_back(std::move(item));
    }
    if (!id) return id.error();
    return {};
}

Result<void> FeedbackMemory::State::lift(std::int64_t id, std::string_view by) {
    for (Feedback& item : history) {
        if (item.id == id) item.lifted_by = by.empty() ? "somebody" : std::string(by);
    }
    avoid.remove(id);
    return log.lift(id, by.empty() ? "somebody" : by, now_text());
}

FeedbackMemory::FeedbackMemory(std::unique_ptr<State> state) : state_(std::move(state)) {}
FeedbackMemory::~FeedbackMemory() = default;

Result<std::shared_ptr<FeedbackMemory>> FeedbackMemory::open(FeedbackOptions options) {
    Result<feedback::Log> log = feedback::Log::open(options.file);
    if (!log) return log.error();
    Result<std::vector<Feedback>> history = log->all(options.session);
    if (!history) return history.error();
    auto state = std::make_unique<State>(std::move(options), std::move(*log));
    for (const Feedback& item : *history) state->avoid.add(item);
    state->history = std::move(*history);
    return std::shared_ptr<FeedbackMemory>(new FeedbackMemory(std::move(state)));
}

void FeedbackMemory::on_decided(const Request& request) {
    // What policy refuses it refuses again by itself, and silence is nobody's word.
    if (!request.decision) return;
    for (Feedback& item : feedback_in(request, state_->options.session)) {
        if (Result<void> stored = state_->remember(std::move(item)); !stored) {
            state_->complain(stored.error());
        }
    }
    if (!request.release || request.kind != Kind::action) return;
    const std::scoped_lock lock(state_->mutex);
    for (const Feedback& rejection :
         state_->avoid.find_all(request.tool(), request.release->arguments)) {
        if (!is_later(*request.decision, rejection)) continue;
        if (Result<void> lifted = state_->lift(rejection.id, request.decision->by); !lifted) {
            state_->complain(lifted.error());
        }
    }
}

std::optional<std::string> FeedbackMemory::refuses(const Action& action) {
    const std::scoped_lock lock(state_->mutex);
    const Feedback* rejection = state_->avoid.find(action.tool, action.arguments);
    if (rejection == nullptr) return std::nullopt;
    return feedback::refusal_text(*rejection);
}

std::string FeedbackMemory::advice() {
    const std::scoped_lock lock(state_->mutex);
    return feedback::advice_text(state_->history, state_->options.advice_bytes_max);
}

Result<void> FeedbackMemory::guide(std::string_view text, std::string_view by) {
    if (text.empty()) return Error{ErrorCode::invalid_argument, "guidance is empty", "text"};
    return state_->remember({.kind = FeedbackKind::guidance,
                             .text = std::string(text),
                             .by = std::string(by),
                             .at = now_text(),
                             .session = state_->options.session});
}

Result<void> FeedbackMemory::correct(std::string_view text, std::string_view by,
                                     std::string_view request_id) {
    if (text.empty()) return Error{ErrorCode::invalid_argument, "correction is empty", "text"};
    return state_->remember({.request_id = std::string(request_id),
                             .kind = FeedbackKind::correction,
                             .text = std::string(text),
                             .by = std::string(by),
                             .at = now_text(),
                             .session = state_->options.session});
}

Result<void> FeedbackMemory::lift(std::int64_t id, std::string_view by) {
    const std::scoped_lock lock(state_->mutex);
    const bool is_rejection = std::ranges::any_of(state_->history, [&](const Feedback& item) {
        return item.id == id && item.kind == FeedbackKind::rejection;
    });
    if (!is_rejection) {
        return Error{ErrorCode::not_found, fmt::format("no rejection {} in this session", id)};
    }
    return state_->lift(id, by);
}

std::vector<Feedback> FeedbackMemory::history() const {
    const std::scoped_lock lock(state_->mutex);
    return state_->history;
}

}  // namespace holdpoint

#include "cli/inbox_plain.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "cli/answer_value.h"
#include "cli/change.h"
#include "cli/decision.h"
#include "cli/detail.h"
#include "cli/duration.h"
#include "cli/event_stream.h"
#include "cli/inbox_model.h"
#include "cli/json_text.h"
#include "cli/marks.h"
#include "cli/resource.h"
#include "cli/terminal.h"

namespace holdpoint::cli {
namespace {

/// The first word of `text`, which loses it.
std::string take_word(std::string& text) {
    text.erase(0, std::min(text.find_first_not_of(" \t"), text.size()));
    const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
    std::string word = text.substr(0, end);
    text.erase(0, std::min(text.find_first_not_of(" \t", end), text.size()));
    return word;
}

constexpr std::string_view help_text =
    "list, show N, approve N, reject N REASON, modify N JSON, answer N VALUE, defer N GUIDANCE,\n"
    "escalate N TO, abort N REASON, quit. N is the number in front of a request.";

class PlainInbox {
  public:
    PlainInbox(Session& session, Query filters) : session_(session), filters_(std::move(filters)) {}

    ExitCode run() {
        EventStream stream(
            session_.client, filters_,
            {[this] { opened(); }, [this](const ServerEvent& event) { take_event(event); },
             [this](const Failure& failure, int) { lost(failure); },
             [this](const Failure& failure) { code_ = session_.out.fail(failure); }});
        while (!code_) {
            const int pause_ms = stream.tick(steady_ms());
            // Commands wait until there is something to name.
            const int input = is_open_ ? STDIN_FILENO : -1;
            if (!session_.client.pump(pause_ms, input)) continue;
            std::optional<std::string> line = read_stdin_line();
            if (!line) break;
            obey(std::move(*line));
        }
        return code_.value_or(worst_);
    }

  private:
    void opened() {
        if (std::exchange(is_open_, true))
            session_.out.say("connected again");
        else
            list();
    }
    void lost(const Failure& failure) {
        // A server that was never there is an error, not an interruption.
        if (!is_open_)
            code_ = session_.out.fail(failure);
        else
            session_.out.say(visible(failure.error.message) + "; trying again");
    }
    void list() {
        Query query = filters_;
        std::erase_if(query, [](const auto& part) { return part.first == "state"; });
        query.emplace_back("state", "pending");
        Answer<std::vector<Request>> requests = list_requests(session_.client, query, 1000);
        if (!requests) {
            worst_ = std::max(worst_, session_.out.fail(requests.error()));
            return;
        }
        const Timestamp at = now();
        std::sort(requests->begin(), requests->end(),
                  [at](const Request& a, const Request& b) { return comes_before(a, b, at); });
        shown_ = std::move(*requests);
        session_.out.data(shown_.empty() ? "Nothing needs you."
                                         : fmt::format("{} waiting", shown_.size()));
        for (std::size_t i = 0; i < shown_.size(); ++i) print_row(i);
    }
    void print_row(std::size_t i) const {
        const Request& request = shown_[i];
        session_.out.data(fmt::format("{}. {}, {}, {} left, {}: {}", i + 1,
                                      core::to_string(request.risk), core::to_string(request.kind),
                                      short_duration(request.expires_at - now()),
                                      visible(request.agent), visible_again(request.headline)));
    }
    void take_event(const ServerEvent& event) {
        const Result<json::value> data = json::parse(event.data, answer_limits);
        if (!data) return skipped(data.error());
        const Result<Request> request = read_request(member(*data, "request"));
        if (!request) return skipped(request.error());
        const auto known = std::find_if(shown_.begin(), shown_.end(), [&](const Request& other) {
            return other.id == request->id;
        });
        if (known == shown_.end()) {
            if (!request->is_pending()) return;
            shown_.push_back(*request);
            print_row(shown_.size() - 1);
        } else if (request->outcome && known->is_pending()) {
            *known = *request;
            session_.out.data(
                fmt::format("{}. {}", known - shown_.begin() + 1, standing(*request, now())));
        }
    }
    /// What cannot be read may be a request that waits: whoever sees nothing must know that.
    void skipped(const Error& error) const {
        session_.out.say("skipped an event that cannot be read: " + visible(error.message));
    }
    const Request* named(const std::string& word) const {
        std::size_t number = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
        if (error != std::errc{} || end != word.data() + word.size() || number < 1 ||
            number > shown_.size())
            return nullptr;
        return &shown_[number - 1];
    }
    void complain(const Error& error) { worst_ = std::max(worst_, session_.out.fail(error)); }

    void obey(std::string line) {
        const std::string verb = take_word(line);
        if (verb.empty()) return;
        if (verb == "quit" || verb == "q") {
            code_ = worst_;
            return;
        }
        if (verb == "list" || verb == "refresh") return list();
        if (verb == "help" || verb == "?") return session_.out.data(help_text);
        const std::string number = take_word(line);
        const Request* found = named(number);
        if (found == nullptr)
            return complain(
                {ErrorCode::invalid_argument, fmt::format("`{} {}` names no request; see `help`",
                                                          visible(verb), visible(number))});
        const Request request = *found;
        if (verb == "show")
            session_.out.print(describe(request, nullptr, now(), 100).lines);
        else
            decide(verb, request, line);
    }

    void decide(const std::string& verb, const Request& request, const std::string& rest) {
        const auto kind = core::parse_word<core::DecisionKind>(verb);
        if (!kind)
            return complain({ErrorCode::invalid_argument,
                             fmt::format("`{}` is not a command; see `help`", visible(verb))});
        json::object body{{"decision", verb}};
        const auto put = [&](const char* part) {
            if (!rest.empty()) body[part] = rest;
        };
        switch (*kind) {
            case core::DecisionKind::approve:
                put("note");
                break;
            case core::DecisionKind::reject:
            case core::DecisionKind::abort:
                put("reason");
                break;
            case core::DecisionKind::defer:
                put("guidance");
                break;
            case core::DecisionKind::escalate:
                put("to");
                break;
            case core::DecisionKind::answer: {
                const Result<json::value> value = answer_value(request, {rest});
                if (!value) return complain(value.error());
                body["answer"] = *value;
                break;
            }
            case core::DecisionKind::modify: {
                if (const auto refusal = change_refusal(request)) return complain(*refusal);
                const Result<Change> change = read_change(request, rest);
                if (!change) return complain(change.error());
                body = change_body(request, *change);
                break;
            }
        }
        const bool is_release =
            *kind == core::DecisionKind::approve || *kind == core::DecisionKind::modify;
        if (is_release) {
            const Result<std::string> code = confirm_release(session_.out, request, {});
            if (!code) return complain(code.error());
            if (!code->empty()) body["confirm"] = *code;
        }
        worst_ = std::max(worst_, send_decision(session_, request, std::move(body)));
    }

    Session& session_;
    Query filters_;
    std::vector<Request> shown_;  // numbered from 1; numbers hold until the next `list`
    bool is_open_ = false;
    ExitCode worst_ = ExitCode::fine;
    std::optional<ExitCode> code_;
};

}  // namespace

ExitCode run_plain_inbox(Session& session, const Query& filters) {
    return PlainInbox(session, filters).run();
}

}  // namespace holdpoint::cli

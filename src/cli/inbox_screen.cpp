#include "cli/inbox_screen.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "cli/answer_value.h"
#include "cli/decision.h"
#include "cli/editor.h"
#include "cli/json_text.h"
#include "cli/marks.h"

namespace holdpoint::cli {
namespace {

constexpr std::size_t requests_max = 1000;

std::string to_utf8(const std::u32string& text) {
    std::string out;
    for (char32_t c : text) append_utf8(out, c);
    return out;
}

}  // namespace

InboxScreen::InboxScreen(Session& session, Query filters, const json::value& me)
    : session_(session), filters_(std::move(filters)), name_(visible(text_of(me, "name"))) {
    const std::string role = text_of(me, "role");
    may_decide_at_all_ = role == "approver" || role == "admin";
    if (!may_decide_at_all_) name_ += ", read only";
}

InboxScreen::~InboxScreen() = default;

ExitCode InboxScreen::run() {
    EventStream::Handlers handlers;
    handlers.on_open = [this] {
        reconnect_at_ms_ = 0;
        load("");
    };
    handlers.on_event = [this](const ServerEvent& event) { take_event(event); };
    handlers.on_lost = [this](const Failure&, int pause_ms) {
        reconnect_at_ms_ = steady_ms() + pause_ms;
        is_loading_ = false;
    };
    handlers.on_refused = [this](const Failure& failure) { ended_by_ = failure; };
    stream_ = std::make_unique<EventStream>(session_.client, filters_, std::move(handlers));
    screen_ = std::make_unique<Screen>(session_.out.has_color());

    while (!is_quitting_ && !ended_by_ && !Screen::is_ending() && screen_->is_alive()) {
        draw();
        // Up to the next full second, so that all countdowns move together.
        const int to_second_ms = static_cast<int>(1000 - now().ms % 1000);
        const int pause_ms = std::min(to_second_ms, stream_->tick(steady_ms()));
        session_.client.pump(pause_ms, STDIN_FILENO);
        for (const Key& key : screen_->keys()) {
            const bool was_asked = prompt_.has_value();
            press(key);
            // What was typed in one go with the key that opened a question cannot answer it.
            if (prompt_ && !was_asked) break;
        }
    }
    stream_.reset();
    screen_.reset();
    if (ended_by_) return session_.out.fail(*ended_by_);
    return Screen::is_ending() ? ExitCode::interrupted : ExitCode::fine;
}

// ---- What happens.

void InboxScreen::load(const std::string& cursor) {
    if (cursor.empty()) loading_.clear();
    is_loading_ = true;
    Query query = filters_;
    std::erase_if(query, [](const auto& part) { return part.first == "state"; });
    query.emplace_back("state", "pending");
    query.emplace_back("limit", "100");
    if (!cursor.empty()) query.emplace_back("cursor", cursor);
    session_.client.start({.path = "/v1/requests", .query = query}, [this](Answer<Reply> reply) {
        if (!reply) {
            is_loading_ = false;
            message_ = {Style::bad, visible(reply.error().error.message)};
            return;
        }
        if (const json::array* items = member(reply->body, "requests").if_array())
            for (const json::value& item : *items)
                if (Result<Request> request = read_request(item))
                    loading_.push_back(std::move(*request));
        const std::string next = text_of(reply->body, "next_cursor");
        if (!next.empty() && loading_.size() < requests_max) return load(next);
        if (!next.empty())
            message_ = {Style::high, fmt::format("only the newest {} are shown; narrow with flags",
                                                 loading_.size())};
        const Request* before = model_.selected();
        const std::string selected_id = before != nullptr ? before->id : "";
        model_.replace(std::move(loading_), now());
        loading_.clear();
        is_loading_ = false;
        is_loaded_ = true;
        arming_.screen_changed(steady_ms());
        const Request* after = model_.selected();
        if (after == nullptr || after->id != selected_id) selection_changed();
    });
}

void InboxScreen::take_event(const ServerEvent& event) {
    const Result<json::value> data = json::parse(event.data, answer_limits);
    if (!data) return skipped(data.error());
    const Result<Request> request = read_request(member(*data, "request"));
    if (!request) return skipped(request.error());
    take_request(*request, text_of(*data, "actor"));
}

/// What cannot be read may be a request that waits: whoever sees nothing must know that.
void InboxScreen::skipped(const Error& error) {
    message_ = {Style::bad, "skipped an event that cannot be read: " + visible(error.message)};
}

void InboxScreen::take_request(const Request& request, const std::string& by_whom) {
    const Request* before = model_.selected();
    const std::string selected_id = before != nullptr ? before->id : "";
    const bool is_new_digest =
        before != nullptr && before->id == request.id && before->digest != request.digest;
    if (!model_.update(request, now())) return;
    arming_.screen_changed(steady_ms());
    if (request.id == timeline_id_) load_timeline();
    if (is_new_digest) seen_lines_ = 0;
    if (!request.is_pending() && prompt_ && prompt_->request_id == request.id) prompt_.reset();
    if (!request.is_pending() && change_ && change_->first.id == request.id) {
        change_.reset();
        mode_ = Mode::list;
    }
    if (!request.is_pending() && request.id != busy_id_ && visible(by_whom) != name_)
        message_ = {
            style_of(*request.outcome),
            fmt::format("{}: {}", visible_again(request.headline), standing(request, now()))};
    const Request* after = model_.selected();
    if (after == nullptr || after->id != selected_id) {
        // The one that was read is gone: back to the list, so that the next one is not taken for
        // it.
        if (mode_ == Mode::detail) mode_ = Mode::list;
        selection_changed();
    }
}

void InboxScreen::selection_changed() {
    arming_.screen_changed(steady_ms());
    detail_top_ = 0;
    seen_lines_ = 0;
    load_timeline();
}

void InboxScreen::load_timeline() {
    const Request* request = model_.selected();
    if (request == nullptr) return;
    if (timeline_id_ != request->id) timeline_ = nullptr;
    timeline_id_ = request->id;
    session_.client.start({.path = "/v1/requests/" + path_part(request->id) + "/events"},
                          [this, id = request->id](Answer<Reply> reply) {
                              if (reply && id == timeline_id_)
                                  timeline_ = member(reply->body, "events");
                          });
}

// ---- What the person does.

void InboxScreen::press(const Key& key) {
    if (key.kind == Key::Kind::resize) return;
    if (prompt_) return press_in_prompt(key);
    if (key.kind == Key::Kind::paste) {
        message_ = {Style::high, "pasted text is not taken as keys"};
        return;
    }
    if (mode_ == Mode::change) return press_in_change(key);
    if (mode_ == Mode::help) {
        mode_ = Mode::list;
        arming_.screen_changed(steady_ms());
        return;
    }
    const int page = std::max(1, detail_height());
    switch (key.kind) {
        case Key::Kind::up:
            return mode_ == Mode::list ? move(-1) : scroll(-1);
        case Key::Kind::down:
            return mode_ == Mode::list ? move(1) : scroll(1);
        case Key::Kind::page_up:
            return scroll(-page);
        case Key::Kind::page_down:
            return scroll(page);
        case Key::Kind::home:
            return move(-static_cast<long>(requests_max));
        case Key::Kind::end:
            return move(static_cast<long>(requests_max));
        case Key::Kind::enter:
            if (mode_ == Mode::list && model_.selected() != nullptr) mode_ = Mode::detail;
            return;
        case Key::Kind::escape:
            if (mode_ == Mode::list) model_.set_filter("");
            mode_ = Mode::list;
            return arming_.screen_changed(steady_ms());
        case Key::Kind::character:
            break;
        default:
            return;
    }
    switch (key.character) {
        case 'j':
            return move(1);
        case 'k':
            return move(-1);
        case ' ':
            return scroll(page);
        case 'b':
            return scroll(-page);
        case 'o':
            if (model_.selected() != nullptr) mode_ = Mode::detail;
            return;
        case 'R':
            return load("");
        case '?':
            mode_ = Mode::help;
            return;
        case 'q':
            if (mode_ == Mode::detail)
                mode_ = Mode::list;
            else
                is_quitting_ = true;
            return;
        case '/':
            return open_prompt({.label = "filter: ", .on_answer = [this](const std::string& text) {
                                    model_.set_filter(text);
                                    selection_changed();
                                }});
        default:
            return press_in_list(key.character);
    }
}

void InboxScreen::press_in_list(char32_t key) {
    const Request* selected = model_.selected();
    if (selected == nullptr) return;
    const Request request = *selected;
    const auto with = [this, request](const char* decision, const char* part) {
        return [this, request, decision, part](const std::string& text) {
            json::object body{{"decision", decision}};
            if (!text.empty()) body[part] = text;
            send(request, std::move(body));
        };
    };
    const bool needs_reason = is_true(member(request.json, "requirement"), "reason_required");
    switch (key) {
        case 'a':
            if (may_decide(key, true)) approve(request);
            return;
        case 'm':
            if (may_decide(key, true)) edit(request);
            return;
        case 'v':
            if (may_decide(key, false)) answer(request);
            return;
        case 'r':
            if (may_decide(key, false))
                ask(needs_reason ? "reject, because (required): " : "reject, because: ", request,
                    !needs_reason, with("reject", "reason"));
            return;
        case 'd':
            if (may_decide(key, false))
                ask("another way, tell the agent: ", request, false, with("defer", "guidance"));
            return;
        case 'e':
            if (may_decide(key, false))
                ask("escalate to (group:NAME or a person): ", request, false,
                    with("escalate", "to"));
            return;
        case 'x':
            if (may_decide(key, false))
                ask("stop the agent's whole run, because: ", request, !needs_reason,
                    with("abort", "reason"));
            return;
        default:
            return;
    }
}

bool InboxScreen::may_decide(char32_t key, bool is_release) {
    if (!may_decide_at_all_) {
        message_ = {Style::high, "your key may read, not decide"};
        return false;
    }
    if (!busy_id_.empty()) {
        message_ = {Style::faint, "the last decision is still on its way"};
        return false;
    }
    if (!stream_->is_open()) {
        message_ = {Style::bad, "not connected: what is shown may be out of date"};
        return false;
    }
    if (!arming_.press(static_cast<int>(key), steady_ms())) {
        message_ = {Style::high, "the screen just changed: look, then press again"};
        return false;
    }
    if (is_release && seen_lines_ < detail_.runs_end) {
        mode_ = Mode::detail;
        message_ = {Style::high,
                    "read all of what will run first (space reads on), then press again"};
        return false;
    }
    return true;
}

void InboxScreen::approve(const Request& request) {
    if (request.kind == core::Kind::input) {
        message_ = {Style::high, "this is a question: answer it with v"};
        return;
    }
    release_when_sure(request, {{"decision", "approve"}});
}

void InboxScreen::release_when_sure(const Request& request, json::object body) {
    const std::string code = confirmation_code(request);
    if (!code.empty()) body["confirm"] = code;
    const auto release = [this, request, body = std::move(body)] { send(request, body); };
    if (!code.empty())
        return ask_for_word(fmt::format("{} risk; type the code", core::to_string(request.risk)),
                            code, request, release);
    if (request.risk == core::RiskLevel::critical)
        return ask_for_word("critical; type", confirmation_word(request), request, release);
    if (request.risk == core::RiskLevel::high)
        return ask_yes_no("risk is high; release it? y/n ", request, release);
    release();
}

void InboxScreen::ask_for_word(const std::string& label, const std::string& word,
                               const Request& request, std::function<void()> on_right) {
    ask(fmt::format("{} {} to release it: ", label, visible(word)), request, false,
        [this, word, on_right = std::move(on_right)](const std::string& typed) {
            if (typed == word) return on_right();
            message_ = {Style::bad, "that is not what was asked for; nothing was sent"};
        });
}

void InboxScreen::edit(const Request& request) {
    if (const auto refusal = change_refusal(request)) {
        message_ = {Style::bad, refusal->message};
        return;
    }
    screen_->suspend();
    const Result<std::string> text = edit_text(change_text(request), change_suffix(request));
    screen_->resume();
    arming_.screen_changed(steady_ms());
    if (!text) {
        message_ = {Style::bad, visible(text.error().message)};
        return;
    }
    Result<Change> change = read_change(request, *text);
    if (!change) {
        message_ = {Style::bad, visible(change.error().message)};
        return;
    }
    if (!change->is_change()) {
        message_ = {Style::plain, "unchanged; nothing was sent"};
        return;
    }
    message_ = {};
    change_ = {request, std::move(*change)};
    detail_top_ = 0;
    mode_ = Mode::change;
}

void InboxScreen::press_in_change(const Key& key) {
    if (key.kind == Key::Kind::down || key.kind == Key::Kind::page_down) ++detail_top_;
    if (key.kind == Key::Kind::up || key.kind == Key::Kind::page_up)
        detail_top_ = std::max(0L, detail_top_ - 1);
    const bool is_no =
        key.kind == Key::Kind::escape ||
        (key.kind == Key::Kind::character && (key.character == 'n' || key.character == 'q'));
    if (is_no) {
        change_.reset();
        mode_ = Mode::list;
        selection_changed();
        message_ = {Style::plain, "dropped; nothing was sent"};
        return;
    }
    if (key.kind != Key::Kind::character || key.character != 'y') return;
    if (!arming_.press('y', steady_ms())) return;
    const auto [request, change] = *change_;
    // The y for the change is also the y that high risk asks for.
    const bool must_type =
        request.risk == core::RiskLevel::critical || !confirmation_code(request).empty();
    if (must_type) return release_when_sure(request, change_body(request, change));
    send(request, change_body(request, change));
}

void InboxScreen::answer(const Request& request) {
    if (request.kind != core::Kind::input) {
        message_ = {Style::high, "this is not a question: approve or reject it"};
        return;
    }
    const std::string type = text_of(request.subject(), "type");
    std::string label = fmt::format("answer ({}): ", visible(type));
    if (type == "multi_choice") label = "answer (choices, separated by commas): ";
    if (type == "file") label = "answer (path of a file): ";
    if (type == "date") label = "answer (YYYY-MM-DD): ";
    ask(label, request, false, [this, request, type](const std::string& text) {
        std::vector<std::string> values{text};
        if (type == "multi_choice") {
            values.clear();
            for (std::size_t at = 0; at <= text.size();) {
                const std::size_t end = std::min(text.find(',', at), text.size());
                std::string part = text.substr(at, end - at);
                part.erase(0, part.find_first_not_of(' '));
                part.erase(part.find_last_not_of(' ') + 1);
                values.push_back(std::move(part));
                at = end + 1;
            }
        }
        const Result<json::value> value = answer_value(request, values);
        if (!value) {
            message_ = {Style::bad, visible(value.error().message)};
            return;
        }
        send(request, {{"decision", "answer"}, {"answer", *value}});
    });
}

void InboxScreen::ask(std::string label, const Request& request, bool may_be_empty,
                      std::function<void(const std::string&)> on_answer) {
    open_prompt({.label = std::move(label),
                 .request_id = request.id,
                 .on_answer = [this, may_be_empty,
                               on_answer = std::move(on_answer)](const std::string& text) {
                     if (!text.empty() || may_be_empty) return on_answer(text);
                     message_ = {Style::high, "nothing was entered; nothing was sent"};
                 }});
}

void InboxScreen::ask_yes_no(std::string label, const Request& request,
                             std::function<void()> on_yes) {
    open_prompt({.label = std::move(label),
                 .is_yes_no = true,
                 .request_id = request.id,
                 .on_answer = [on_yes = std::move(on_yes)](const std::string&) { on_yes(); }});
}

void InboxScreen::open_prompt(Prompt prompt) {
    screen_->drop_typed();
    message_ = {};
    prompt_ = std::move(prompt);
    prompt_->opened_ms = steady_ms();
    arming_.screen_changed(prompt_->opened_ms);
}

void InboxScreen::press_in_prompt(const Key& key) {
    if (key.kind == Key::Kind::escape) {
        prompt_.reset();
        arming_.screen_changed(steady_ms());
        message_ = {Style::plain, "nothing was sent"};
        return;
    }
    if (prompt_->is_yes_no) {
        if (key.kind != Key::Kind::character) return;
        if (key.character == 'n') return press_in_prompt({Key::Kind::escape, 0, {}});
        if (key.character != 'y' || !arming_.press('y', steady_ms())) return;
        const Prompt prompt = *std::exchange(prompt_, std::nullopt);
        return prompt.on_answer("y");
    }
    std::u32string& typed = prompt_->typed;
    switch (key.kind) {
        case Key::Kind::enter: {
            // Letters meant for another window must not open a question and send its answer.
            if (steady_ms() - prompt_->opened_ms < Arming::quiet_ms) return;
            const Prompt prompt = *std::exchange(prompt_, std::nullopt);
            return prompt.on_answer(to_utf8(prompt.typed));
        }
        case Key::Kind::backspace:
            if (!typed.empty()) typed.pop_back();
            return;
        case Key::Kind::paste:
            // One line stays one line: a pasted line end must not send anything.
            for (std::string_view rest = key.pasted; !rest.empty() && typed.size() < 2000;) {
                const CodePoint c = first_code_point(rest);
                if (c.bytes > 0) typed += c.value < ' ' ? U' ' : c.value;
                rest.remove_prefix(static_cast<std::size_t>(std::max(1, c.bytes)));
            }
            return;
        case Key::Kind::character:
            if (key.character == 21) typed.clear();  // Ctrl-U
            if (key.character >= ' ' && typed.size() < 2000) typed += key.character;
            return;
        default:
            return;
    }
}

void InboxScreen::move(long rows) {
    if (model_.move(rows)) selection_changed();
}

void InboxScreen::scroll(long lines) { detail_top_ = std::max(0L, detail_top_ + lines); }

void InboxScreen::send(const Request& request, json::object body) {
    busy_id_ = request.id;
    message_ = {Style::faint, "sending …"};
    if (change_) {
        change_.reset();
        mode_ = Mode::list;
    }
    session_.client.start(decision_call(request, body), [this, request, body](Answer<Reply> reply) {
        const Answer<Request> after = request_of(reply);
        if (after) {
            message_ = {after->outcome ? style_of(*after->outcome) : Style::good,
                        fmt::format("{}: {}", visible_again(request.headline),
                                    decision_result(*after, now()))};
            take_request(*after, "");
        } else if (const std::string& code = after.error().code; !code.empty() && !prompt_) {
            ask_for_word("with these changes a code is asked for; type", code, request,
                         [this, request, code, body = body]() mutable {
                             body["confirm"] = code;
                             send(request, body);
                         });
        } else {
            const Failure failure = explained(after.error(), now());
            std::string text = visible(failure.error.message);
            if (failure.error.code == ErrorCode::unavailable)
                text += "; it is not known whether the decision arrived";
            message_ = {Style::bad, std::move(text)};
            if (const Result<Request> stands = read_request(failure.request))
                take_request(*stands, "");
        }
        busy_id_.clear();
    });
}

}  // namespace holdpoint::cli

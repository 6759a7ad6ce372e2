#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <memory>

#include "base/text.h"
#include "cli/app.h"
#include "cli/duration.h"
#include "cli/event_stream.h"
#include "cli/filters.h"
#include "cli/json_text.h"
#include "cli/marks.h"
#include "cli/request_table.h"
#include "cli/resource.h"
#include "cli/terminal.h"

namespace holdpoint::cli {
namespace {

std::string local_time(Timestamp at) {
    const std::time_t seconds = at.ms / 1000;
    std::tm parts{};
    ::localtime_r(&seconds, &parts);
    return fmt::format("{:02}:{:02}:{:02}", parts.tm_hour, parts.tm_min, parts.tm_sec);
}

struct EventWord {
    std::string text;
    Style style = Style::plain;
};

/// What an event is called in the table: the outcome where there is one.
EventWord event_word(const std::string& name, const Request& request) {
    if (name == "request-settled" && request.outcome)
        return {std::string(core::to_string(*request.outcome)), style_of(*request.outcome)};
    if (name == "approval-required") return {"asked", Style::strong};
    if (name == "decision-recorded") return {"voted"};
    if (name == "request-reminded") return {"reminded"};
    if (name == "request-escalated") return {"escalated", Style::high};
    if (name == "request-retried") return {"asked again", Style::high};
    if (name == "request-extended") return {"extended"};
    if (name == "tool-result") return {"reported"};
    return {visible(name)};
}

/// One fixed grid from the first line to the last: rows that come later cannot widen it. A narrow
/// screen goes without the agent, since the headline says more.
class Rows {
  public:
    explicit Rows(const Output& out)
        : out_(out),
          id_columns_(out.is_terminal() ? 8 : 30),
          agent_columns_(out.columns() < 100 ? 0 : 14) {}

    void title() const {
        const auto faint = [](std::string_view text) {
            return Span{Style::faint, std::string(text)};
        };
        print(faint("TIME"), faint("EVENT"), faint("ID"), faint("RISK"), faint("AGENT"),
              faint("WHAT"));
    }
    void row(Timestamp at, const EventWord& word, const Request& request) const {
        std::string what = visible_again(request.headline);
        if (const std::string by = text_of(member(request.json, "decision"), "by"); !by.empty())
            what += " · by " + visible(by);
        print({Style::faint, local_time(at)}, {word.style, word.text},
              {Style::strong, out_.is_terminal() ? short_id(request.id) : request.id},
              {style_of(request.risk), risk_label(request.risk)},
              {Style::plain, visible(request.agent)}, {Style::plain, what});
    }

  private:
    void print(const Span& time, const Span& event, const Span& id, const Span& risk,
               const Span& agent, const Span& what) const {
        Line line;
        const auto cell = [&line](const Span& span, int columns) {
            if (columns == 0) return;
            line.push_back({span.style, fit(span.text, columns)});
            line.push_back({Style::plain, "  "});
        };
        cell(time, 8);
        cell(event, 11);
        cell(id, id_columns_);
        cell(risk, 10);
        cell(agent, agent_columns_);
        const int left = std::max(8, out_.columns() - width(line));
        line.push_back({what.style, out_.is_terminal() ? fit(what.text, left) : what.text});
        out_.print(std::vector<Line>{std::move(line)});
    }

    const Output& out_;
    int id_columns_;
    int agent_columns_;
};

/// What one run of `watch` knows.
struct Watcher {
    Session& session;
    Query query;
    bool has_table = false;  ///< what waits is kept in sight below the events
    Rows rows{session.out};
    LiveTable table{session.out};
    bool is_listed = false;
    ExitCode ended = ExitCode::fine;
    bool is_ended = false;

    void opened() {
        if (is_listed) say("connected again");
        const bool is_first = !is_listed;
        is_listed = true;
        if (session.out.is_json() || (!is_first && !has_table)) return;
        // The stream is open, so that nothing is missed between this list and the first event.
        Query pending = query;
        std::erase_if(pending, [](const auto& part) { return part.first == "state"; });
        pending.emplace_back("state", "pending");
        Answer<std::vector<Request>> requests = list_requests(session.client, pending);
        if (is_first) rows.title();
        if (!requests) {
            table.erase();
            session.out.fail(requests.error());
            return;
        }
        if (has_table) {
            table.set(std::move(*requests));
            table.draw();
            return;
        }
        for (auto request = requests->rbegin(); request != requests->rend(); ++request)
            rows.row(request->created_at, {"waiting"}, *request);
    }
    void event(const ServerEvent& event) {
        const Result<json::value> data = json::parse(event.data, answer_limits);
        if (!data) {
            say(fmt::format("skipped an event that is not JSON: {}",
                            visible(data.error().message)));
            return;
        }
        if (session.out.is_json()) {
            session.out.data(compact(*data));
            return;
        }
        const Result<Request> request = read_request(member(*data, "request"));
        if (!request) return;
        table.erase();
        rows.row(time_of(*data, "at").value_or(now()), event_word(event.name, *request), *request);
        if (!has_table) return;
        table.take(*request);
        table.draw();
    }
    /// The time that is left goes down although nothing happens.
    void tick() {
        if (has_table && is_listed) table.draw();
    }
    void say(const std::string& text) {
        table.erase();
        session.out.say(text);
        tick();
    }
    void lost(const Failure& failure, int pause_ms) {
        say(fmt::format("{}; next try in {}", visible(failure.error.message),
                        pause_ms < 1000 ? "a moment" : short_duration(pause_ms)));
    }
    void refused(const Failure& failure) {
        table.erase();
        ended = session.out.fail(failure);
        is_ended = true;
    }
};

ExitCode watch(Session& session, const Filters& filters) {
    // Whoever asks for a state or an outcome is not told when what waits ends.
    const bool has_table = session.out.can_redraw() && filters.outcome.empty() &&
                           (filters.state.empty() || filters.state == "any");
    Watcher watcher{session, to_query(filters), has_table};
    EventStream stream(
        session.client, watcher.query,
        {[&] { watcher.opened(); }, [&](const ServerEvent& event) { watcher.event(event); },
         [&](const Failure& failure, int pause_ms) {
             // A server that was never there is an error, not an interruption.
             if (!watcher.is_listed) return watcher.refused(failure);
             watcher.lost(failure, pause_ms);
         },
         [&](const Failure& failure) { watcher.refused(failure); }});
    const Interrupt interrupt;
    std::int64_t drawn_ms = steady_ms();
    while (!watcher.is_ended) {
        const int pause_ms = stream.tick(steady_ms());
        const int second_ms = 1000;
        if (session.client.pump(std::min(pause_ms, second_ms), interrupt.fd())) break;
        if (steady_ms() - drawn_ms < second_ms) continue;
        drawn_ms = steady_ms();
        watcher.tick();
    }
    return watcher.ended;
}

}  // namespace

void add_watch(Command app, Commands& commands) {
    auto filters = std::make_shared<Filters>();
    Command command = app.add_subcommand("watch", "Show requests and decisions as they happen");
    add_state_filters(command, *filters);
    add_filters(command, *filters);
    on_session(command, commands, [filters](Session& session) { return watch(session, *filters); });
}

}  // namespace holdpoint::cli

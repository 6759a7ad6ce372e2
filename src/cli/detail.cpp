#include "cli/detail.h"

#include <fmt/format.h>

#include <utility>

#include "base/text.h"
#include "cli/diff.h"
#include "cli/duration.h"
#include "cli/json_text.h"
#include "cli/marks.h"

namespace holdpoint::cli {
namespace {

std::string_view on_timeout_words(std::string_view action) {
    if (action == "reject") return "rejected";
    if (action == "approve") return "approved, as its gate says";
    if (action == "retry") return "asked again";
    if (action == "escalate") return "escalated";
    if (action == "abort") return "aborted";
    if (action == "skip") return "skipped";
    return "settled by its default";
}

std::string_view reversibility_words(std::string_view word) {
    if (word == "fully") return " · can be undone";
    if (word == "partially") return " · can be undone in part";
    if (word == "irreversible") return " · cannot be undone";
    return "";
}

/// Collects wrapped lines.
class Page {
  public:
    explicit Page(int columns) : columns_(columns) {}

    void add(const Line& line, int indent = 0) {
        for (Line& part : wrap(line, columns_, indent)) lines.push_back(std::move(part));
    }
    void gap() { lines.emplace_back(); }
    void title(std::string_view text, std::string_view after = "") {
        gap();
        add({{Style::heading, std::string(text)}, {Style::faint, std::string(after)}});
    }
    /// Text of several lines, each wrapped alone; visible() must not have eaten the line ends.
    void text(std::string_view text, Style style, std::string_view lead = "  ") {
        const int indent = width(lead);
        while (true) {
            const std::size_t end = std::min(text.find('\n'), text.size());
            // The lead stands before every line, so that nothing gets out of a claim by its length.
            for (Line& part : wrap({{style, std::string(text.substr(0, end))}},
                                   std::max(1, columns_ - indent), 0)) {
                part.insert(part.begin(), {Style::plain, std::string(lead)});
                lines.push_back(std::move(part));
            }
            if (end == text.size()) break;
            text.remove_prefix(end + 1);
        }
    }
    void claim(std::string_view label, const std::string& words, std::string_view lead = "  │ ") {
        if (words.empty()) return;
        if (!label.empty()) add({{Style::faint, fmt::format("  {}", label)}});
        text(visible(words, Newlines::keep), Style::claim, lead);
    }
    void pretty_json(const json::value& value) { text(pretty(value), Style::plain, "    "); }

    std::vector<Line> lines;

  private:
    int columns_;
};

void add_top(Page& page, const Request& request, Timestamp now) {
    const json::value& risk = member(request.json, "risk");
    page.add({{style_of(request.risk), risk_label(request.risk)},
              {Style::plain, std::string(reversibility_words(text_of(risk, "reversibility")))}});
    page.add({{Style::strong, visible_again(request.headline)}});

    std::string who = visible(request.agent);
    if (const std::string user = text_of(request.json, "user"); !user.empty())
        who += " for " + visible(user);
    if (const std::string session = text_of(request.json, "session"); !session.empty())
        who += " · session " + visible(session);
    who += fmt::format(" · asked {} ago", short_duration(now - request.created_at));
    page.add({{Style::plain, who}});

    if (!request.outcome) {
        const std::string action = text_of(request.json, "on_timeout");
        page.add({{request.expires_at - now < 60'000 ? Style::bad : Style::plain,
                   fmt::format("{} left", short_duration(request.expires_at - now))},
                  {Style::plain, fmt::format(", then {}", on_timeout_words(action))}});
        return;
    }
    page.add({{style_of(*request.outcome), standing(request, now)}});
    const json::value& timed_out = member(request.json, "timed_out");
    if (timed_out.is_object())
        page.add({{Style::high, fmt::format("nobody decided in time; the rule says: {}",
                                            visible(text_of(timed_out, "action")))}});
}

void add_steps(Page& page, const json::value& plan) {
    const json::array* steps = member(plan, "steps").if_array();
    if (steps == nullptr) return;
    for (const json::value& step : *steps) {
        const int order = static_cast<int>(number_of(step, "order").value_or(0));
        Line line{
            {Style::plain, fmt::format("  {:>3}. {}", order, visible(text_of(step, "action")))}};
        if (is_true(step, "optional")) line.push_back({Style::faint, " (optional)"});
        if (member(step, "approved").is_bool())
            line.push_back(is_true(step, "approved") ? Span{Style::good, " ✓ approved"}
                                                     : Span{Style::bad, " ✗ left out"});
        page.add(line, 7);
        page.claim("", text_of(step, "description"), "       │ ");
    }
    if (const auto seconds = number_of(plan, "estimated_duration_s"))
        page.add({{Style::faint,
                   fmt::format("  estimated {}",
                               short_duration(static_cast<std::int64_t>(*seconds) * 1000))}});
}

void add_question(Page& page, const json::value& input) {
    page.text(visible(text_of(input, "question"), Newlines::keep), Style::plain);
    std::string type = text_of(input, "type");
    if (const auto min = number_of(input, "min")) type += fmt::format(", from {:g}", *min);
    if (const auto max = number_of(input, "max")) type += fmt::format(", up to {:g}", *max);
    if (!is_true(input, "required")) type += ", may stay empty";
    page.add({{Style::faint, "  wants " + visible(type)}});
    if (const json::array* options = member(input, "options").if_array())
        for (const json::value& option : *options)
            page.add({{Style::plain, "    - " + compact(option)}}, 6);
    if (!member(input, "default").is_null())
        page.add({{Style::faint, "  default " + compact(member(input, "default"))}});
}

/// Exactly what is decided on, from the canonical form, complete.
void add_subject(Page& page, const Request& request) {
    const json::value& subject = request.subject();
    switch (request.kind) {
        case core::Kind::action:
            page.title("What will run");
            page.add({{Style::strong, "  " + visible(request.tool)}});
            page.pretty_json(member(subject, "arguments"));
            break;
        case core::Kind::plan:
            page.title("Plan");
            page.add({{Style::strong, "  " + visible(text_of(subject, "title"))}});
            add_steps(page, subject);
            break;
        case core::Kind::input:
            page.title("Question");
            add_question(page, subject);
            break;
        case core::Kind::confirmation:
            page.title("To confirm");
            page.text(visible(text_of(subject, "message"), Newlines::keep), Style::strong);
            page.claim("", text_of(subject, "details"));
            page.add({{Style::faint, fmt::format("  approve: {} · reject: {}",
                                                 visible(text_of(subject, "confirm_label")),
                                                 visible(text_of(subject, "cancel_label")))}});
            break;
        case core::Kind::response:
            page.title("Answer to be sent");
            page.text(visible(text_of(subject, "text"), Newlines::keep), Style::plain);
            break;
    }
    const json::value& proposed = member(request.json, "proposed");
    if (proposed.is_null()) return;
    page.title("Changed", " from what the agent proposed");
    for (Line line : diff_lines(pretty(proposed), pretty(changeable(request)))) {
        line.insert(line.begin(), {Style::plain, "    "});
        page.add(line, 6);
    }
}

void add_claims(Page& page, const Request& request) {
    const json::value& subject = request.subject();
    const json::value& context = member(request.json, "context");
    const std::vector<std::pair<std::string_view, std::string>> claims{
        {"description", text_of(subject, "description")},
        {"expected outcome", text_of(subject, "expected_outcome")},
        {"task", text_of(context, "task_description")},
        {"user's prompt", text_of(context, "user_prompt")},
        {"reasoning", text_of(context, "current_reasoning")},
        {"conversation", text_of(context, "conversation_summary")},
    };
    bool has_title = false;
    for (const auto& [label, words] : claims) {
        if (words.empty()) continue;
        if (!std::exchange(has_title, true))
            page.title("The agent says", "  (its own words, not checked)");
        page.claim(label, words);
    }
}

void add_entries(Page& page, std::string_view title, const json::value& items) {
    const json::array* array = items.if_array();
    if (array == nullptr || array->empty()) return;
    page.title(title);
    for (const json::value& item : *array) {
        const boost::json::string* text = item.if_string();
        page.add({{Style::plain, "  - " + (text != nullptr ? visible(*text) : compact(item))}}, 4);
    }
}

void add_rules(Page& page, const Request& request) {
    const json::value& verdict = member(request.json, "verdict");
    const std::string because = text_of(verdict, "because");
    const std::string rule = text_of(verdict, "rule");
    if (!because.empty() || !rule.empty()) {
        page.title("Policy");
        std::string text = "  " + visible_again(because);
        if (!rule.empty()) text += fmt::format(" (rule {})", visible(rule));
        page.add({{Style::plain, text}}, 2);
    }
    if (request.is_pending()) {
        page.title("Needs");
        page.add({{Style::plain, "  " + requirement_progress(request)}}, 2);
        const json::value& requirement = member(request.json, "requirement");
        if (is_true(requirement, "reason_required"))
            page.add({{Style::faint, "  a rejection must say why"}});
        if (const std::string code = confirmation_code(request); !code.empty())
            page.add({{Style::plain, "  the code " + visible(code) + " typed, to release it"}});
        const bool may_change = !changeable(request).is_null();
        if (may_change && !is_true(requirement, "modifiable"))
            page.add({{Style::faint, "  may not be changed"}});
    }
    if (const json::array* votes = member(request.json, "votes").if_array())
        for (const json::value& vote : *votes)
            page.add({{Style::plain, fmt::format("  {} by {}", visible(text_of(vote, "decision")),
                                                 visible(text_of(vote, "by")))}});
}

void add_outcome(Page& page, const Request& request) {
    if (const std::string message = text_of(request.json, "message_for_agent"); !message.empty()) {
        page.title("The agent is told");
        page.text(visible(message, Newlines::keep), Style::plain);
    }
    const json::value& answer = member(member(request.json, "decision"), "answer");
    if (!answer.is_null()) {
        page.title("Answer");
        page.pretty_json(answer);
    }
    const json::value& report = member(request.json, "report");
    if (!report.is_object()) return;
    page.title("Reported afterwards", "  (the agent's words)");
    const bool is_success = is_true(report, "success");
    page.add({{is_success ? Style::good : Style::bad, is_success ? "  succeeded" : "  failed"}});
    page.claim("", text_of(report, "error"));
    if (!member(report, "result").is_null()) page.pretty_json(member(report, "result"));
}

void add_timeline(Page& page, const json::value& events, Timestamp now) {
    const json::array* array = events.if_array();
    if (array == nullptr || array->empty()) return;
    page.title("Timeline");
    for (const json::value& event : *array) {
        const auto at = time_of(event, "at");
        std::string actor = text_of(event, "actor");
        if (actor.empty()) actor = "the clock";
        std::string text =
            fmt::format("  {:>6} ago  {:<10} {}", at ? short_duration(now - *at) : "?",
                        visible(text_of(event, "type")), visible(actor));
        if (const std::string via = text_of(event, "via"); !via.empty())
            text += fmt::format(" via {}", visible(via));
        page.add({{Style::plain, text}}, 14);
    }
}

}  // namespace

Line headline(const Request& request) {
    return {{style_of(request.risk), risk_label(request.risk)},
            {Style::plain, "  "},
            {Style::strong, visible_again(request.headline)},
            {Style::faint, fmt::format("  ({}, {})", visible(request.agent), request.id)}};
}

std::string requirement_progress(const Request& request) {
    const json::array* lines = member(member(request.json, "requirement"), "lines").if_array();
    std::string text;
    if (lines == nullptr) return text;
    for (const json::value& line : *lines) {
        std::string who = text_of(line, "group");
        if (const json::array* people = member(line, "people").if_array(); people && who.empty())
            for (const json::value& person : *people) {
                if (!who.empty()) who += " or ";
                if (const boost::json::string* name = person.if_string()) who += *name;
            }
        if (who.empty()) who = "anyone who may decide";
        if (!text.empty()) text += ", ";
        text += fmt::format("{}: {} of {}", visible(who), number_of(line, "have").value_or(0),
                            number_of(line, "quorum").value_or(1));
    }
    return text;
}

Detail describe(const Request& request, const json::value& events, Timestamp now, int columns) {
    Page page(columns);
    add_top(page, request, now);
    add_subject(page, request);
    const std::size_t runs_end = page.lines.size();
    const json::value& risk = member(request.json, "risk");
    add_entries(page, "Risk", member(risk, "factors"));
    add_entries(page, "Consequences", member(risk, "consequences"));
    add_claims(page, request);
    add_rules(page, request);
    add_outcome(page, request);
    add_timeline(page, events, now);
    page.gap();
    page.add({{Style::faint, request.id}});
    page.add({{Style::faint, request.digest}});
    return {std::move(page.lines), runs_end};
}

}  // namespace holdpoint::cli

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/text.h"
#include "cli/app.h"
#include "cli/duration.h"
#include "cli/filters.h"
#include "cli/json_text.h"
#include "cli/marks.h"
#include "cli/resource.h"

namespace holdpoint::cli {
namespace {

struct ListOptions {
    Filters filters;
    std::string since, until;
    std::size_t limit = 50;
    bool is_all = false;
};

/// `--since 2h` counts back from now; a time is taken as it is.
Result<std::string> moment(const std::string& text) {
    if (const Result<Timestamp> time = parse_timestamp(text)) return text;
    const Result<std::int64_t> ago_s = parse_duration_s(text);
    if (!ago_s)
        return Error{
            ErrorCode::invalid_argument,
            fmt::format("`{}` is neither a time like `2026-11-15T21:03:46Z` nor a duration "
                        "like `2h`",
                        visible(cut_utf8(text, 40)))};
    return to_string(now() + -*ago_s * 1000);
}

Span state_cell(const Request& request, Timestamp at, bool is_mixed) {
    if (request.outcome)
        return {style_of(*request.outcome), std::string(core::to_string(*request.outcome))};
    const std::int64_t left_ms = request.expires_at - at;
    return {left_ms < 60'000 ? Style::bad : Style::plain,
            short_duration(left_ms) + (is_mixed ? " left" : "")};
}

void print_table(const Output& out, const std::vector<Request>& requests) {
    // While all are pending the word would only repeat itself.
    const bool is_mixed = std::any_of(requests.begin(), requests.end(),
                                      [](const Request& r) { return r.outcome.has_value(); });
    Table table({{"ID"},
                 {"RISK"},
                 {"ASKED", Table::Align::right},
                 {is_mixed ? "STATE" : "LEFT", is_mixed ? Table::Align::left : Table::Align::right},
                 {"AGENT", Table::Align::left, 16},
                 {"WHAT"}});
    const Timestamp at = now();
    for (const Request& request : requests) {
        const bool is_settled = request.outcome.has_value();
        table.add({{Style::strong, out.is_terminal() ? short_id(request.id) : request.id},
                   {is_settled ? Style::faint : style_of(request.risk), risk_label(request.risk)},
                   {Style::plain, short_duration(at - request.created_at)},
                   state_cell(request, at, is_mixed),
                   {Style::plain, visible(request.agent)},
                   {is_settled ? Style::faint : Style::plain, visible_again(request.headline)}});
    }
    out.print(table.lines(out.columns(), out.is_terminal()));
}

ExitCode list(Session& session, const ListOptions& options) {
    Query query = to_query(options.filters);
    for (const auto& [name, text] : {std::pair{"since", options.since}, {"until", options.until}}) {
        if (text.empty()) continue;
        const Result<std::string> time = moment(text);
        if (!time) return session.out.fail(time.error());
        query.emplace_back(name, *time);
    }
    const Answer<std::vector<Request>> requests =
        list_requests(session.client, std::move(query), options.is_all ? 0 : options.limit);
    if (!requests) return session.out.fail(requests.error());

    if (session.out.is_json()) {
        for (const Request& request : *requests) session.out.data(compact(request.json));
        return ExitCode::fine;
    }
    if (requests->empty())
        session.out.say(options.filters.state == "pending" ? "nothing is waiting for a decision"
                                                           : "no request matches");
    else
        print_table(session.out, *requests);
    if (!options.is_all && requests->size() == options.limit)
        session.out.say(fmt::format("the newest {}; more with --limit or --all", options.limit));
    return ExitCode::fine;
}

}  // namespace

void add_list(CLI::App& app, Commands& commands) {
    auto options = std::make_shared<ListOptions>();
    CLI::App* command = app.add_subcommand("list", "List requests, newest first");
    options->filters.state = "pending";
    add_state_filters(*command, options->filters);
    add_filters(*command, options->filters);
    command->add_option("--since", options->since, "Asked after this time, or 2h ago");
    command->add_option("--until", options->until, "Asked before this time, or 2h ago");
    command->add_option("--limit", options->limit, "At most so many")
        ->check(CLI::Range(1, 100'000));
    command->add_flag("--all", options->is_all, "All pages");
    on_session(*command, commands, [options](Session& session) { return list(session, *options); });
}

}  // namespace holdpoint::cli

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/text.h"
#include "cli/app.h"
#include "cli/duration.h"
#include "cli/filters.h"
#include "cli/json_text.h"
#include "cli/marks.h"
#include "cli/request_table.h"

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
        session.out.print(request_table(session.out, *requests));
    if (!options.is_all && requests->size() == options.limit)
        session.out.say(fmt::format("the newest {}; more with --limit or --all", options.limit));
    return ExitCode::fine;
}

}  // namespace

void add_list(Command app, Commands& commands) {
    auto options = std::make_shared<ListOptions>();
    Command command = app.add_subcommand("list", "List requests, newest first");
    options->filters.state = "pending";
    add_state_filters(command, options->filters);
    add_filters(command, options->filters);
    command.add_option("--since", options->since, "Asked after this time, or 2h ago");
    command.add_option("--until", options->until, "Asked before this time, or 2h ago");
    command.add_option("--limit", options->limit, "At most so many").between(1, 100'000);
    command.add_flag("--all", options->is_all, "All pages");
    on_session(command, commands, [options](Session& session) { return list(session, *options); });
}

}  // namespace holdpoint::cli

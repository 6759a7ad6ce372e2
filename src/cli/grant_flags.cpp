#include "cli/grant_flags.h"

#include "cli/duration.h"

namespace holdpoint::cli {

void add_grant_flags(Command command, GrantFlags& flags) {
    constexpr const char* group = "Let similar calls pass afterwards";
    command.add_option("--grant", flags.duration, "For so long, like 1h").group(group);
    command.add_option("--grant-uses", flags.uses, "For so many calls")
        .between(1, 1'000'000)
        .group(group);
    command.add_option("--grant-sum", flags.sum, "Until their bounded numbers add up to this")
        .positive()
        .group(group);
    command.add_flag("--grant-session", flags.is_for_session, "Only in this session of the agent")
        .group(group);
    command
        .add_option("--grant-words", flags.words,
                    "For commands that begin with so many words of this one")
        .between(1, 128)
        .group(group);
}

Result<void> put_grant(json::object& body, const GrantFlags& flags) {
    if (!flags.is_given()) return {};
    json::object grant;
    if (!flags.duration.empty()) {
        const Result<std::int64_t> seconds = parse_duration_s(flags.duration);
        if (!seconds) return seconds.error();
        grant["for_s"] = *seconds;
    }
    if (flags.uses > 0) grant["uses"] = flags.uses;
    if (flags.sum > 0) grant["sum"] = flags.sum;
    if (flags.is_for_session) grant["session"] = true;
    if (flags.words > 0) grant["words"] = flags.words;
    body["grant"] = std::move(grant);
    return {};
}

}  // namespace holdpoint::cli

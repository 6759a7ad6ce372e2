#include "policy/diff.h"

#include <fmt/format.h>

#include <map>

#include "policy/outline.h"

namespace holdpoint::policy {
namespace {

using Direction = Change::Direction;

bool denies_by_default(const PolicyFile& file) {
    return file.defaults.decision_or_default() == Effect::deny ||
           file.defaults.unknown_tools_or_default() == Effect::deny;
}

/// What it means that this part is there. Where the default denies, what asks people may bring a
/// call before them that would have been denied.
Direction weight(std::string_view what, std::string_view line, bool is_denial_the_default) {
    const Direction asking = is_denial_the_default ? Direction::unclear : Direction::stricter;
    if (what.starts_with("always_require") || what.starts_with("gate ")) return asking;
    if (what.starts_with("never_require") || what.starts_with("auto_allow") ||
        what.starts_with("trust") || what.starts_with("grants") || what.starts_with("delegate") ||
        what.starts_with("tool ") || what.starts_with("host_executable"))
        return Direction::looser;
    if (what.starts_with("risk rule")) return Direction::stricter;
    if (what.starts_with("rule ")) {
        if (line.find("then: allow") != std::string_view::npos) return Direction::looser;
        if (line.find("then: require") != std::string_view::npos) return asking;
        return Direction::stricter;
    }
    return Direction::unclear;
}

Direction opposite(Direction direction) {
    switch (direction) {
        case Direction::stricter:
            return Direction::looser;
        case Direction::looser:
            return Direction::stricter;
        case Direction::unclear:
            break;
    }
    return Direction::unclear;
}

Change changed(const std::string& what, const std::string& before, const std::string& after) {
    Change change{Change::Kind::changed, Direction::unclear, what, before, after};
    if (what == "enabled")
        change.direction = after == "false" ? Direction::looser : Direction::stricter;
    return change;
}

}  // namespace

std::vector<Change> diff(const PolicyFile& before, const PolicyFile& after) {
    const bool is_denial_the_default = denies_by_default(before) || denies_by_default(after);
    std::vector<Change> out;
    std::map<std::string, std::string> old;
    for (auto& [what, line] : parts_of(before)) old[what] = line;
    std::map<std::string, std::string> fresh;
    for (auto& [what, line] : parts_of(after)) {
        fresh[what] = line;
        const auto found = old.find(what);
        if (found == old.end())
            out.push_back(
                {Change::Kind::added, weight(what, line, is_denial_the_default), what, "", line});
        else if (found->second != line)
            out.push_back(changed(what, found->second, line));
    }
    for (const auto& [what, line] : parts_of(before)) {
        if (!fresh.contains(what))
            out.push_back({Change::Kind::removed,
                           opposite(weight(what, line, is_denial_the_default)), what, line, ""});
    }
    return out;
}

std::string diff_text(const std::vector<Change>& changes) {
    std::string out;
    for (const Change& change : changes) {
        const char mark = change.kind == Change::Kind::added     ? '+'
                          : change.kind == Change::Kind::removed ? '-'
                                                                 : '~';
        const std::string_view direction = change.direction == Direction::stricter ? "  stricter"
                                           : change.direction == Direction::looser ? "  looser"
                                                                                   : "";
        out += fmt::format("{} {}{}\n", mark, change.what, direction);
        if (!change.before.empty()) out += fmt::format("    - {}\n", change.before);
        if (!change.after.empty()) out += fmt::format("    + {}\n", change.after);
    }
    return out;
}

}  // namespace holdpoint::policy

#include "core/requirement.h"

#include <fmt/format.h>

#include <algorithm>

namespace holdpoint::core {
namespace {

constexpr std::string_view group_prefix = "group:";

/// Bipartite matching by augmenting paths: people on one side, places in lines on the other.
class Seating {
  public:
    Seating(const Requirement& requirement, const std::vector<Vote>& votes)
        : lines_(requirement.lines), votes_(votes), seated_(requirement.lines.size()) {}

    void run() {
        for (std::size_t vote = 0; vote < votes_.size(); ++vote) {
            if (!approves(votes_[vote].decision.kind)) continue;
            std::vector<bool> tried(lines_.size(), false);
            seat(vote, tried);
        }
    }
    int have(std::size_t line) const { return static_cast<int>(seated_[line].size()); }

  private:
    bool seat(std::size_t vote, std::vector<bool>& tried) {
        for (std::size_t i = 0; i < lines_.size(); ++i) {
            if (tried[i]) continue;
            if (!is_in_line(lines_[i], votes_[vote].decision.by, votes_[vote].groups)) continue;
            tried[i] = true;
            if (static_cast<int>(seated_[i].size()) < lines_[i].quorum) {
                seated_[i].push_back(vote);
                return true;
            }
            for (std::size_t& other : seated_[i]) {
                if (!seat(other, tried)) continue;
                other = vote;
                return true;
            }
        }
        return false;
    }

    const std::vector<RequirementLine>& lines_;
    const std::vector<Vote>& votes_;
    std::vector<std::vector<std::size_t>> seated_;
};

}  // namespace

bool approves(DecisionKind kind) {
    return kind == DecisionKind::approve || kind == DecisionKind::modify;
}

bool is_anybody(const RequirementLine& line) {
    return line.group.empty() && line.people.empty() && line.other_groups.empty();
}

int places_of(const Requirement& requirement) {
    int places = 0;
    for (const RequirementLine& line : requirement.lines) places += line.quorum;
    return places;
}

bool has_rejection(const Request& request) {
    return std::any_of(request.votes.begin(), request.votes.end(),
                       [](const Vote& vote) { return vote.decision.kind == DecisionKind::reject; });
}

bool is_in_line(const RequirementLine& line, const std::string& name,
                const std::vector<std::string>& groups) {
    if (is_anybody(line)) return true;
    if (std::find(line.people.begin(), line.people.end(), name) != line.people.end()) return true;
    return std::any_of(groups.begin(), groups.end(), [&](const std::string& group) {
        return (!group.empty() && group == line.group) ||
               std::find(line.other_groups.begin(), line.other_groups.end(), group) !=
                   line.other_groups.end();
    });
}

bool is_excluded(const Request& request, const std::string& name) {
    return request.requirement.exclude_requester && (name == request.owner || name == request.user);
}

bool has_place(const Request& request, const std::string& name,
               const std::vector<std::string>& groups) {
    const std::vector<RequirementLine>& lines = request.requirement.lines;
    return !is_excluded(request, name) &&
           std::any_of(lines.begin(), lines.end(),
                       [&](const RequirementLine& line) { return is_in_line(line, name, groups); });
}

void confirm_if_critical(Request& request) {
    if (request.risk == RiskLevel::critical && request.kind != Kind::input)
        request.requirement.confirm_required = true;
}

bool seat_votes(Requirement& requirement, const std::vector<Vote>& votes) {
    Seating seating(requirement, votes);
    seating.run();
    bool is_full = true;
    for (std::size_t i = 0; i < requirement.lines.size(); ++i) {
        requirement.lines[i].have = seating.have(i);
        is_full = is_full && requirement.lines[i].have >= requirement.lines[i].quorum;
    }
    return is_full && !requirement.lines.empty();
}

void tighten(Requirement& requirement, const Requirement& asked) {
    const bool is_plain = requirement.lines.size() == 1 && is_anybody(requirement.lines[0]) &&
                          requirement.lines[0].quorum == 1;
    if (!asked.lines.empty()) {
        // "Any one person" is contained in every other line; everything else is asked in addition.
        if (is_plain) requirement.lines.clear();
        requirement.lines.insert(requirement.lines.end(), asked.lines.begin(), asked.lines.end());
    }
    requirement.reason_required = requirement.reason_required || asked.reason_required;
    requirement.modifiable = requirement.modifiable && asked.modifiable;
    requirement.exclude_requester = requirement.exclude_requester || asked.exclude_requester;
    requirement.confirm_required = requirement.confirm_required || asked.confirm_required;
}

RequirementLine line_for(const std::string& target) {
    RequirementLine line;
    if (target.starts_with(group_prefix))
        line.group = target.substr(group_prefix.size());
    else
        line.people = {target};
    return line;
}

namespace {

template <class IsGivenAway>
Result<void> redirect_where(Requirement& requirement, const std::string& target,
                            IsGivenAway is_given_away) {
    int missing = 0;
    std::vector<RequirementLine> lines;
    for (const RequirementLine& line : requirement.lines) {
        if (!is_given_away(line)) {
            lines.push_back(line);
            continue;
        }
        missing += std::max(0, line.quorum - line.have);
        if (line.have == 0) continue;
        // In the copy only: a refusal below must leave what was asked untouched.
        lines.push_back(line);
        lines.back().quorum = std::min(line.quorum, line.have);
    }
    if (missing == 0)
        return Error{ErrorCode::refused, "whoever is missing is not yours to replace", "to"};
    RequirementLine replacement = line_for(target);
    replacement.quorum = missing;
    if (replacement.quorum > 1 && replacement.group.empty())
        return Error{
            ErrorCode::refused,
            fmt::format("{} more people are needed; escalate to a group", replacement.quorum),
            "to"};
    lines.push_back(std::move(replacement));
    requirement.lines = std::move(lines);
    return {};
}

}  // namespace

Result<void> redirect(Requirement& requirement, const std::string& target) {
    return redirect_where(requirement, target, [](const RequirementLine&) { return true; });
}

Result<void> redirect(Requirement& requirement, const std::string& target, const Actor& person) {
    return redirect_where(requirement, target, [&](const RequirementLine& line) {
        return is_in_line(line, person.name, person.groups);
    });
}

}  // namespace holdpoint::core

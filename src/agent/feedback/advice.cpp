#include "agent/feedback/advice.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.h"

namespace holdpoint::agent::feedback {
namespace {

constexpr std::size_t words_bytes_max = 400;      // of a reason or guidance
constexpr std::size_t arguments_bytes_max = 300;  // of a rejected call
constexpr std::size_t value_bytes_max = 120;
constexpr std::string_view heading = "What people said in this session. Follow it; newest first.\n";

std::string shown(std::string_view text, std::size_t bytes_max) {
    return cut_utf8(visible(text), bytes_max);
}

std::string person(const std::string& by) { return by.empty() ? "a person" : shown(by, 60); }

std::string said(const Feedback& feedback) {
    return fmt::format("- {} ({})\n", shown(feedback.text, words_bytes_max), person(feedback.by));
}

std::string rejected(const Feedback& feedback) {
    const std::string why =
        feedback.text.empty() ? "no reason given" : shown(feedback.text, words_bytes_max);
    return fmt::format("- {} {}: {} ({})\n", shown(feedback.tool, 80),
                       shown(feedback.before.dump(), arguments_bytes_max), why,
                       person(feedback.by));
}

std::string preferred(const Preference& preference) {
    const std::string name =
        shown(preference.tool, 80) + "." + shown(preference.argument, value_bytes_max);
    const auto value = [](const Json& json) { return shown(json.dump(), value_bytes_max); };
    std::string text;
    if (preference.after.is_null()) {
        text = fmt::format("- {}: {} was left out", name, value(preference.before));
    } else if (preference.before.is_null()) {
        text = fmt::format("- {}: {} was added", name, value(preference.after));
    } else {
        text = fmt::format("- {}: {} was changed to {}", name, value(preference.before),
                           value(preference.after));
    }
    if (preference.times > 1) text += fmt::format(", {} times in a row", preference.times);
    return fmt::format("{} ({})\n", text, person(preference.by));
}

std::string refused_often(const Reluctance& reluctance) {
    return fmt::format("- {} was rejected {} times by {}\n", shown(reluctance.tool, 80),
                       reluctance.rejections,
                       reluctance.people == 1 ? std::string("one person")
                                              : fmt::format("{} people", reluctance.people));
}

/// Lines under one heading, newest first.
struct Section {
    std::string_view heading;
    std::vector<std::string> lines;
    std::size_t taken = 0;
};

std::vector<Section> sections(const std::vector<Feedback>& history) {
    Section guidance{"Guidance:\n", {}};
    Section avoid{
        "Rejected; do not propose these again in any form, they are refused without asking:\n", {}};
    Section corrections{"Corrections:\n", {}};
    for (auto feedback = history.rbegin(); feedback != history.rend(); ++feedback) {
        if (feedback->kind == FeedbackKind::guidance) guidance.lines.push_back(said(*feedback));
        if (feedback->kind == FeedbackKind::correction) {
            corrections.lines.push_back(said(*feedback));
        }
        if (feedback->kind == FeedbackKind::rejection && feedback->lifted_by.empty()) {
            avoid.lines.push_back(rejected(*feedback));
        }
    }
    Section prefer{"People changed these arguments; propose what they chose:\n", {}};
    for (const Preference& preference : preferences(history)) {
        prefer.lines.push_back(preferred(preference));
    }
    Section reluctant{"Refused again and again; ask for guidance before proposing these:\n", {}};
    for (const Reluctance& reluctance : reluctances(history)) {
        reluctant.lines.push_back(refused_often(reluctance));
    }
    return {guidance, avoid, corrections, prefer, reluctant};
}

constexpr std::string_view more = "- (and {} earlier)\n";
constexpr std::size_t more_bytes = 32;

/// Gives every section a line in turn while there is room.
void share_out(std::vector<Section>& all, std::size_t room) {
    bool has_taken = true;
    while (has_taken) {
        has_taken = false;
        for (Section& section : all) {
            if (section.taken == section.lines.size()) continue;
            const std::size_t first = section.taken == 0 ? section.heading.size() + more_bytes : 0;
            const std::size_t wanted = section.lines[section.taken].size() + first;
            if (wanted > room) continue;
            room -= wanted;
            ++section.taken;
            has_taken = true;
        }
    }
}

}  // namespace

std::vector<Preference> preferences(const std::vector<Feedback>& history) {
    std::vector<Preference> found;  // oldest first
    for (const Feedback& feedback : history) {
        if (feedback.kind != FeedbackKind::modification) continue;
        if (!feedback.before.is_object() || !feedback.after.is_object()) continue;
        std::set<std::string> names;
        for (const std::string& name : feedback.before.names()) names.insert(name);
        for (const std::string& name : feedback.after.names()) names.insert(name);
        for (const std::string& name : names) {
            Preference preference{feedback.tool,        name, feedback.before[name],
                                  feedback.after[name], 1,    feedback.by};
            if (preference.before == preference.after) continue;
            const auto earlier = std::ranges::find_if(found, [&](const Preference& other) {
                return other.tool == preference.tool && other.argument == name;
            });
            if (earlier != found.end()) {
                if (earlier->after == preference.after) preference.times = earlier->times + 1;
                found.erase(earlier);
            }
            found.push_back(std::move(preference));
        }
    }
    std::ranges::reverse(found);
    return found;
}

std::vector<Reluctance> reluctances(const std::vector<Feedback>& history, int rejections_min) {
    std::map<std::string, std::pair<int, std::set<std::string>>> by_tool;
    for (const Feedback& feedback : history) {
        if (feedback.kind != FeedbackKind::rejection || !feedback.lifted_by.empty()) continue;
        auto& [count, people] = by_tool[feedback.tool];
        ++count;
        people.insert(feedback.by);
    }
    std::vector<Reluctance> found;
    for (const auto& [tool, entry] : by_tool) {
        if (entry.first < rejections_min) continue;
        found.push_back({tool, entry.first, static_cast<int>(entry.second.size())});
    }
    return found;
}

std::string advice_text(const std::vector<Feedback>& history, std::size_t bytes_max) {
    std::vector<Section> all = sections(history);
    if (bytes_max <= heading.size()) return {};
    share_out(all, bytes_max - heading.size());
    std::string text;
    for (const Section& section : all) {
        if (section.taken == 0) continue;
        text += section.heading;
        for (std::size_t i = 0; i < section.taken; ++i) text += section.lines[i];
        if (const std::size_t left = section.lines.size() - section.taken; left > 0) {
            text += fmt::format(fmt::runtime(more), left);
        }
    }
    if (text.empty()) return {};
    return std::string(heading) + text;
}

}  // namespace holdpoint::agent::feedback

#include "policy/section.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "policy/yaml/fields.h"

namespace holdpoint::policy {
namespace {

using yaml::Kind;
using yaml::Node;

struct Unit {
    std::string_view name;
    std::int64_t ms;
};
constexpr std::array units{Unit{"w", 604'800'000}, Unit{"d", 86'400'000}, Unit{"h", 3'600'000},
                           Unit{"m", 60'000},      Unit{"s", 1'000},      Unit{"ms", 1}};
constexpr std::int64_t duration_ms_max = 3650LL * 86'400'000;

std::string comma_list(std::span<const std::string_view> words) {
    std::string out;
    for (const std::string_view word : words) {
        if (!out.empty()) out += ", ";
        out += word;
    }
    return out;
}

}  // namespace

void Fault::note(yaml::Mark mark, std::string_view message) {
    if (!error_) error_ = yaml::error_at(mark, message);
}

Section::Section(const Node& node, std::string what, Fault& fault)
    : node_(node), what_(std::move(what)), fault_(fault) {
    if (!node.is(Kind::map))
        refuse(fmt::format("{} must be a map, is {}", what_, to_string(node.kind)));
}

const Node* Section::find(std::string_view key) {
    asked_.push_back(key);
    return node_.find(key);
}

const Node* Section::find(std::string_view key, Kind kind) {
    const Node* node = find(key);
    if (!node || node->is(kind)) return node;
    refuse(*node, fmt::format("`{}` of {} must be {}, is {}", key, what_, to_string(kind),
                              to_string(node->kind)));
    return nullptr;
}

std::string Section::text(std::string_view key) {
    const Node* node = find(key);
    if (!node) return {};
    if (!node->is(Kind::text)) {
        refuse(*node, fmt::format("`{}` of {} must be text, is {}; put it in quotes", key, what_,
                                  to_string(node->kind)));
        return {};
    }
    if (node->text.empty()) refuse(*node, fmt::format("`{}` of {} is empty", key, what_));
    return node->text;
}

std::string Section::required_text(std::string_view key) {
    if (node_.is(Kind::map) && !node_.find(key)) refuse(fmt::format("{} needs `{}`", what_, key));
    return text(key);
}

std::optional<bool> Section::boolean(std::string_view key) {
    const Node* node = find(key);
    if (!node) return std::nullopt;
    if (node->is(Kind::boolean)) return node->boolean;
    refuse(*node, fmt::format("`{}` of {} must be true or false", key, what_));
    return std::nullopt;
}

std::optional<double> Section::number(std::string_view key, Bounds bounds) {
    const Node* node = find(key);
    if (!node) return std::nullopt;
    const bool is_number = node->is(Kind::integer) || node->is(Kind::number);
    if (is_number && node->number >= bounds.min && node->number <= bounds.max) return node->number;
    refuse(*node, fmt::format("`{}` of {} must be a number from {} to {}", key, what_, bounds.min,
                              bounds.max));
    return std::nullopt;
}

std::optional<int> Section::integer(std::string_view key, Bounds bounds) {
    const std::optional<double> value = number(key, bounds);
    if (!value) return std::nullopt;
    if (*value == std::floor(*value)) return static_cast<int>(*value);
    refuse(*node_.find(key), fmt::format("`{}` of {} must be a whole number", key, what_));
    return std::nullopt;
}

std::optional<std::int64_t> Section::duration(std::string_view key) {
    const Node* node = find(key);
    if (!node) return std::nullopt;
    const std::optional<std::int64_t> ms =
        node->is(Kind::text) ? parse_duration(node->text) : std::nullopt;
    if (!ms)
        refuse(*node, fmt::format("`{}` of {} must be a duration like `30s`, `5m` or `1h30m`", key,
                                  what_));
    return ms;
}

std::vector<std::string> Section::texts(std::string_view key) {
    const Node* node = find(key);
    if (!node) return {};
    if (node->is(Kind::text) && !node->text.empty()) return {node->text};
    if (!node->is(Kind::list)) {
        refuse(*node, fmt::format("`{}` of {} must be a list of texts", key, what_));
        return {};
    }
    std::vector<std::string> out;
    for (const Node& item : node->items) {
        if (!item.is(Kind::text) || item.text.empty())
            refuse(item,
                   fmt::format("`{}` of {} must hold texts; put this one in quotes", key, what_));
        out.push_back(item.text);
    }
    return out;
}

std::optional<std::size_t> Section::word(std::string_view key,
                                         std::span<const std::string_view> words) {
    const Node* node = find(key);
    if (!node) return std::nullopt;
    const auto found = std::find(words.begin(), words.end(), node->text);
    if (node->is(Kind::text) && found != words.end())
        return static_cast<std::size_t>(found - words.begin());
    refuse(*node, fmt::format("`{}` of {} must be one of {}, is `{}`{}", key, what_,
                              comma_list(words), node->text, did_you_mean(node->text, words)));
    return std::nullopt;
}

void Section::refuse(const Node& node, std::string_view message) {
    fault_.note(node.mark, message);
}

yaml::Mark Section::mark_of(std::string_view key) const {
    const Node* node = node_.find(key);
    return node ? node->mark : node_.mark;
}

void Section::finish() {
    for (const yaml::Entry& entry : node_.entries) {
        if (std::find(asked_.begin(), asked_.end(), entry.key) != asked_.end()) continue;
        fault_.note(entry.key_mark, fmt::format("{} has no `{}`{}", what_, entry.key,
                                                did_you_mean(entry.key, asked_)));
    }
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> words) {
    return yaml::did_you_mean(word, {words.begin(), words.end()});
}

std::optional<std::int64_t> parse_duration(std::string_view text) {
    std::int64_t total = 0;
    std::int64_t last_unit = duration_ms_max + 1;
    if (text.empty()) return std::nullopt;
    while (!text.empty()) {
        std::size_t digits = 0;
        while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') ++digits;
        if (digits == 0 || digits > 9) return std::nullopt;
        std::int64_t count = 0;
        for (const char c : text.substr(0, digits)) count = count * 10 + (c - '0');
        text.remove_prefix(digits);
        std::size_t letters = 0;
        while (letters < text.size() && text[letters] >= 'a' && text[letters] <= 'z') ++letters;
        const auto unit = std::find_if(units.begin(), units.end(), [&](const Unit& candidate) {
            return candidate.name == text.substr(0, letters);
        });
        // Units descend, so that `5m1h` and `1m1m`, which are likely slips, are refused.
        if (unit == units.end() || unit->ms >= last_unit) return std::nullopt;
        last_unit = unit->ms;
        total += count * unit->ms;
        if (total > duration_ms_max) return std::nullopt;
        text.remove_prefix(letters);
    }
    return total > 0 ? std::optional(total) : std::nullopt;
}

std::string duration_text(std::int64_t ms) {
    std::string out;
    for (const Unit& unit : units) {
        if (unit.name == "w" || ms < unit.ms) continue;
        out += fmt::format("{}{}", ms / unit.ms, unit.name);
        ms %= unit.ms;
    }
    return out.empty() ? "0s" : out;
}

}  // namespace holdpoint::policy

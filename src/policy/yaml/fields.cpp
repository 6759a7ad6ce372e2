#include "policy/yaml/fields.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/ascii.h"
#include "base/text.h"

namespace holdpoint::policy::yaml {
namespace {

std::string shown(std::string_view text) {
    return fmt::format("`{}`", visible(cut_utf8(text, 64)));
}

std::string folded(std::string_view word) {
    std::string result;
    for (const char c : word) {
        if (c == '-' || c == '_' || c == ' ') continue;
        result += ascii::lower(c);
    }
    return result;
}

/// Letters to insert, remove, replace or swap with the neighbour.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before;
    std::vector<std::size_t> above(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({replaced, above[j] + 1, row[j - 1] + 1});
            const bool is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (is_swap) row[j] = std::min(row[j], before[j - 2] + 1);
        }
        before = std::exchange(above, row);
    }
    return above[b.size()];
}

}  // namespace

std::string_view nearest(std::string_view word, const std::vector<std::string>& candidates) {
    constexpr std::size_t bytes_max = 64;  // longer words are no slips of the finger
    if (word.size() > bytes_max) return {};
    const std::string wanted = folded(word);
    const std::size_t allowed = wanted.size() <= 3 ? 1 : 2;
    std::string_view best;
    std::size_t best_distance = allowed + 1;
    for (const std::string& candidate : candidates) {
        if (candidate.size() > bytes_max) continue;
        const std::size_t found = distance(wanted, folded(candidate));
        if (found < best_distance && found < candidate.size()) {
            best = candidate;
            best_distance = found;
        }
    }
    return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
    const std::string_view guess = nearest(word, candidates);
    return guess.empty() ? std::string() : fmt::format(", did you mean `{}`?", guess);
}

Result<std::vector<std::string>> texts_of(const Node& node, std::string_view what) {
    if (!node.is(Kind::list)) {
        return error_at(node.mark,
                        fmt::format("{} must be a list, not {}", what, to_string(node.kind)));
    }
    std::vector<std::string> result;
    result.reserve(node.items.size());
    for (const Node& item : node.items) {
        if (!item.is(Kind::text)) {
            return error_at(item.mark, fmt::format("{} must hold text only, not {}; quote it", what,
                                                   to_string(item.kind)));
        }
        result.push_back(item.text);
    }
    return result;
}

Fields::Fields(const Node& node, std::string_view what) : node_(node), what_(what) {
    if (!node.is(Kind::map)) {
        fail(error_at(node.mark,
                      fmt::format("{} must be a map, not {}", what_, to_string(node.kind))));
    }
}

void Fields::fail(Error error) {
    if (!error_) error_ = std::move(error);
}

void Fields::refuse(std::string_view key, std::string_view message) {
    fail(error_at(mark_of(key), fmt::format("`{}` {}", key, message)));
}

bool Fields::has(std::string_view key) const { return node_.find(key) != nullptr; }

Mark Fields::mark_of(std::string_view key) const {
    const Node* found = node_.find(key);
    return found ? found->mark : node_.mark;
}

const Node* Fields::any(std::string_view key) {
    seen_.emplace_back(key);
    return node_.find(key);
}

void Fields::wrong_kind(const Node& node, std::string_view key, std::string_view wanted) {
    const bool is_plain_scalar =
        wanted == to_string(Kind::text) &&
        (node.is(Kind::boolean) || node.is(Kind::integer) || node.is(Kind::number));
    fail(error_at(node.mark,
                  fmt::format("`{}` must be {}, not {}{}", key, wanted, to_string(node.kind),
                              is_plain_scalar ? "; quote it" : "")));
}

const Node* Fields::find(std::string_view key, Kind kind) {
    const Node* found = any(key);
    if (!found || found->is(Kind::null)) return nullptr;
    if (found->is(kind)) return found;
    wrong_kind(*found, key, to_string(kind));
    return nullptr;
}

std::optional<std::string> Fields::text(std::string_view key) {
    const Node* found = find(key, Kind::text);
    if (!found) return std::nullopt;
    return found->text;
}

std::optional<bool> Fields::boolean(std::string_view key) {
    const Node* found = find(key, Kind::boolean);
    if (!found) return std::nullopt;
    return found->boolean;
}

std::optional<std::int64_t> Fields::integer(std::string_view key, std::int64_t min,
                                            std::int64_t max) {
    const Node* found = find(key, Kind::integer);
    if (!found) return std::nullopt;
    if (found->integer >= min && found->integer <= max) return found->integer;
    refuse(key, fmt::format("must be from {} to {}", min, max));
    return std::nullopt;
}

std::optional<double> Fields::number(std::string_view key, double min, double max) {
    const Node* found = any(key);
    if (!found || found->is(Kind::null)) return std::nullopt;
    if (!found->is(Kind::integer) && !found->is(Kind::number)) {
        wrong_kind(*found, key, to_string(Kind::number));
        return std::nullopt;
    }
    if (found->number >= min && found->number <= max) return found->number;
    refuse(key, fmt::format("must be from {} to {}", min, max));
    return std::nullopt;
}

std::optional<std::vector<std::string>> Fields::texts(std::string_view key) {
    const Node* found = any(key);
    if (!found || found->is(Kind::null)) return std::nullopt;
    Result<std::vector<std::string>> result = texts_of(*found, fmt::format("`{}`", key));
    if (result) return std::move(*result);
    fail(result.error());
    return std::nullopt;
}

std::optional<std::string> Fields::word(std::string_view key,
                                        std::initializer_list<std::string_view> words) {
    std::optional<std::string> found = text(key);
    if (!found || std::ranges::find(words, *found) != words.end()) return found;
    const std::vector<std::string> known(words.begin(), words.end());
    refuse(key, fmt::format("is {}, must be one of {}{}", shown(*found), fmt::join(words, ", "),
                            did_you_mean(*found, known)));
    return std::nullopt;
}

const Node* Fields::list(std::string_view key) { return find(key, Kind::list); }
const Node* Fields::map(std::string_view key) { return find(key, Kind::map); }

const Node* Fields::present(std::string_view key, const Node* found) {
    const Node* there = node_.find(key);
    if (!there || there->is(Kind::null)) {
        fail(error_at(there ? there->mark : node_.mark, fmt::format("{} needs `{}`", what_, key)));
    }
    return found;
}

std::string Fields::required_text(std::string_view key) {
    const Node* found = present(key, find(key, Kind::text));
    if (found && found->text.empty()) refuse(key, "must not be empty");
    return found ? found->text : std::string();
}

std::int64_t Fields::required_integer(std::string_view key, std::int64_t min, std::int64_t max) {
    const std::optional<std::int64_t> found = integer(key, min, max);
    present(key, nullptr);
    return found.value_or(min);
}

const Node* Fields::required(std::string_view key) { return present(key, any(key)); }
const Node* Fields::required_list(std::string_view key) { return present(key, list(key)); }
const Node* Fields::required_map(std::string_view key) { return present(key, map(key)); }

Result<void> Fields::finish() {
    for (const Entry& entry : node_.entries) {
        if (error_) break;
        if (std::ranges::find(seen_, entry.key) != seen_.end()) continue;
        fail(error_at(entry.key_mark, fmt::format("unknown key {} in {}{}", shown(entry.key), what_,
                                                  did_you_mean(entry.key, seen_))));
    }
    if (error_) return *error_;
    return {};
}

}  // namespace holdpoint::policy::yaml

#include <fmt/format.h>

#include <algorithm>

#include "policy/match/matcher.h"
#include "policy/matchers.h"
#include "policy/shell/cover.h"
#include "policy/shell_line.h"

namespace holdpoint::policy {
namespace {

using boost::json::value;
using Form = Pattern::Form;

constexpr int depth_max = 32;

std::string_view text_of(const value& value) {
    return {value.get_string().data(), value.get_string().size()};
}

/// Calls `see` with every text below `value` until it says stop (false).
template <class See>
bool each_text(const value& value, See& see, int depth = 0) {
    if (value.is_string()) return see(text_of(value));
    if (depth > depth_max) return true;
    if (value.is_array()) {
        for (const auto& item : value.get_array()) {
            if (!each_text(item, see, depth + 1)) return false;
        }
    } else if (value.is_object()) {
        for (const auto& member : value.get_object()) {
            if (!each_text(member.value(), see, depth + 1)) return false;
        }
    }
    return true;
}

std::vector<std::string> split_words(std::string_view text) {
    std::vector<std::string> words;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        if (end > 0) words.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return words;
}

}  // namespace

struct PatternMatcher::Compiled {
    Pattern pattern;
    match::Matcher matcher;
    std::vector<shell::AllowPattern> commands;  ///< word and prefix, as a command

    /// Finding errs towards more: what cannot be looked through counts as found.
    bool is_in(std::string_view text) const { return matcher.occurs(text).value_or(true); }
    /// Covering errs towards less.
    bool is_whole(std::string_view text) const { return matcher.fits(text).value_or(false); }
};

Result<PatternMatcher> PatternMatcher::compile(const Pattern& pattern, Effect effect) {
    match::MatcherSpec spec;
    spec.kind = static_cast<match::MatcherKind>(pattern.form);
    spec.pattern = pattern.text;
    spec.is_unanchored = pattern.form == Form::regex && effect != Effect::allow;
    Result<match::Matcher> matcher = match::Matcher::compile(spec);
    if (!matcher) return yaml::error_at(pattern.mark, matcher.error().message);
    auto compiled = std::make_shared<Compiled>(Compiled{pattern, std::move(*matcher), {}});
    const bool is_words = pattern.form == Form::word || pattern.form == Form::prefix;
    if (is_words && effect == Effect::allow) {
        shell::CommandPattern words;
        for (std::string& word : split_words(pattern.text))
            words.words.push_back({std::move(word)});
        Result<shell::AllowPattern> allow = shell::AllowPattern::compile(std::move(words));
        if (allow) compiled->commands.push_back(std::move(*allow));
    }
    PatternMatcher out;
    out.compiled_ = std::move(compiled);
    return out;
}

bool PatternMatcher::finds(const json::object& args, const ShellLine* line) const {
    const Compiled& compiled = *compiled_;
    bool is_found = false;
    auto see = [&](std::string_view text) {
        is_found = compiled.is_in(text);
        return !is_found;
    };
    for (const auto& member : args) {
        const std::string_view name{member.key().data(), member.key().size()};
        if (!compiled.pattern.arg.empty() && name != compiled.pattern.arg) continue;
        if (!each_text(member.value(), see)) return true;
    }
    // Quotes and blanks are no hiding place: the words as they will run are looked at too.
    return line && compiled.is_in(line->plain_text());
}

bool PatternMatcher::covers(const json::object& args, std::string_view shell_arg,
                            const ShellLine* line) const {
    const Compiled& compiled = *compiled_;
    std::size_t covered = 0;
    auto see = [&](std::string_view text) {
        ++covered;
        return compiled.is_whole(text);
    };
    for (const auto& member : args) {
        const std::string_view name{member.key().data(), member.key().size()};
        if (!compiled.pattern.arg.empty() && name != compiled.pattern.arg) continue;
        if (line && name == shell_arg) {
            if (!shell::is_covered(line->reading().proved, compiled.commands)) return false;
            ++covered;
        } else if (!each_text(member.value(), see)) {
            return false;
        }
    }
    return covered > 0;
}

}  // namespace holdpoint::policy

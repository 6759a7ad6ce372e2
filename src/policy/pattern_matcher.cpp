#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>

#include "policy/glob.h"
#include "policy/matchers.h"
#include "policy/shell/cover.h"
#include "policy/shell_line.h"

namespace holdpoint::policy {
namespace {

using boost::json::value;
using Form = Pattern::Form;

constexpr std::size_t subject_bytes_max = 64 * 1024;
constexpr int regex_program_max = 1000;
constexpr std::int64_t regex_bytes_max = 1 << 20;
constexpr int depth_max = 32;

bool is_word_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool has_word(std::string_view text, std::string_view word) {
    for (std::size_t at = text.find(word); at != std::string_view::npos;
         at = text.find(word, at + 1)) {
        const bool starts =
            at == 0 || !is_word_character(text[at - 1]) || !is_word_character(word.front());
        const std::size_t end = at + word.size();
        const bool ends =
            end == text.size() || !is_word_character(text[end]) || !is_word_character(word.back());
        if (starts && ends) return true;
    }
    return false;
}

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
    std::unique_ptr<RE2> regex;
    std::vector<shell::AllowPattern> commands;  ///< word and prefix, as a command

    /// Finding errs towards more: what is too long to look through counts as found.
    bool is_in(std::string_view text) const {
        if (text.size() > subject_bytes_max) return true;
        switch (pattern.form) {
            case Form::word:
                return has_word(text, pattern.text);
            case Form::prefix:
                return text.starts_with(pattern.text);
            case Form::glob:
                return glob_matches(pattern.text, text);
            case Form::regex:
                return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *regex);
        }
        return true;
    }

    /// Covering errs towards less: all of the text must be what the pattern says.
    bool is_whole(std::string_view text) const {
        if (text.size() > subject_bytes_max) return false;
        switch (pattern.form) {
            case Form::word:
                return text == pattern.text;
            case Form::prefix:
                return text.starts_with(pattern.text);
            case Form::glob:
                return glob_matches(pattern.text, text);
            case Form::regex:
                return RE2::FullMatch(re2::StringPiece(text.data(), text.size()), *regex);
        }
        return false;
    }
};

Result<PatternMatcher> PatternMatcher::compile(const Pattern& pattern) {
    auto compiled = std::make_shared<Compiled>();
    compiled->pattern = pattern;
    if (pattern.form == Form::regex) {
        RE2::Options options;
        options.set_log_errors(false);
        options.set_max_mem(regex_bytes_max);
        compiled->regex = std::make_unique<RE2>(pattern.text, options);
        if (!compiled->regex->ok())
            return yaml::error_at(pattern.mark, fmt::format("pattern `{}`: {}", pattern.text,
                                                            compiled->regex->error()));
        if (compiled->regex->ProgramSize() > regex_program_max)
            return yaml::error_at(pattern.mark,
                                  fmt::format("pattern `{}` is too large", pattern.text));
    } else if (pattern.form != Form::glob) {
        shell::CommandPattern words;
        for (std::string& word : split_words(pattern.text))
            words.words.push_back({std::move(word)});
        if (!words.words.empty()) {
            Result<shell::AllowPattern> allow = shell::AllowPattern::compile(std::move(words));
            if (allow) compiled->commands.push_back(std::move(*allow));
        }
    }
    PatternMatcher matcher;
    matcher.compiled_ = std::move(compiled);
    return matcher;
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

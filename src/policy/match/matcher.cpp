#include "policy/match/matcher.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

#include "base/ascii.h"
#include "base/text.h"
#include "policy/match/characters.h"
#include "policy/match/glob.h"

namespace holdpoint::policy::match {
namespace {

using ascii::lower;
using ascii::lowered;

constexpr int program_size_max = 1000;
constexpr std::int64_t memory_max = 1024 * 1024;
constexpr std::size_t pattern_bytes_max = 4096;

Error pattern_refused(std::string_view pattern, std::string_view why) {
    return {ErrorCode::invalid_argument,
            fmt::format("pattern `{}`: {}", quotable(pattern, 128), why)};
}

/// Letters, digits, `_` and every byte beyond ASCII: `rm` does not stand in `farm` nor in `rmé`.
bool is_word_byte(char c) {
    return (lower(c) >= 'a' && lower(c) <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
           static_cast<unsigned char>(c) >= 0x80;
}

/// Whether a word ends or begins between two neighbours.
bool is_boundary(std::string_view text, std::size_t at) {
    if (at == 0 || at == text.size()) return true;
    return !is_word_byte(text[at - 1]) || !is_word_byte(text[at]);
}

Result<void> check_size(std::string_view text) {
    if (text.size() <= Matcher::text_bytes_max) return {};
    return Error{ErrorCode::too_large, "a text of more than 65536 bytes is not compared"};
}

}  // namespace

Result<Matcher> Matcher::compile(MatcherSpec spec) {
    if (spec.pattern.empty()) return pattern_refused(spec.pattern, "is empty");
    if (spec.pattern.size() > pattern_bytes_max)
        return pattern_refused(spec.pattern, "is longer than 4096 bytes");
    if (find_odd_character(spec.pattern)) {
        return pattern_refused(spec.pattern, "holds a control or invisible character");
    }
    if (spec.is_unanchored && spec.kind != MatcherKind::re) {
        return pattern_refused(spec.pattern, "only `re` can be unanchored");
    }
    Matcher result;
    if (spec.kind == MatcherKind::re) {
        re2::RE2::Options options;
        options.set_log_errors(false);
        options.set_max_mem(memory_max);
        options.set_case_sensitive(!spec.ignores_case);
        auto expression = std::make_shared<re2::RE2>(spec.pattern, options);
        if (!expression->ok()) return pattern_refused(spec.pattern, expression->error());
        if (expression->ProgramSize() > program_size_max) {
            return pattern_refused(spec.pattern, "is too large: more than 1000 instructions");
        }
        result.expression_ = std::move(expression);
    }
    result.spec_ = std::move(spec);
    return result;
}

bool Matcher::same(std::string_view a, std::string_view b) const {
    return spec_.ignores_case ? std::ranges::equal(a, b, {}, lower, lower) : a == b;
}

bool Matcher::expression_matches(std::string_view text) const {
    const re2::StringPiece piece(text.data(), text.size());
    return spec_.is_unanchored ? re2::RE2::PartialMatch(piece, *expression_)
                               : re2::RE2::FullMatch(piece, *expression_);
}

bool Matcher::glob_fits(std::string_view text) const {
    if (!spec_.ignores_case) return glob_matches(spec_.pattern, text, GlobKind::text);
    return glob_matches(lowered(spec_.pattern), lowered(text), GlobKind::text);
}

Result<bool> Matcher::fits(std::string_view text) const {
    if (Result<void> ok = check_size(text); !ok) return ok.error();
    const std::string_view pattern = spec_.pattern;
    switch (spec_.kind) {
        case MatcherKind::word:
            return same(text, pattern);
        case MatcherKind::prefix:
            return same(text.substr(0, pattern.size()), pattern) &&
                   is_boundary(text, pattern.size());
        case MatcherKind::glob:
            return glob_fits(text);
        case MatcherKind::re:
            return expression_matches(text);
    }
    return false;
}

Result<bool> Matcher::occurs(std::string_view text) const {
    if (Result<void> ok = check_size(text); !ok) return ok.error();
    const std::string_view pattern = spec_.pattern;
    switch (spec_.kind) {
        case MatcherKind::word: {
            const std::string folded = spec_.ignores_case ? lowered(text) : std::string();
            const std::string wanted = spec_.ignores_case ? lowered(pattern) : std::string();
            const std::string_view where = spec_.ignores_case ? std::string_view(folded) : text;
            const std::string_view what = spec_.ignores_case ? std::string_view(wanted) : pattern;
            for (std::size_t at = where.find(what); at != std::string_view::npos;
                 at = where.find(what, at + 1)) {
                if (is_boundary(where, at) && is_boundary(where, at + what.size())) return true;
            }
            return false;
        }
        case MatcherKind::prefix:
            return same(text.substr(0, pattern.size()), pattern);
        case MatcherKind::glob:
            return glob_fits(text);
        case MatcherKind::re:
            return expression_matches(text);
    }
    return false;
}

std::optional<std::string> lint(const MatcherSpec& spec) {
    const std::string_view pattern = spec.pattern;
    if (spec.kind != MatcherKind::re) {
        if (spec.kind == MatcherKind::glob &&
            pattern.find_first_not_of('*') == std::string_view::npos) {
            return "fits every text";
        }
        return std::nullopt;
    }
    for (std::size_t at = 0; at < pattern.size(); ++at) {
        if (pattern[at] == '\\') {
            ++at;
        } else if (pattern[at] == '|') {
            const bool is_beside_blank = (at > 0 && pattern[at - 1] == ' ') ||
                                         (at + 1 < pattern.size() && pattern[at + 1] == ' ');
            if (is_beside_blank) return "`|` means or; write `\\|` for the character";
        }
    }
    if (pattern == ".*" || pattern == "(?s).*" || (spec.is_unanchored && pattern == ".")) {
        return "fits every text";
    }
    return std::nullopt;
}

}  // namespace holdpoint::policy::match

#include "policy/match/glob.h"

#include <cstddef>

#include "base/text.h"

namespace holdpoint::policy::match {
namespace {

/// One code point; a byte that is not UTF-8 counts as a character of its own.
CodePoint code_point_at(std::string_view text, std::size_t at) {
    const CodePoint point = first_code_point(text.substr(at));
    if (point.bytes > 0) return point;
    return {0x110000U + static_cast<unsigned char>(text[at]), 1};
}

/// One place of the pattern: how many bytes it takes and whether a character fits it.
struct Piece {
    std::size_t bytes;
    bool fits;
};

/// `[a-z]` at `pattern[at]`; bytes is 0 where there is no closing bracket.
Piece fit_class(std::string_view pattern, std::size_t at, char32_t value) {
    std::size_t i = at + 1;
    const bool is_negated = i < pattern.size() && (pattern[i] == '!' || pattern[i] == '^');
    if (is_negated) ++i;
    bool is_inside = false;
    for (bool is_first = true; i < pattern.size(); is_first = false) {
        if (pattern[i] == ']' && !is_first) return {i + 1 - at, is_inside != is_negated};
        if (pattern[i] == '\\' && i + 1 < pattern.size()) ++i;
        const CodePoint low = code_point_at(pattern, i);
        i += static_cast<std::size_t>(low.bytes);
        CodePoint high = low;
        if (i + 1 < pattern.size() && pattern[i] == '-' && pattern[i + 1] != ']') {
            ++i;
            if (pattern[i] == '\\' && i + 1 < pattern.size()) ++i;
            high = code_point_at(pattern, i);
            i += static_cast<std::size_t>(high.bytes);
        }
        is_inside = is_inside || (low.value <= value && value <= high.value);
    }
    return {0, false};
}

Piece fit_one(std::string_view pattern, std::size_t at, char32_t value, GlobKind kind) {
    const bool is_slash = kind == GlobKind::path && value == '/';
    if (pattern[at] == '?') return {1, !is_slash};
    if (pattern[at] == '[') {
        const Piece piece = fit_class(pattern, at, value);
        if (piece.bytes > 0) return {piece.bytes, piece.fits && !is_slash};
    }
    const std::size_t escape = pattern[at] == '\\' && at + 1 < pattern.size() ? 1 : 0;
    const CodePoint wanted = code_point_at(pattern, at + escape);
    return {escape + static_cast<std::size_t>(wanted.bytes), wanted.value == value};
}

/// Where to go on when the rest did not fit: the star takes one character more.
struct Retry {
    std::size_t pattern = std::string_view::npos;  // behind the star
    std::size_t text = 0;                          // up to where it has taken
};

/// `**` that stands for whole folders: at the beginning or behind `/`, and before `/` or the end.
bool is_folders(std::string_view pattern, std::size_t at, GlobKind kind) {
    if (kind != GlobKind::path || !pattern.substr(at).starts_with("**")) return false;
    const bool begins = at == 0 || pattern[at - 1] == '/';
    return begins && (at + 2 == pattern.size() || pattern[at + 2] == '/');
}

}  // namespace

bool is_glob(std::string_view pattern) {
    return pattern.find_first_of("*?[\\") != std::string_view::npos;
}

// Only the last star of each kind needs another try: whatever an earlier one could still do, the
// later one can do as well. The inner kind stops at slashes, so the outer one is kept beside it.
bool glob_matches(std::string_view pattern, std::string_view text, GlobKind kind) {
    std::size_t p = 0;
    std::size_t t = 0;
    Retry star;
    Retry folders;
    while (true) {
        if (p < pattern.size() && is_folders(pattern, p, kind)) {
            const bool is_last = p + 2 == pattern.size();
            // `a/**` fits what is below `a`, so something must follow.
            if (is_last) return t < text.size();
            p += 3;
            folders = {p, t};
            star = {};
            continue;
        }
        if (p < pattern.size() && pattern[p] == '*') {
            while (p < pattern.size() && pattern[p] == '*') ++p;
            star = {p, t};
            continue;
        }
        if (p == pattern.size() && t == text.size()) return true;
        if (p < pattern.size() && t < text.size()) {
            const CodePoint point = code_point_at(text, t);
            const Piece piece = fit_one(pattern, p, point.value, kind);
            if (piece.fits) {
                p += piece.bytes;
                t += static_cast<std::size_t>(point.bytes);
                continue;
            }
        }
        const bool star_may_grow = star.pattern != std::string_view::npos &&
                                   star.text < text.size() &&
                                   (kind == GlobKind::text || text[star.text] != '/');
        if (star_may_grow) {
            star.text += static_cast<std::size_t>(code_point_at(text, star.text).bytes);
            p = star.pattern;
            t = star.text;
            continue;
        }
        if (folders.pattern == std::string_view::npos) return false;
        const std::size_t slash = text.find('/', folders.text);
        if (slash == std::string_view::npos) return false;
        folders.text = slash + 1;
        p = folders.pattern;
        t = folders.text;
        star = {};
    }
}

}  // namespace holdpoint::policy::match

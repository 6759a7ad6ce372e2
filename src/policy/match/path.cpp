#include "policy/match/path.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/text.h"
#include "policy/match/characters.h"
#include "policy/match/glob.h"

namespace holdpoint::policy::match {
namespace {

using ascii::is_letter;
using ascii::lowered;

constexpr std::size_t path_bytes_max = 4096;

Error path_refused(std::string_view path, std::string_view why) {
    return {ErrorCode::invalid_argument, fmt::format("path `{}`: {}", quotable(path, 128), why)};
}

bool is_hex(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool has_percent_escape(std::string_view text) {
    for (std::size_t at = text.find('%'); at != std::string_view::npos;
         at = text.find('%', at + 1)) {
        if (at + 2 < text.size() && is_hex(text[at + 1]) && is_hex(text[at + 2])) return true;
    }
    return false;
}

std::string_view why_refused(std::string_view path) {
    if (path.empty()) return "is empty";
    if (path.size() > path_bytes_max) return "is longer than 4096 bytes";
    if (find_odd_character(path)) return "holds a control or invisible character";
    if (path.contains('\\')) return "holds a backslash, which is a separator to some";
    if (path.contains("://")) return "looks like a URL";
    if (path.size() > 1 && is_letter(path[0]) && path[1] == ':')
        return "begins with a drive letter";
    if (path[0] == '~' && path.size() > 1 && path[1] != '/') return "another user's home";
    if (path[0] == '$' || (path[0] == '%' && !has_percent_escape(path.substr(0, 3))))
        return "begins with a variable, which some replace";
    if (path.find_first_of("*?") != std::string_view::npos)
        return "holds a wildcard, which some expand";
    return {};
}

/// Takes the parts of `path` onto `parts`; `..` beyond the top stays only where there is no top.
void append_parts(std::string_view path, bool has_top, std::vector<std::string_view>& parts) {
    while (!path.empty()) {
        const std::size_t end = std::min(path.find('/'), path.size());
        const std::string_view part = path.substr(0, end);
        path.remove_prefix(std::min(end + 1, path.size()));
        if (part.empty() || part == ".") continue;
        if (part != "..") {
            parts.push_back(part);
        } else if (!parts.empty() && parts.back() != "..") {
            parts.pop_back();
        } else if (!has_top) {
            parts.push_back(part);
        }
    }
}

std::string join(std::string_view root, const std::vector<std::string_view>& parts) {
    std::string text(root);
    for (const std::string_view part : parts) {
        if (!text.empty() && text.back() != '/') text += '/';
        text += part;
    }
    return text.empty() ? "." : text;
}

/// Where a path starts: `/`, a declared folder, `~` or nowhere.
NormalPath normalised(std::string_view path, const PathContext& context) {
    std::vector<std::string_view> parts;
    NormalPath result;
    result.is_percent_encoded = has_percent_escape(path);
    const bool is_home = path[0] == '~';
    if (is_home && context.home.empty()) {
        // `~/../x` leaves a home that nobody knows.
        append_parts(path.substr(1), false, parts);
        result.is_above = !parts.empty() && parts[0] == "..";
        result.text = join("~", parts);
        return result;
    }
    const std::string_view base = is_home          ? std::string_view(context.home)
                                  : path[0] == '/' ? std::string_view("/")
                                                   : std::string_view(context.working_directory);
    result.is_absolute = base.starts_with('/');
    if (result.is_absolute) append_parts(base, true, parts);
    append_parts(is_home ? path.substr(1) : path, result.is_absolute, parts);
    result.is_above = !parts.empty() && parts[0] == "..";
    result.text = join(result.is_absolute ? "/" : "", parts);
    return result;
}

bool is_below(std::string_view text, std::string_view folder) {
    if (folder == "/" || folder == ".") return true;
    if (!text.starts_with(folder)) return false;
    return text.size() == folder.size() || text[folder.size()] == '/';
}

Result<NormalPath> decoded(std::string_view path, const PathContext& context) {
    const Result<std::string> plain = percent_decode(path);
    if (!plain) return plain.error();
    return normalise_path(*plain, context);
}

/// Of each part what stands before a colon, without blanks around it and dots behind it: some
/// systems take `.env `, `.env.` and `.env:x` for `.env`.
std::string trimmed(std::string_view text) {
    std::string result;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('/'), text.size());
        const std::string_view part = text.substr(0, end);
        std::string_view core = part.substr(0, part.find(':'));
        while (core.starts_with(' ')) core.remove_prefix(1);
        while (core.ends_with(' ') || core.ends_with('.')) core.remove_suffix(1);
        result += core.empty() ? part : core;
        if (end < text.size()) result += '/';
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return result;
}

/// What a path through /proc leads to: `etc/passwd` for `/proc/self/root/etc/passwd`. Empty for
/// other paths.
std::string_view behind_proc(std::string_view text) {
    if (!text.starts_with("/proc/")) return {};
    for (const std::string_view link : {"/root/", "/cwd/"}) {
        const std::size_t at = text.find(link);
        if (at != std::string_view::npos) return text.substr(at + link.size());
    }
    return {};
}

}  // namespace

Result<NormalPath> normalise_path(std::string_view path, const PathContext& context) {
    if (const std::string_view why = why_refused(path); !why.empty())
        return path_refused(path, why);
    NormalPath normal = normalised(path, context);
    if (normal.is_above && normal.text.starts_with('~'))
        return path_refused(path, "leaves a home that nobody knows");
    return normal;
}

Result<bool> path_under(std::string_view path, std::string_view folder,
                        const PathContext& context) {
    const Result<NormalPath> normal = normalise_path(path, context);
    if (!normal) return normal.error();
    const Result<NormalPath> top = normalise_path(folder, context);
    if (!top) return top.error();
    if (normal->is_absolute != top->is_absolute) {
        return path_refused(
            path, "relative and absolute cannot be compared; declare a working directory");
    }
    if (normal->text.starts_with('~') != top->text.starts_with('~')) {
        return path_refused(path, "home is not declared");
    }
    if (top->is_above) return path_refused(folder, "leaves the folder it is relative to");
    const bool is_under = !normal->is_above && is_below(normal->text, top->text);
    if (!normal->is_percent_encoded) return is_under;

    const Result<NormalPath> other = decoded(path, context);
    if (!other) return other.error();
    const bool is_other_under = !other->is_above && is_below(other->text, top->text);
    if (is_under != is_other_under || other->is_percent_encoded) {
        return path_refused(path, "percent-encoding makes it two different files");
    }
    return is_under;
}

Result<PathPattern> PathPattern::compile(std::string_view pattern, const PathContext& context) {
    if (pattern.empty()) return path_refused(pattern, "a pattern is empty");
    if (find_odd_character(pattern))
        return path_refused(pattern, "holds a control or invisible character");
    if (pattern[0] == '~' && pattern.size() > 1 && pattern[1] != '/') {
        return path_refused(pattern, "another user's home");
    }
    if (("/" + std::string(pattern) + "/").find("/../") != std::string::npos) {
        return path_refused(pattern, "a pattern holds no `..`");
    }
    PathPattern result;
    const bool is_anywhere = pattern.starts_with("**/") || pattern == "**";
    std::string strict = is_anywhere ? std::string(pattern) : normalised(pattern, context).text;
    if (pattern[0] == '~' && !context.home.empty())
        result.loose_patterns_.push_back(lowered(pattern));
    if (pattern[0] == '~') {
        const std::string rest = lowered(pattern.substr(1));
        for (const char* home : {"/home/*", "/users/*", "/var/home/*", "/root", "/var/root"}) {
            result.loose_patterns_.push_back(home + rest);
        }
    }
    result.loose_patterns_.push_back(lowered(strict));
    if (!is_anywhere && strict[0] != '/' && strict[0] != '~')
        result.inner_patterns_.push_back("**/" + lowered(strict));
    result.patterns_.push_back(std::move(strict));
    // Whoever may not see what is in a folder has no business with the folder.
    for (auto* patterns : {&result.loose_patterns_, &result.inner_patterns_}) {
        for (std::size_t i = 0; i < patterns->size(); ++i) {
            std::string_view folder = (*patterns)[i];
            if (!folder.ends_with("/**")) continue;
            folder.remove_suffix(3);
            if (!folder.empty() && folder != "**") patterns->emplace_back(folder);
        }
    }
    return result;
}

bool PathPattern::covers(const NormalPath& path) const {
    if (path.is_above || path.is_percent_encoded) return false;
    return std::ranges::any_of(patterns_, [&](const std::string& pattern) {
        return glob_matches(pattern, path.text, GlobKind::path);
    });
}

bool PathPattern::finds_text(std::string_view text) const {
    const auto is_in = [](const std::vector<std::string>& patterns, std::string_view candidate) {
        return std::ranges::any_of(patterns, [&](const std::string& pattern) {
            return glob_matches(pattern, candidate, GlobKind::path);
        });
    };
    if (is_in(loose_patterns_, text)) return true;
    // Where it ends cannot be known without knowing where it starts: any end may be the one meant.
    const bool is_elsewhere = text.starts_with('/') || text.starts_with("../") || text == "..";
    if (!is_elsewhere) return false;
    if (is_in(inner_patterns_, text)) return true;
    if (text[0] == '/') return false;
    while (text.starts_with("../")) text.remove_prefix(3);
    return is_in(loose_patterns_, "/" + std::string(text));
}

bool PathPattern::finds_forms(std::string_view text) const {
    const std::string folded = lowered(text);
    if (finds_text(folded)) return true;
    const std::string plain = trimmed(folded);
    if (plain != folded && finds_text(plain)) return true;
    const std::string_view target = behind_proc(folded);
    return !target.empty() && (finds_text(target) || finds_text("/" + std::string(target)));
}

bool PathPattern::finds(const NormalPath& path) const {
    if (finds_forms(path.text)) return true;
    if (!path.is_percent_encoded) return false;
    // What a tool makes of the escapes: decoded once. If that is no path, it is taken for found.
    const Result<std::string> plain = percent_decode(path.text);
    const Result<NormalPath> other =
        plain ? normalise_path(*plain) : Result<NormalPath>(plain.error());
    return !other || other->is_percent_encoded || finds_forms(other->text);
}

}  // namespace holdpoint::policy::match

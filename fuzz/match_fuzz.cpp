#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "base/text.h"
#include "policy/match/glob.h"
#include "policy/match/matcher.h"
#include "policy/match/names.h"
#include "policy/match/path.h"
#include "policy/match/url.h"

namespace match = holdpoint::policy::match;

namespace {

void check_refusal(const holdpoint::Error& error) {
    HOLDPOINT_ASSERT(!error.message.empty() && error.message.size() < 1024);
    HOLDPOINT_ASSERT(holdpoint::is_utf8(error.message));
    for (const char c : error.message) HOLDPOINT_ASSERT(static_cast<unsigned char>(c) >= 0x20);
}

void check_path(std::string_view text, const match::PathContext& context) {
    const auto path = match::normalise_path(text, context);
    if (!path) return check_refusal(path.error());
    const std::string bounded = "/" + path->text + "/";
    HOLDPOINT_ASSERT(!path->text.empty());
    HOLDPOINT_ASSERT(path->is_absolute == path->text.starts_with('/'));
    HOLDPOINT_ASSERT(!path->is_absolute || !bounded.contains("/../"));
    HOLDPOINT_ASSERT(path->is_above || !bounded.contains("/../"));
    HOLDPOINT_ASSERT(!path->text.contains("//") &&
                     (path->text == "/" || !path->text.ends_with('/')));
    HOLDPOINT_ASSERT(path->text == "." || !bounded.substr(1).contains("/./"));
    const auto again = match::normalise_path(path->text, context);
    // What was short enough may have become too long with its folder in front.
    if (again) HOLDPOINT_ASSERT(again->text == path->text);

    const auto is_under = match::path_under(text, "/srv/app", context);
    if (is_under && *is_under) {
        HOLDPOINT_ASSERT(path->text == "/srv/app" || path->text.starts_with("/srv/app/"));
    }
    const auto pattern = *match::PathPattern::compile("/srv/app/src/**", context);
    if (pattern.covers(*path))
        HOLDPOINT_ASSERT(path->text.starts_with("/srv/app/src/") && pattern.finds(*path));
}

void check_url(std::string_view text) {
    const auto url = match::parse_url(text);
    if (!url) return check_refusal(url.error());
    for (const char c : url->host) {
        const bool is_fine = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                             std::string_view("-_.:").contains(c);
        HOLDPOINT_ASSERT(is_fine);
    }
    if (url->host_kind == match::HostKind::none) return;
    const bool is_ipv6 = url->host_kind == match::HostKind::ipv6;
    const std::string again =
        is_ipv6 ? "https://[" + url->host + "]/" : "https://" + url->host + "/";
    const auto same = match::parse_url(again);
    HOLDPOINT_ASSERT(same && same->host == url->host && same->host_kind == url->host_kind);
    HOLDPOINT_ASSERT(url->path.empty() || url->path.starts_with('/'));
    HOLDPOINT_ASSERT(!(url->path + "/").contains("/../"));
}

/// A glob of `*`, `?` and letters, by definition; only for short texts.
bool slow_glob(std::string_view pattern, std::string_view text) {
    if (pattern.empty()) return text.empty();
    if (pattern[0] == '*') {
        return slow_glob(pattern.substr(1), text) ||
               (!text.empty() && slow_glob(pattern, text.substr(1)));
    }
    if (text.empty()) return false;
    return (pattern[0] == '?' || pattern[0] == text[0]) &&
           slow_glob(pattern.substr(1), text.substr(1));
}

void check_glob(std::string_view pattern, std::string_view text) {
    const bool fits = match::glob_matches(pattern, text, match::GlobKind::text);
    const bool fits_path = match::glob_matches(pattern, text, match::GlobKind::path);
    const bool is_simple = pattern.size() <= 10 && text.size() <= 14 &&
                           pattern.find_first_of("[\\") == std::string_view::npos;
    bool is_ascii = true;
    for (const char c : std::string(pattern) + std::string(text))
        is_ascii = is_ascii && static_cast<signed char>(c) > 0;
    if (!is_simple || !is_ascii) return;
    HOLDPOINT_ASSERT(fits == slow_glob(pattern, text));
    if (fits_path && !pattern.contains("**")) HOLDPOINT_ASSERT(fits);
}

}  // namespace

/// A newline separates pattern and text. What comes out normal stays normal, and what is refused
/// has a printable reason.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view all(reinterpret_cast<const char*>(data), size);
    const std::size_t end = std::min(all.find('\n'), all.size());
    const std::string_view first = all.substr(0, end);
    const std::string_view second = all.substr(std::min(end + 1, all.size()));

    check_path(first, {});
    check_path(first, {.working_directory = "/srv/app", .home = "/home/ann"});
    check_url(first);
    check_glob(first, second);
    if (const auto pattern = match::HostPattern::compile(first))
        pattern->matches(second, match::HostKind::name);
    if (const auto pattern = match::PathPattern::compile(first)) {
        if (const auto path = match::normalise_path(second))
            HOLDPOINT_ASSERT(!pattern->covers(*path) || pattern->finds(*path));
    }
    for (const auto kind :
         {match::MatcherKind::word, match::MatcherKind::prefix, match::MatcherKind::glob}) {
        const auto matcher = match::Matcher::compile({kind, std::string(first)});
        if (!matcher) continue;
        const auto fits = matcher->fits(second);
        HOLDPOINT_ASSERT(!fits || !*fits || *matcher->occurs(second));
    }
    if (match::flaw_of_name(first) == match::NameFlaw::none) {
        for (const char c : first) HOLDPOINT_ASSERT(c > 0x20 && c < 0x7F);
    }
    match::skeleton(first);
    return 0;
}

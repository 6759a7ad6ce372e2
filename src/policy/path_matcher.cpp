#include <fmt/format.h>

#include <algorithm>

#include "policy/match/path.h"
#include "policy/matchers.h"

namespace holdpoint::policy {

struct PathMatcher::Compiled {
    std::string arg;
    bool is_proof = false;  ///< `all`
    std::vector<match::PathPattern> patterns;

    /// One path. To prove, it must be readable and covered; to find, what cannot be read counts.
    Match3 matches(std::string_view text) const {
        const Result<match::NormalPath> path = match::normalise_path(text);
        if (!path) return is_proof ? Match3::no : Match3::error;
        const bool is_match =
            std::any_of(patterns.begin(), patterns.end(), [&](const match::PathPattern& pattern) {
                return is_proof ? pattern.covers(*path) : pattern.finds(*path);
            });
        return is_match ? Match3::yes : Match3::no;
    }

    /// All of several must be covered to prove; one is enough to find.
    Match3 matches(const json::array& paths) const {
        if (paths.empty()) return Match3::no;
        Match3 answer = is_proof ? Match3::yes : Match3::no;
        for (const json::value& path : paths) {
            const Match3 one =
                path.is_string() ? matches(std::string_view(path.get_string())) : Match3::error;
            if (is_proof && one != Match3::yes) return one;
            if (!is_proof && one == Match3::yes) return one;
            if (one == Match3::error) answer = one;
        }
        return answer;
    }
};

Result<PathMatcher> PathMatcher::compile(const PathTest& test) {
    auto compiled = std::make_shared<Compiled>();
    compiled->arg = test.arg;
    compiled->is_proof = !test.all.empty();
    for (const std::string& glob : compiled->is_proof ? test.all : test.any) {
        Result<match::PathPattern> pattern = match::PathPattern::compile(glob);
        if (!pattern)
            return yaml::error_at(test.mark,
                                  fmt::format("path `{}`: {}", glob, pattern.error().message));
        compiled->patterns.push_back(std::move(*pattern));
    }
    PathMatcher matcher;
    matcher.compiled_ = std::move(compiled);
    return matcher;
}

Match3 PathMatcher::matches(const json::object& args) const {
    const json::value* value = args.if_contains(compiled_->arg);
    if (!value || value->is_null()) return Match3::no;
    if (value->is_string()) return compiled_->matches(std::string_view(value->get_string()));
    if (value->is_array()) return compiled_->matches(value->get_array());
    return Match3::error;
}

}  // namespace holdpoint::policy

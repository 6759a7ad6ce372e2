#include "policy/matchers.h"
#include "policy/glob.h"
namespace holdpoint::policy {
struct PathMatcher::Compiled { PathTest test; };
Result<PathMatcher> PathMatcher::compile(const PathTest& test) { PathMatcher m; m.compiled_ = std::make_shared<Compiled>(Compiled{test}); return m; }
Match3 PathMatcher::matches(const json::object& args) const {
    const auto* v = args.if_contains(compiled_->test.arg);
    if (!v) return Match3::no;
    if (!v->is_string()) return Match3::error;
    std::string t(v->get_string());
    if (!compiled_->test.all.empty()) {
        if (t.find("..") != std::string::npos) return Match3::no;
        for (auto p : compiled_->test.all) if (glob_matches(p, t)) return Match3::yes;
        return Match3::no;
    }
    for (auto p : compiled_->test.any) { if (p.starts_with("**/")) p = "*" + p.substr(3); if (glob_matches(p, t) || glob_matches(p, "/" + t)) return Match3::yes; }
    return Match3::no;
}
}

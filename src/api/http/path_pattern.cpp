#include "api/http/path_pattern.h"

namespace holdpoint::api {

bool matches(std::string_view path, std::string_view pattern, std::string& id) {
    const std::size_t brace = pattern.find('{');
    if (brace == std::string_view::npos) return path == pattern;
    const std::string_view before = pattern.substr(0, brace);
    const std::string_view after = pattern.substr(pattern.find('}') + 1);
    if (path.size() <= before.size() + after.size() || !path.starts_with(before) ||
        !path.ends_with(after))
        return false;
    const std::string_view middle =
        path.substr(before.size(), path.size() - before.size() - after.size());
    if (middle.find('/') != std::string_view::npos) return false;
    id = middle;
    return true;
}

}  // namespace holdpoint::api

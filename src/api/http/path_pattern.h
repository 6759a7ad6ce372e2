#pragma once

#include <string>
#include <string_view>

namespace holdpoint::api {

/// Compares a path with a pattern; `{id}` takes one segment that is not empty, and fills `id`.
bool matches(std::string_view path, std::string_view pattern, std::string& id);

}  // namespace holdpoint::api

#pragma once

#include <string_view>

namespace holdpoint::api {

// Files that are built into the binary.
std::string_view asset_openapi_json();

}  // namespace holdpoint::api

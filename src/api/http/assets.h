#pragma once

#include <string_view>

namespace holdpoint::api {

// Files that are built into the binary.
std::string_view asset_openapi_json();
std::string_view asset_sign_in_html();
std::string_view asset_sign_in_js();

}  // namespace holdpoint::api

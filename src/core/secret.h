#pragma once

#include <boost/json/value.hpp>
#include <string_view>

namespace holdpoint::core {

/// What stands in a line for people in the place of a secret.
inline constexpr std::string_view hidden = "•••";

/// Whether what has this name is a secret, however it is spelled: `password`, `apiKey`,
/// `x-auth-token`. A path or a whole JSON text is a secret if any name in it is one.
bool is_secret_name(std::string_view name);

/// The value with every member that has a secret name hidden, at any depth.
boost::json::value without_secrets(const boost::json::value& value);

}  // namespace holdpoint::core

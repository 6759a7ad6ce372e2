#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace holdpoint::cel {

/// RFC 4648 with `+`, `/` and padding.
std::string encode_base64(std::string_view bytes);

/// Padding may be missing; anything else that is not base64 gives nothing.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace holdpoint::cel

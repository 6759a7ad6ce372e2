#pragma once

#include <string_view>
#include <utility>

#include "base/json.h"

namespace holdpoint::core {

/// Reads text that a door has checked before. How large it may be was the door's to say; a second
/// limit here would refuse what was taken there.
inline Result<json::value> parse_stored(std::string_view text, json::storage_ptr storage = {}) {
    json::Limits limits;
    limits.bytes_max = limits.string_bytes_max = std::size_t{64} << 20;
    return json::parse(text, limits, std::move(storage));
}

}  // namespace holdpoint::core

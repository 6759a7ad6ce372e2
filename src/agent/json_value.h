#pragma once

#include <holdpoint/json.h>

#include "base/json.h"

namespace holdpoint::agent {

/// The public value as the parser's, and back.
const json::value& value_of(const Json& json);
Json json_of(json::value value);

}  // namespace holdpoint::agent

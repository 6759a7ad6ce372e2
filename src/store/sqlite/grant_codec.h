#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "policy/state.h"

namespace holdpoint::store::sqlite {

/// What a grant covers, as one JSON text. Reading fails with internal when the text is not what
/// writing makes: a pin that is lost would widen the grant.
std::string encode(const policy::Grant& grant);
Result<policy::Grant> decode_grant(std::string_view text);

}  // namespace holdpoint::store::sqlite

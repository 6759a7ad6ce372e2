#pragma once

#include <string_view>

#include "policy/cel/environment.h"

namespace holdpoint::cel {

/// `"%s costs %.2f".format([name, price])`: %s %d %f %e %x %X %o %b and %%.
Value format_text(Call& call, std::string_view pattern, const Value& arguments);

}  // namespace holdpoint::cel

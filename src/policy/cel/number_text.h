#pragma once

#include <string>

namespace holdpoint::cel {

/// The shortest text that reads back as the same double: `4.5`, `1e+21`, `123`; also `NaN`,
/// `Infinity`, `-Infinity` and `-0`.
std::string number_text(double number);

}  // namespace holdpoint::cel

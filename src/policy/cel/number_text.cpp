#include "policy/cel/number_text.h"

#include <cmath>

#include "base/json.h"

namespace holdpoint::cel {

std::string number_text(double number) {
    if (std::isnan(number)) return "NaN";
    if (std::isinf(number)) return number < 0 ? "-Infinity" : "Infinity";
    if (number == 0) return std::signbit(number) ? "-0" : "0";
    std::string text;
    json::append_number(text, number);
    return text;
}

}  // namespace holdpoint::cel

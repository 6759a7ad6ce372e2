#pragma once

#include <string>
#include <string_view>

namespace holdpoint::cli {

/// visible() for text that was made visible before, such as a headline of the server: the marks in
/// it stay as they are.
std::string visible_again(std::string_view text);

}  // namespace holdpoint::cli

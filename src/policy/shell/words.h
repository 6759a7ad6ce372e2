#pragma once

#include <cstddef>
#include <string_view>

/// What the words of a command are, by their spelling alone.
namespace holdpoint::policy::shell {

/// `rm` of `/usr/bin/rm`.
constexpr std::string_view base_name(std::string_view program) {
    const std::size_t slash = program.rfind('/');
    return slash == std::string_view::npos ? program : program.substr(slash + 1);
}

constexpr bool is_option(std::string_view word) { return word.size() > 1 && word[0] == '-'; }

}  // namespace holdpoint::policy::shell

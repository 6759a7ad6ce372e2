#include "policy/glob.h"

#include <cstddef>

namespace holdpoint::policy {

bool is_glob(std::string_view pattern) {
    return pattern.find_first_of("*?") != std::string_view::npos;
}

bool glob_matches(std::string_view pattern, std::string_view name) {
    std::size_t p = 0, n = 0;
    std::size_t star = std::string_view::npos, resume = 0;
    while (n < name.size()) {
        if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n]) &&
            pattern[p] != '*') {
            ++p;
            ++n;
        } else if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            resume = n;
        } else if (star != std::string_view::npos) {
            // Only the last star needs another try: what stands before it has matched already.
            p = star + 1;
            n = ++resume;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
}

}  // namespace holdpoint::policy

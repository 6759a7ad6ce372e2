#include "cli/marks.h"

#include <algorithm>

#include "base/text.h"

namespace holdpoint::cli {

std::string visible_again(std::string_view text) {
    std::string out;
    while (true) {
        const std::size_t mark = std::min(text.find('<'), text.size());
        out += visible(text.substr(0, mark));
        if (mark == text.size()) return out;
        out += '<';
        text.remove_prefix(mark + 1);
    }
}

}  // namespace holdpoint::cli

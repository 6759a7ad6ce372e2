#include "policy/cel/source.h"

#include <fmt/format.h>

namespace holdpoint::cel {

Position position_of(std::string_view source, std::uint32_t offset) {
    Position position;
    for (const char c : source.substr(0, offset)) {
        if (c == '\n') {
            ++position.line;
            position.column = 1;
        } else if ((static_cast<unsigned char>(c) & 0xc0) != 0x80) {
            ++position.column;
        }
    }
    return position;
}

Error to_error(const Complaint& complaint, std::string_view source) {
    const Position position = position_of(source, complaint.offset);
    return {complaint.code,
            fmt::format("{}:{}: {}", position.line, position.column, complaint.message)};
}

}  // namespace holdpoint::cel

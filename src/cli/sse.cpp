#include "cli/sse.h"

#include <algorithm>

namespace holdpoint::cli {

bool EventParser::feed(std::string_view bytes) {
    for (char c : bytes) {
        // CR LF is one line end, also when the two arrive in different packets.
        if (c == '\n' && was_carriage_return_) {
            was_carriage_return_ = false;
            continue;
        }
        was_carriage_return_ = c == '\r';
        if (c == '\n' || c == '\r') {
            take_line(line_);
            line_.clear();
        } else {
            line_ += c;
        }
        if (line_.size() + event_.data.size() > event_bytes_max) return false;
    }
    return true;
}

void EventParser::take_line(std::string_view line) {
    if (line.empty()) return end_event();
    if (line.front() == ':') return;
    const std::size_t colon = std::min(line.find(':'), line.size());
    const std::string_view field = line.substr(0, colon);
    std::string_view value = line.substr(std::min(colon + 1, line.size()));
    if (value.starts_with(' ')) value.remove_prefix(1);

    if (field == "data") {
        if (has_data_) event_.data += '\n';
        event_.data += value;
        has_data_ = true;
    } else if (field == "event") {
        event_.name = value;
    } else if (field == "id") {
        event_.id = value;
    } else if (field == "retry") {
        const bool is_number = !value.empty() && value.size() <= 6 &&
                               value.find_first_not_of("0123456789") == std::string_view::npos;
        if (is_number) retry_ms_ = std::stoi(std::string(value));
    }
}

void EventParser::end_event() {
    const std::string id = event_.id;
    if (has_data_) {
        if (event_.name.empty()) event_.name = "message";
        on_event_(std::move(event_));
    }
    event_ = ServerEvent{};
    event_.id = id;
    has_data_ = false;
}

}  // namespace holdpoint::cli

#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace holdpoint::agent {

/// Cuts a stream of server-sent events into the data of its events. Bytes may arrive split
/// anywhere.
class EventData {
  public:
    static constexpr std::size_t bytes_max = std::size_t{4} << 20;

    /// Calls `on_data` for each event that is complete; false once an event is too long, or when
    /// `on_data` said so.
    bool feed(std::string_view bytes, const std::function<bool(const std::string&)>& on_data) {
        for (const char c : bytes) {
            if (c == '\r') continue;
            if (c != '\n') {
                line_ += c;
                if (line_.size() + data_.size() > bytes_max) return false;
                continue;
            }
            if (line_.empty()) {
                const std::string data = std::exchange(data_, {});
                if (!data.empty() && !on_data(data)) return false;
            } else if (line_.starts_with("data:")) {
                const std::size_t from = line_.starts_with("data: ") ? 6 : 5;
                if (!data_.empty()) data_ += '\n';
                data_ += line_.substr(from);
            }
            line_.clear();
        }
        return true;
    }

  private:
    std::string line_;
    std::string data_;
};

}  // namespace holdpoint::agent

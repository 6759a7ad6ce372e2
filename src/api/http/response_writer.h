#pragma once

#include <ctime>
#include <string>
#include <string_view>

#include "api/http/http.h"

namespace holdpoint::http {

/// How the bytes after the head are delimited.
enum class Framing {
    length,   ///< Content-Length and the body
    chunked,  ///< a stream to an HTTP/1.1 client: a cut-off is told from an end
    to_end,   ///< a stream to an HTTP/1.0 client: it ends with the connection
};

struct WriteOptions {
    Framing framing = Framing::length;
    bool is_head_request = false;  ///< describe the body, do not send it
    bool is_http_1_0 = false;
    bool is_last = false;  ///< the connection closes afterwards
};

/// Writes response heads and bodies into one buffer. Keeps the Date header of the current second.
class ResponseWriter {
  public:
    /// False, and nothing appended, if a header holds what would split the response.
    [[nodiscard]] bool write(std::string& out, const Response& response,
                             const WriteOptions& options);

    static void write_chunk(std::string& out, std::string_view bytes);
    static constexpr std::string_view last_chunk = "0\r\n\r\n";
    static constexpr std::string_view interim = "HTTP/1.1 100 Continue\r\n\r\n";

  private:
    std::string_view date();

    std::time_t date_second_ = 0;
    char date_[32] = {};
    std::size_t date_size_ = 0;
};

}  // namespace holdpoint::http

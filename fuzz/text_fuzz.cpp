// Small texts from outside that have a reader of their own. The first byte says which: `s` a stream
// of server-sent events, `c` a Cookie header, `f` an X-Forwarded-For header, `l` an address to
// listen on, `t` a config file.
#include <arpa/inet.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/auth/address.h"
#include "api/auth/authenticator.h"
#include "api/http/request_reader.h"
#include "base/assert.h"
#include "base/text.h"
#include "cli/config_file.h"
#include "cli/sse.h"
#include "server/config.h"

namespace {

using holdpoint::cli::EventParser;
using holdpoint::cli::ServerEvent;

std::string told_in_pieces(std::string_view text, std::size_t piece) {
    std::string told;
    EventParser parser([&](const ServerEvent& event) {
        told += event.id + '\x1f' + event.name + '\x1f' + event.data + '\x1e';
    });
    while (!text.empty()) {
        const std::string_view part = text.substr(0, piece);
        if (!parser.feed(part)) return told + "too large";
        text.remove_prefix(part.size());
    }
    return told + std::to_string(parser.retry_ms());
}

void read_events(std::string_view text) {
    const std::string whole = told_in_pieces(text, text.size());
    for (const std::size_t piece : {std::size_t{1}, std::size_t{2}, std::size_t{7}})
        HOLDPOINT_ASSERT(told_in_pieces(text, piece) == whole);
}

void read_cookie(std::string_view header) {
    const auto found = holdpoint::auth::find_cookie(header, "holdpoint_session");
    if (!found || found->empty()) return;
    HOLDPOINT_ASSERT(found->find(';') == std::string_view::npos);
    HOLDPOINT_ASSERT(found->data() >= header.data() &&
                     found->data() + found->size() <= header.data() + header.size());
}

/// The proxy's own address stays, or another takes its place; never anything else.
void read_forwarded(std::string_view header) {
    holdpoint::http::RequestReader reader({});
    reader.put("GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: " + std::string(header) + "\r\n\r\n");
    if (reader.status() != holdpoint::http::RequestReader::Status::complete) return;
    holdpoint::http::Request request = reader.take();
    request.peer = "10.0.0.1";
    holdpoint::auth::take_forwarded(request);
    in6_addr parsed{};
    HOLDPOINT_ASSERT(inet_pton(AF_INET, request.peer.c_str(), &parsed) == 1 ||
                     inet_pton(AF_INET6, request.peer.c_str(), &parsed) == 1);
    HOLDPOINT_ASSERT(!holdpoint::auth::network_of(request.peer).empty());
}

void read_config(std::string_view text) {
    const auto file = holdpoint::cli::parse_config(text);
    if (!file) {
        HOLDPOINT_ASSERT(file.error().message.starts_with("line "));
        HOLDPOINT_ASSERT(holdpoint::is_utf8(file.error().message));
        return;
    }
    for (const auto& table : {file->client, file->serve})
        for (const auto& [key, value] : table) {
            HOLDPOINT_ASSERT(!key.empty() && value.line > 0);
            HOLDPOINT_ASSERT(value.kind == holdpoint::cli::ConfigValue::Kind::list ||
                             value.words.size() == 1);
        }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0 || size > 65'536) return 0;
    const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
    if (data[0] == 's') read_events(rest);
    if (data[0] == 'c') read_cookie(rest);
    if (data[0] == 'f') read_forwarded(rest);
    if (data[0] == 't') read_config(rest);
    holdpoint::server::Config config;
    if (data[0] == 'l') (void)holdpoint::server::parse_listen(std::string(rest), config);
    return 0;
}

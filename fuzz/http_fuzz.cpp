// Feeds bytes to RequestReader, first whole, then cut at places taken from the input itself.
// However they are cut, the requests, the refusal and the end must be the same: a difference would
// be a way to smuggle.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/http/request_reader.h"
#include "base/assert.h"

namespace {

using holdpoint::http::ReaderLimits;
using holdpoint::http::Request;
using holdpoint::http::RequestReader;

constexpr std::size_t requests_max = 20;

ReaderLimits limits() {
    return {
        .head_bytes_max = 600, .target_bytes_max = 200, .headers_max = 8, .body_bytes_max = 300};
}

void check_path(const Request& request) {
    HOLDPOINT_ASSERT(request.path.starts_with('/'));
    HOLDPOINT_ASSERT(request.path.find("/../") == std::string::npos);
    HOLDPOINT_ASSERT(!request.path.ends_with("/.."));
    HOLDPOINT_ASSERT(request.path.find('\0') == std::string::npos);
    HOLDPOINT_ASSERT(request.path.find('\n') == std::string::npos);
    HOLDPOINT_ASSERT(request.path.find('\\') == std::string::npos);
    HOLDPOINT_ASSERT(request.body.size() <= limits().body_bytes_max);
    HOLDPOINT_ASSERT(request.header_count("Host") <= 1);
    HOLDPOINT_ASSERT(
        !(request.has_header("Content-Length") && request.has_header("Transfer-Encoding")));
}

/// Everything the server would act on, as text.
void describe(const RequestReader& reader, const Request& request, std::string& out) {
    out += request.method + '|' + request.path + '|' + request.body + '|';
    for (const auto& [name, value] : request.query) out += name + '=' + value + '&';
    for (const char* name : {"host", "content-length", "transfer-encoding", "authorization", "a"}) {
        out += '|';
        out += request.header(name);
        out += std::to_string(request.header_count(name));
    }
    out += reader.is_keep_alive() ? "|open" : "|close";
    out += reader.is_http_1_0() ? "|1.0\n" : "|1.1\n";
}

/// `cuts` says how long each piece is; empty: all at once.
std::string read_all(std::string_view bytes, std::string_view cuts) {
    RequestReader reader(limits());
    std::string out;
    std::size_t piece = 0;
    std::size_t at = 0;
    std::size_t requests = 0;
    while (at < bytes.size() && requests < requests_max) {
        std::size_t size = bytes.size();
        if (!cuts.empty()) size = 1 + static_cast<unsigned char>(cuts[piece++ % cuts.size()]) % 40;
        const std::string_view part = bytes.substr(at, size);
        const std::size_t taken = reader.put(part);
        HOLDPOINT_ASSERT(taken <= part.size());
        at += taken;
        if (reader.status() == RequestReader::Status::failed) {
            return out + std::to_string(reader.error().status) +
                   std::string(reader.error().message);
        }
        if (reader.status() == RequestReader::Status::need_more) {
            HOLDPOINT_ASSERT(taken == part.size());
            continue;
        }
        const Request request = reader.take();
        check_path(request);
        describe(reader, request, out);
        out += std::to_string(at) + '\n';
        reader.reset();
        ++requests;
    }
    return out + (reader.is_head_done() ? "in body" : "in head");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view input(reinterpret_cast<const char*>(data), size);
    const std::string whole = read_all(input, {});
    HOLDPOINT_ASSERT(whole == read_all(input, std::string_view("\0", 1)));
    const std::string_view cuts = input.substr(input.size() - std::min<std::size_t>(size, 16));
    if (!cuts.empty()) HOLDPOINT_ASSERT(whole == read_all(input, cuts));
    return 0;
}

#include "api/http/compress.h"

#include <libdeflate.h>

#include <memory>

#include "api/http/site.h"

namespace holdpoint::api {
namespace {

constexpr std::size_t bytes_min = std::size_t{8} * 1024;
// About four milliseconds of the network thread.
constexpr std::size_t bytes_max = std::size_t{1024} * 1024;
// The quickest: JSON of many requests shrinks to a tenth already.
constexpr int level = 1;

struct Free {
    void operator()(libdeflate_compressor* one) const { libdeflate_free_compressor(one); }
};

/// Empty when it does not shrink, or there is no memory for it.
std::string gzip(std::string_view plain) {
    // Half a megabyte that is used again; lists are made on one thread.
    static thread_local const std::unique_ptr<libdeflate_compressor, Free> compressor{
        libdeflate_alloc_compressor(level)};
    if (!compressor) return {};
    std::string out(plain.size(), '\0');
    out.resize(libdeflate_gzip_compress(compressor.get(), plain.data(), plain.size(), out.data(),
                                        out.size()));
    return out;
}

}  // namespace

void compress_if_long(const http::Request& request, http::Response& response) {
    // A new key or a session's token is the answer to a POST: the length of a compressed body tells
    // about what stands in it to whoever chose the text beside it.
    if (request.method != "GET" && request.method != "HEAD") return;
    const std::size_t size = response.body.size();
    if (size < bytes_min || size > bytes_max) return;
    response.headers.emplace_back("Vary", "Accept-Encoding");
    if (!accepts(request.header("accept-encoding"), "gzip")) return;
    std::string small = gzip(response.body);
    if (small.empty()) return;
    response.body = std::move(small);
    response.headers.emplace_back("Content-Encoding", "gzip");
}

}  // namespace holdpoint::api

#include "notify/push/post.h"

#include <curl/curl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "service/push/endpoint.h"

namespace holdpoint::notify::push {
namespace {

using webpush::is_loopback;
using webpush::is_public;

constexpr long connect_ms_max = 5000, call_ms_max = 10'000;

/// Called with the address that is about to be connected to; what a name resolved to at that very
/// moment cannot be changed afterwards.
curl_socket_t open_socket(void* may_be_loopback, curlsocktype /*purpose*/, curl_sockaddr* address) {
    const bool is_allowed =
        is_public(address->addr) ||
        (*static_cast<const bool*>(may_be_loopback) && is_loopback(address->addr));
    if (!is_allowed) return CURL_SOCKET_BAD;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/// What a push service says in its body is of no use here.
std::size_t ignore(char* /*data*/, std::size_t size, std::size_t count, void* /*user*/) {
    return size * count;
}

struct Free {
    void operator()(CURL* curl) const { curl_easy_cleanup(curl); }
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

}  // namespace

Result<int> post(const Call& call, bool may_be_loopback) {
    static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
    const std::unique_ptr<CURL, Free> curl(ready == CURLE_OK ? curl_easy_init() : nullptr);
    if (!curl) return Error{ErrorCode::unavailable, "libcurl cannot start"};
    std::unique_ptr<curl_slist, Free> headers;
    for (const auto& [name, value] : call.headers) {
        curl_slist* longer =
            curl_slist_append(headers.get(), fmt::format("{}: {}", name, value).c_str());
        if (!longer) return Error{ErrorCode::unavailable, "not enough memory"};
        // The list that was is the list that is, one longer; only its first has no owner before.
        if (!headers) headers.reset(longer);
    }
    CURL* handle = curl.get();
    curl_easy_setopt(handle, CURLOPT_URL, call.url.c_str());
    curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, may_be_loopback ? "https,http" : "https");
    curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(handle, CURLOPT_PROXY, "");
    curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, connect_ms_max);
    curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, call_ms_max);
    curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(handle, CURLOPT_OPENSOCKETDATA, &may_be_loopback);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, ignore);
    curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers.get());
    curl_easy_setopt(handle, CURLOPT_POST, 1L);
    curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(call.body.size()));
    curl_easy_setopt(handle, CURLOPT_POSTFIELDS, call.body.data());
    const CURLcode done = curl_easy_perform(handle);
    if (done != CURLE_OK)
        return Error{ErrorCode::unavailable,
                     fmt::format("no answer from the push service: {}", curl_easy_strerror(done))};
    long status = 0;
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
    return static_cast<int>(status);
}

}  // namespace holdpoint::notify::push

#include "cli/idempotency.h"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "base/assert.h"

namespace holdpoint::cli {

std::string fresh_idempotency_key() {
    HOLDPOINT_ASSERT(::sodium_init() >= 0);
    std::array<unsigned char, 16> bytes{};
    ::randombytes_buf(bytes.data(), bytes.size());
    std::string key = "cli-";
    for (unsigned char byte : bytes) key += fmt::format("{:02x}", byte);
    return key;
}

Answer<Reply> call_safely(Client& client, Call call, int interrupt_fd) {
    using std::chrono::milliseconds;
    using std::chrono::steady_clock;
    constexpr int tries_max = 3;
    if (call.idempotency_key.empty()) call.idempotency_key = fresh_idempotency_key();
    for (int tries = 1;; ++tries) {
        Answer<Reply> reply = client.call(call, interrupt_fd);
        if (reply || reply.error().is_interrupted || tries == tries_max) return reply;
        const Error& error = reply.error().error;
        const bool may_heal =
            error.code == ErrorCode::unavailable || error.code == ErrorCode::rate_limited;
        // Whoever asks for more patience than this is told so; the person may come back later.
        if (!may_heal || error.retry_after_s > 10) return reply;
        const int pause_ms = std::max(300 * tries, error.retry_after_s * 1000);
        const auto until = steady_clock::now() + milliseconds(pause_ms);
        while (steady_clock::now() < until)
            if (client.pump(pause_ms, interrupt_fd)) {
                reply.error().is_interrupted = true;
                return reply;
            }
    }
}

}  // namespace holdpoint::cli

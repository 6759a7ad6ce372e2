#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "base/json.h"
#include "base/text.h"

namespace json = holdpoint::json;

namespace {

void check_refusal(const holdpoint::Error& error) {
    using holdpoint::ErrorCode;
    HOLDPOINT_ASSERT(error.code == ErrorCode::invalid_argument ||
                     error.code == ErrorCode::too_large);
    HOLDPOINT_ASSERT(!error.message.empty() && error.message.size() < 256);
    HOLDPOINT_ASSERT(holdpoint::is_utf8(error.message) && holdpoint::is_utf8(error.field));
    for (const char c : error.message + error.field) {
        HOLDPOINT_ASSERT(static_cast<unsigned char>(c) >= 0x20);
    }
}

void check_value(std::string_view text, const json::value& value) {
    HOLDPOINT_ASSERT(holdpoint::is_utf8(text));
    const std::string canonical = json::canonical(value);
    HOLDPOINT_ASSERT(holdpoint::is_utf8(canonical));

    // Escapes and exponents may make the canonical text longer than the limit for what comes in.
    const json::Limits wide{.bytes_max = canonical.size()};
    const holdpoint::Result<json::value> again = json::parse(canonical, wide);
    HOLDPOINT_ASSERT(again.has_value());
    HOLDPOINT_ASSERT(json::canonical(*again) == canonical);
}

}  // namespace

/// Whatever comes in is refused with a printable reason or has a canonical form that is its own.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const holdpoint::Result<json::value> value = json::parse(text);
    if (value) {
        check_value(text, *value);
    } else {
        check_refusal(value.error());
    }

    // Small limits reach the other refusals with short inputs.
    const json::Limits narrow{
        .bytes_max = 64, .depth_max = 3, .nodes_max = 8, .string_bytes_max = 6, .keys_max = 3};
    const holdpoint::Result<json::value> small = json::parse(text, narrow);
    if (!small) check_refusal(small.error());
    HOLDPOINT_ASSERT(!small || value);
    return 0;
}

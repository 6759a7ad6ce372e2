#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "base/text.h"
#include "policy/yaml/reader.h"

namespace yaml = holdpoint::policy::yaml;

namespace {

void check_refusal(const holdpoint::Error& error) {
    using holdpoint::ErrorCode;
    HOLDPOINT_ASSERT(error.code == ErrorCode::invalid_argument ||
                     error.code == ErrorCode::too_large);
    HOLDPOINT_ASSERT(!error.message.empty() && error.message.size() < 512);
    HOLDPOINT_ASSERT(holdpoint::is_utf8(error.message));
    for (const char c : error.message) HOLDPOINT_ASSERT(static_cast<unsigned char>(c) >= 0x20);
}

std::size_t check_node(const yaml::Node& node, int depth) {
    using yaml::Kind;
    HOLDPOINT_ASSERT(depth <= 32);
    HOLDPOINT_ASSERT(node.mark.line >= 1 && node.mark.column >= 1);
    HOLDPOINT_ASSERT(holdpoint::is_utf8(node.text) && !node.text.contains('\0'));
    HOLDPOINT_ASSERT(!node.is_quoted || node.is(Kind::text));
    HOLDPOINT_ASSERT(node.items.empty() || node.is(Kind::list));
    HOLDPOINT_ASSERT(node.entries.empty() || node.is(Kind::map));
    std::size_t count = 1;
    for (const yaml::Node& item : node.items) count += check_node(item, depth + 1);
    std::set<std::string_view> keys;
    for (const yaml::Entry& entry : node.entries) {
        HOLDPOINT_ASSERT(keys.insert(entry.key).second);
        HOLDPOINT_ASSERT(holdpoint::is_utf8(entry.key));
        count += check_node(entry.value, depth + 1);
    }
    return count;
}

}  // namespace

/// Whatever comes in is refused with a printable reason or is a tree within the limits, without a
/// key that stands twice.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const holdpoint::Result<yaml::Node> node = yaml::read(text);
    if (!node) {
        check_refusal(node.error());
    } else {
        HOLDPOINT_ASSERT(check_node(*node, 0) <= 100'000);
    }

    const holdpoint::Result<yaml::Node> small =
        yaml::read(text, {.bytes_max = 64, .depth_max = 3, .nodes_max = 8});
    if (!small) check_refusal(small.error());
    HOLDPOINT_ASSERT(!small || node);
    return 0;
}

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace holdpoint {

/// 128 bits that sort by time of creation: 48 bits of milliseconds, 80 random ones. Written as a
/// ULID (26 characters). Time order keeps the store's index append-only.
struct Ulid {
    std::array<unsigned char, 16> bytes{};

    auto operator<=>(const Ulid&) const = default;
};

/// Draws a new one. Ids drawn in one process within one millisecond still ascend.
Ulid new_ulid(Timestamp now);

void append_ulid(std::string& out, const Ulid& id);
std::optional<Ulid> parse_ulid(std::string_view text);

/// Hash over the random half, for in-memory maps.
struct UlidHash {
    std::size_t operator()(const Ulid& id) const noexcept;
};

/// An id of one kind of thing; the prefix names the kind on the wire, so that ids cannot be mixed.
template <class Tag>
struct Id {
    Ulid ulid;

    auto operator<=>(const Id&) const = default;

    std::string text() const {
        std::string out{Tag::prefix};
        append_ulid(out, ulid);
        return out;
    }
    static std::optional<Id> parse(std::string_view text) {
        if (!text.starts_with(Tag::prefix)) return std::nullopt;
        const std::optional<Ulid> ulid = parse_ulid(text.substr(Tag::prefix.size()));
        if (!ulid) return std::nullopt;
        return Id{*ulid};
    }
    static Id fresh(Timestamp now) { return Id{new_ulid(now)}; }

    struct Hash {
        std::size_t operator()(const Id& id) const noexcept { return UlidHash{}(id.ulid); }
    };
};

struct RequestTag {
    static constexpr std::string_view prefix = "req_";
};
struct BatchTag {
    static constexpr std::string_view prefix = "bat_";
};
struct PrincipalTag {
    static constexpr std::string_view prefix = "prn_";
};
struct KeyTag {
    static constexpr std::string_view prefix = "key_";
};
struct SessionTag {
    static constexpr std::string_view prefix = "ses_";
};
struct PasskeyTag {
    static constexpr std::string_view prefix = "psk_";
};
struct PushSubscriptionTag {
    static constexpr std::string_view prefix = "sub_";
};
using RequestId = Id<RequestTag>;
using BatchId = Id<BatchTag>;
using PrincipalId = Id<PrincipalTag>;
using KeyId = Id<KeyTag>;
using SessionId = Id<SessionTag>;
using PasskeyId = Id<PasskeyTag>;
using PushSubscriptionId = Id<PushSubscriptionTag>;

}  // namespace holdpoint

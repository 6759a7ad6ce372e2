#include "api/auth/rate_limit.h"

#include <algorithm>
#include <cmath>

namespace holdpoint::auth {

RateLimit::RateLimit(Rule rule, std::size_t names_max) : rule_(rule), names_max_(names_max) {}

std::optional<int> RateLimit::take(std::string_view name, std::int64_t now_ms) {
    if (rule_.per_second <= 0) return std::nullopt;
    Bucket& bucket = refill(name, now_ms);
    if (bucket.tokens < 1) return seconds_until_token(bucket);
    bucket.tokens -= 1;
    return std::nullopt;
}

void RateLimit::charge(std::string_view name, double count, std::int64_t now_ms) {
    if (rule_.per_second <= 0) return;
    refill(name, now_ms).tokens -= count;
}

void RateLimit::give_back(std::string_view name, std::int64_t now_ms) {
    // A bucket that was forgotten meanwhile is full.
    if (rule_.per_second <= 0 || buckets_.find(std::string(name)) == buckets_.end()) return;
    Bucket& bucket = refill(name, now_ms);
    bucket.tokens = std::min(rule_.burst, bucket.tokens + 1);
}

std::optional<int> RateLimit::blocked(std::string_view name, std::int64_t now_ms) {
    if (rule_.per_second <= 0 || buckets_.find(std::string(name)) == buckets_.end())
        return std::nullopt;
    const Bucket& bucket = refill(name, now_ms);
    if (bucket.tokens >= 1) return std::nullopt;
    return seconds_until_token(bucket);
}

RateLimit::Bucket& RateLimit::refill(std::string_view name, std::int64_t now_ms) {
    if (buckets_.size() >= names_max_) make_room(now_ms);
    const auto [entry, is_new] =
        buckets_.try_emplace(std::string(name), Bucket{rule_.burst, now_ms});
    Bucket& bucket = entry->second;
    if (is_new) return bucket;
    const double seconds =
        static_cast<double>(std::max<std::int64_t>(0, now_ms - bucket.at_ms)) / 1000;
    bucket.tokens = std::min(rule_.burst, bucket.tokens + seconds * rule_.per_second);
    bucket.at_ms = now_ms;
    return bucket;
}

void RateLimit::make_room(std::int64_t now_ms) {
    std::erase_if(buckets_, [&](const auto& entry) {
        const Bucket& bucket = entry.second;
        const double seconds = static_cast<double>(now_ms - bucket.at_ms) / 1000;
        return bucket.tokens + seconds * rule_.per_second >= rule_.burst;
    });
    // All of them are in use: forgetting is better than growing without end.
    if (buckets_.size() >= names_max_) buckets_.clear();
}

int RateLimit::seconds_until_token(const Bucket& bucket) const {
    return std::max(1, static_cast<int>(std::ceil((1 - bucket.tokens) / rule_.per_second)));
}

}  // namespace holdpoint::auth

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace holdpoint::auth {

/// Token buckets by name (a key, an address, an account). Holds at most `names_max` of them; full
/// buckets are dropped first, they remember nothing. Network thread only.
class RateLimit {
  public:
    struct Rule {
        double per_second = 0;  ///< 0: no limit
        double burst = 1;
    };

    explicit RateLimit(Rule rule, std::size_t names_max = 100'000);

    /// Takes one token. Nothing if there was one; else the seconds until there is.
    std::optional<int> take(std::string_view name, std::int64_t now_ms);
    /// Takes that many whether they are there or not; whoever owes waits until it is made up for.
    void charge(std::string_view name, double count, std::int64_t now_ms);
    /// Puts back a token that was taken.
    void give_back(std::string_view name, std::int64_t now_ms);
    /// Looks without taking.
    std::optional<int> blocked(std::string_view name, std::int64_t now_ms);

  private:
    struct Bucket {
        double tokens;
        std::int64_t at_ms;
    };
    Bucket& refill(std::string_view name, std::int64_t now_ms);
    void make_room(std::int64_t now_ms);
    int seconds_until_token(const Bucket& bucket) const;

    Rule rule_;
    std::size_t names_max_;
    std::unordered_map<std::string, Bucket> buckets_;
};

}  // namespace holdpoint::auth

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/yaml/node.h"

namespace holdpoint::policy {

/// The first thing wrong in a file. Reading goes on with defaults after it, so that callers check
/// once, at the end.
class Fault {
  public:
    void note(yaml::Mark mark, std::string_view message);
    bool is_set() const { return error_.has_value(); }
    const Error& error() const { return *error_; }

  private:
    std::optional<Error> error_;
};

struct Bounds {
    double min;
    double max;
};

/// Reads the entries of one map by name. An entry that nobody asked for is refused, with the
/// nearest name that would have been understood: a misspelt key must not be lost silently.
class Section {
  public:
    /// `what` is for messages: ``gate `refund` ``.
    Section(const yaml::Node& node, std::string what, Fault& fault);

    const yaml::Node* find(std::string_view key);
    const yaml::Node* find(std::string_view key, yaml::Kind kind);
    /// Empty when absent; an empty text is refused.
    std::string text(std::string_view key);
    std::string required_text(std::string_view key);
    std::optional<bool> boolean(std::string_view key);
    std::optional<double> number(std::string_view key, Bounds bounds);
    std::optional<int> integer(std::string_view key, Bounds bounds);
    /// `90s`, `1h30m`, `14d`, as milliseconds.
    std::optional<std::int64_t> duration(std::string_view key);
    /// A list of texts; one text alone counts as a list of one.
    std::vector<std::string> texts(std::string_view key);
    /// One of these words, as its index.
    std::optional<std::size_t> word(std::string_view key, std::span<const std::string_view> words);

    void refuse(std::string_view message) { fault_.note(node_.mark, message); }
    void refuse(const yaml::Node& node, std::string_view message);
    yaml::Mark mark() const { return node_.mark; }
    /// Where the value of `key` stands, or the map itself.
    yaml::Mark mark_of(std::string_view key) const;
    const std::string& what() const { return what_; }
    Fault& fault() { return fault_; }
    /// Refuses what is left over.
    void finish();

  private:
    const yaml::Node& node_;
    std::string what_;
    Fault& fault_;
    std::vector<std::string_view> asked_;
};

/// ``, did you mean `x`?`` or nothing.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> words);

/// The milliseconds of `1h30m`; nothing for what is not a duration of 1 ms to 10 years.
std::optional<std::int64_t> parse_duration(std::string_view text);

/// `1h30m`
std::string duration_text(std::int64_t ms);

}  // namespace holdpoint::policy

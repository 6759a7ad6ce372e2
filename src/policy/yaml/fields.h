#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policy/yaml/node.h"

namespace holdpoint::policy::yaml {

/// Reads the keys of one map. The first thing wrong is remembered with its place; reading goes on
/// with defaults, so that callers need one check, finish(), at the end. A key that nobody asked for
/// is refused, with the name it was probably meant to be: a rule whose `unles` is ignored is
/// another rule.
///
///     Fields fields(node, "rule");
///     std::string id = fields.required_text("id");
///     if (Result<void> ok = fields.finish(); !ok) return ok.error();
class Fields {
  public:
    /// `node` must be a map, else finish() says so; `what` names it in messages. Both outlive this.
    Fields(const Node& node, std::string_view what);

    /// Absent and null read as nothing. A number is no text: `"1"` has to be quoted.
    std::optional<std::string> text(std::string_view key);
    std::optional<bool> boolean(std::string_view key);
    std::optional<std::int64_t> integer(std::string_view key, std::int64_t min, std::int64_t max);
    /// Whole numbers count.
    std::optional<double> number(std::string_view key, double min, double max);
    std::optional<std::vector<std::string>> texts(std::string_view key);
    /// One of these words; the error lists them and guesses.
    std::optional<std::string> word(std::string_view key,
                                    std::initializer_list<std::string_view> words);
    /// A list or a map, or nullptr when absent or null.
    const Node* list(std::string_view key);
    const Node* map(std::string_view key);
    /// Whatever is there, or nullptr when absent; null is a node here.
    const Node* any(std::string_view key);

    std::string required_text(std::string_view key);
    std::int64_t required_integer(std::string_view key, std::int64_t min, std::int64_t max);
    const Node* required(std::string_view key);
    const Node* required_list(std::string_view key);
    const Node* required_map(std::string_view key);

    bool has(std::string_view key) const;
    /// Where the value of `key` stands, or the map itself when it is absent.
    Mark mark_of(std::string_view key) const;

    /// Remembers an error of the caller's own, at the value of `key`.
    void refuse(std::string_view key, std::string_view message);
    void fail(Error error);
    bool has_failed() const { return error_.has_value(); }

    Result<void> finish();

  private:
    const Node* find(std::string_view key, Kind kind);
    const Node* present(std::string_view key, const Node* found);
    void wrong_kind(const Node& node, std::string_view key, std::string_view wanted);

    const Node& node_;
    std::string what_;
    std::vector<std::string> seen_;
    std::optional<Error> error_;
};

/// The texts of a list of texts; an error names the first item that is none.
Result<std::vector<std::string>> texts_of(const Node& node, std::string_view what);

/// The candidate that `word` was probably meant to be: one or two letters differ, or nothing but
/// case and the kind of dash. Empty if none is near.
std::string_view nearest(std::string_view word, const std::vector<std::string>& candidates);

/// Its end of a message: ``, did you mean `x`?`` or nothing.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace holdpoint::policy::yaml

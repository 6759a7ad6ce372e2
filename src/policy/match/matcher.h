#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace re2 {
class RE2;
}

namespace holdpoint::policy::match {

/// What a pattern over a text is; a policy always writes which.
enum class MatcherKind : std::uint8_t { word, prefix, glob, re };

struct MatcherSpec {
    MatcherKind kind = MatcherKind::word;
    std::string pattern;
    bool ignores_case = false;   ///< ASCII letters; for `re` all letters
    bool is_unanchored = false;  ///< `re` only: anywhere in the text
};

/// A pattern compiled once, for string arguments. There are two questions with opposite bias, as
/// for shell commands; which one is asked depends on what a rule does, never on the author.
///
/// | kind     | fits (may let pass)                         | occurs (may hold or deny)      |
/// | -------- | ------------------------------------------- | ------------------------------ |
/// | `word`   | the whole text is the word                  | it stands anywhere as a word   |
/// | `prefix` | the text begins with it, a word ending there | the text begins with it        |
/// | `glob`   | the whole text; `*` is any text             | the same                       |
/// | `re`     | the whole text, or anywhere if unanchored   | the same                       |
///
/// Texts over 64 KiB are an error, and so never an answer to allow on. Linear in the text. Safe
/// from any thread; copies share the compiled expression.
class Matcher {
  public:
    static constexpr std::size_t text_bytes_max = 64 * 1024;

    /// invalid_argument for an empty pattern, control and invisible characters, and expressions
    /// that are not RE2 or compile to more than 1,000 instructions.
    static Result<Matcher> compile(MatcherSpec spec);

    Result<bool> fits(std::string_view text) const;
    Result<bool> occurs(std::string_view text) const;

    const MatcherSpec& spec() const { return spec_; }

  private:
    bool same(std::string_view a, std::string_view b) const;
    bool expression_matches(std::string_view text) const;
    bool glob_fits(std::string_view text) const;

    MatcherSpec spec_;
    std::shared_ptr<const re2::RE2> expression_;
};

/// What is probably a mistake in a pattern although it compiles: an unescaped `|` beside a blank,
/// which means "or", and patterns that fit every text.
std::optional<std::string> lint(const MatcherSpec& spec);

}  // namespace holdpoint::policy::match

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Shell text taken apart for comparing: quoting, blanks, comments and line continuations are gone,
/// what the shell would expand stays marked. Unlike the proving reading of policy/shell it also
/// reads expansions, patterns and redirections, because a repeat may hold them; where both read a
/// text, they agree word by word. Never used to decide what is safe.
namespace holdpoint::agent::feedback {

/// Stands before each character that the shell would act on, so that `"*"` is not `*`. A literal
/// one is written twice.
inline constexpr std::string_view active_mark = "\xE2\x80\xA0";  // U+2020

struct SimpleCommand {
    std::vector<std::string> assignments = {};   ///< `NAME=value` in front of the program
    std::vector<std::string> words = {};         ///< may be empty
    std::vector<std::string> redirections = {};  ///< operator, blank, target; in their order
    std::string followed_by = {};  ///< `;`, `&&`, `||`, `|`, `&`, `(`, `)`, `{`, `}` or nothing
};

/// Commands in the order of the text; a newline is `;`. Nothing for what cannot be taken apart with
/// certainty: heredocs, quotes and parentheses that do not close, control characters, nesting
/// deeper than eight.
std::optional<std::vector<SimpleCommand>> read_shell(std::string_view text);

/// Appends a character that means itself.
void append_literal(std::string& word, std::string_view text);

}  // namespace holdpoint::agent::feedback

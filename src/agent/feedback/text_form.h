#pragma once

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "policy/match/path.h"

/// One spelling for texts that mean the same, by what they are. Pure functions, any thread. Text
/// that is not UTF-8 stays as it is.
namespace holdpoint::agent::feedback {

inline bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
    return std::ranges::find(words, word) != words.end();
}

/// Unicode form C, without characters that do not show; odd blanks and full-width letters as the
/// plain ones, line ends as newlines.
std::string plain_form(std::string_view text);

/// For names, values and other short texts: no blanks around, one between words.
std::string line_form(std::string_view text);

/// For code and file contents: indentation counts; blanks inside a line, at its end, and empty
/// lines do not.
std::string content_form(std::string_view text);

/// For what people read: any blanks are one, typographic quotes are plain ones.
std::string prose_form(std::string_view text);

/// Letters without case, in every script.
std::string folded(std::string_view text);

/// A path by what it names: `.`, `..`, doubled and trailing slashes resolved, case gone, `\` as `/`
/// behind a drive letter, `file:///x` as `/x`.
std::string path_form(std::string_view text, const policy::match::PathContext& context);

/// Scheme and host in lower case, without the scheme's own port, dot segments and a slash at the
/// end; the query in the order of its names. Nothing for what is no URL.
std::optional<std::string> url_form(std::string_view text);

/// `ann@example.com`, in lower case; nothing for what is no address.
std::optional<std::string> email_form(std::string_view text);

}  // namespace holdpoint::agent::feedback

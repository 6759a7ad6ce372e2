#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "agent/feedback/command_form.h"
#include "base/json.h"
#include "policy/match/path.h"

/// When two actions are the same to a person who was asked about one of them. Used only to refuse:
/// a pair that is wrongly taken for different costs one more question, one that is wrongly taken
/// for the same costs an action that nobody sees, so whatever is not certain counts as different.
namespace holdpoint::agent::feedback {

/// What an argument is, and so what may vary in it.
enum class ArgumentKind {
    line,     ///< a name or value: blanks do not count
    content,  ///< code or a file's text: indentation counts
    prose,    ///< for people to read: blanks and typographic quotes do not count
    path,
    shell,    ///< a command line, or an array of its words
    ignored,  ///< says nothing about what happens
};

/// What is known beyond the text. Without it arguments are judged by their names and looks.
struct SamenessOptions {
    policy::match::PathContext paths = {};
    /// By tool and argument, `bash.command`; for what a tool's metadata says.
    std::map<std::string, ArgumentKind, std::less<>> kinds = {};
};

/// An action with everything gone that does not change what it does. Equal likenesses are not yet
/// the same: ask is_same().
struct Likeness {
    std::string key;  ///< for finding candidates; what is the same has the same
    std::vector<LooseWords> loose = {};
};

/// Any thread; never fails. Arguments that are no object are compared by their canonical JSON.
Likeness likeness_of(std::string_view tool, const json::value& arguments,
                     const SamenessOptions& options = {});

bool is_same(const Likeness& a, const Likeness& b);

/// What the name of an argument says about it; `line` where it says nothing.
ArgumentKind kind_of_name(std::string_view name);

}  // namespace holdpoint::agent::feedback

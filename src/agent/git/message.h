#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <holdpoint/observer.h>
#include <holdpoint/request.h>

/// What a commit says. Tool names, arguments, reasons and people's names come from outside: none of
/// them can begin a line, end the subject, or pass for a trailer.
namespace holdpoint::agent::git {

/// One commit to be. Texts are as they came; commit_message() makes them harmless.
struct Entry {
    std::string label;  ///< `Approval`, `Write`: our own words
    std::string text;   ///< the rest of the subject
    /// Instead of `text` where every path was in the repository before: `Changed` for `Created`.
    std::string text_if_known = {};
    std::vector<std::string> paragraphs = {};
    std::vector<std::pair<std::string, std::string>> trailers = {};  ///< names are our own words
    std::vector<std::string> paths = {};  ///< files that the action may have changed
    bool has_run = false;                 ///< an action, not a decision about one
    std::string at = {};                  ///< RFC 3339; when it happened
};

/// The subject on one line of at most 72 bytes, paragraphs indented, trailers in the last block.
std::string commit_message(const Entry& entry, bool is_known, std::size_t missed);

/// What became of a request. Nothing for what policy let pass: its action tells of itself.
std::vector<Entry> entries_of(const Request& request);
/// What a released action did.
Entry entry_of(const Request& request, const Release& release, const Ran& ran);

/// `delete_files (3 files)`, `run_command (command: npm install)`; secrets are left out.
std::string summary(std::string_view tool, const Json& arguments);

/// The files that the arguments name, as they are written there.
std::vector<std::string> paths_in(const Json& arguments);

/// The text with what looks like a password, token or key behind its name replaced by `***`.
std::string without_secrets(std::string_view text);

}  // namespace holdpoint::agent::git

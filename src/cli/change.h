#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "cli/resource.h"

namespace holdpoint::cli {

/// A person's change to what an agent proposed.
struct Change {
    json::value before;
    json::value after;

    bool is_change() const { return json::canonical(before) != json::canonical(after); }
};

/// Why this request cannot be changed by anybody; nothing where it can.
std::optional<Error> change_refusal(const Request& request);

/// Reads what a person wrote instead: JSON for arguments and plans, plain text for a response.
Result<Change> read_change(const Request& request, std::string_view text);

/// The text a person starts from, and the ending that tells an editor what it is.
std::string change_text(const Request& request);
std::string change_suffix(const Request& request);

/// The decision that sends it.
json::object change_body(const Request& request, const Change& change);

}  // namespace holdpoint::cli

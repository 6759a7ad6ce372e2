#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace holdpoint::server {

/// A key gets its name in two steps, with its commit to the store between them: one that is stored
/// but known to nobody would lock everybody out, and so would a file whose key is not stored.
/// Writes it beside `path` so that only the owner can read it; on the disk when this returns.
Result<void> stage_admin_key(const std::string& path, const std::string& key);
/// Gives it its name, in place of the key before it.
Result<void> keep_admin_key(const std::string& path);
/// What a start that was cut short between the two left behind.
std::optional<std::string> staged_admin_key(const std::string& path);
void drop_admin_key(const std::string& path);

/// Makes the data directory if it is missing (mode 0700), and says clearly what is wrong with it.
Result<void> prepare_data_directory(const std::string& path);

/// A first start makes the store before the admin key. So a key without a store means that the
/// store was lost, and beginning with an empty one would hide that.
Result<void> check_store_is_there(const std::string& store, const std::string& admin_key);

}  // namespace holdpoint::server

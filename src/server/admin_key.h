#pragma once

#include <string>

#include "base/result.h"

namespace holdpoint::server {

/// Writes the key so that only the owner can read it: complete and synced before it has its name.
Result<void> write_admin_key(const std::string& path, const std::string& key);

/// Makes the data directory if it is missing (mode 0700), and says clearly what is wrong with it.
Result<void> prepare_data_directory(const std::string& path);

/// A first start makes the store before the admin key. So a key without a store means that the
/// store was lost, and beginning with an empty one would hide that.
Result<void> check_store_is_there(const std::string& store, const std::string& admin_key);

}  // namespace holdpoint::server

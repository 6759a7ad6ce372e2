#pragma once

#include <string>

#include "base/result.h"

namespace holdpoint::server {

/// Writes the key so that only the owner can read it: complete and synced before it has its name.
Result<void> write_admin_key(const std::string& path, const std::string& key);

/// Makes the data directory if it is missing (mode 0700), and says clearly what is wrong with it.
Result<void> prepare_data_directory(const std::string& path);

}  // namespace holdpoint::server

#pragma once

#include <span>

#include "base/result.h"
#include "store/sqlite/database.h"

namespace holdpoint::store::sqlite {

/// `HPNT`, so that nobody's other database is taken for ours.
inline constexpr std::int64_t application_id = 0x48504E54;

/// The SQL texts that lead from an empty file to the present schema, one for each version. Texts
/// that were released are never changed.
std::span<const char* const> migrations();

/// Refuses a file of another program or of a newer version, before anything is written to it.
Result<void> check_owner(Database& database, const std::string& path);

/// Brings the schema up to date, each version in its own transaction.
Result<void> migrate(Database& database, const std::string& path);

}  // namespace holdpoint::store::sqlite

#pragma once

#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "base/result.h"
#include "base/time.h"
#include "store/sqlite/database.h"

/// Small steps between rows and values, shared by the files that read small tables.

namespace holdpoint::store::sqlite {

inline Error damaged(const char* what) {
    return {ErrorCode::internal, std::string("a stored ") + what + " cannot be read"};
}

/// False if these are not the bytes of an id.
inline bool read_id(std::string_view bytes, Ulid& out) {
    if (bytes.size() != out.bytes.size()) return false;
    std::memcpy(out.bytes.data(), bytes.data(), bytes.size());
    return true;
}

inline void bind_time(Statement& statement, int at, const std::optional<Timestamp>& time) {
    if (time)
        statement.bind(at, *time);
    else
        statement.bind_null(at);
}

inline std::optional<Timestamp> read_time(Statement& row, int column) {
    if (row.is_null(column)) return std::nullopt;
    return Timestamp{row.number(column)};
}

/// The one row of a statement that is already bound, read by `read`; nothing if there is none.
template <class T, class Read>
Result<std::optional<T>> one(Statement& row, Read read) {
    if (!row.step()) return std::optional<T>{};
    Result<T> found = read(row);
    if (!found) return found.error();
    return std::optional<T>{std::move(*found)};
}

/// All of them.
template <class T, class Read>
Result<std::vector<T>> every(Statement& row, Read read) {
    std::vector<T> all;
    while (row.step()) {
        Result<T> found = read(row);
        if (!found) return found.error();
        all.push_back(std::move(*found));
    }
    return all;
}

}  // namespace holdpoint::store::sqlite

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

/// What a policy file says, as a tree that knows where everything stands. Plain values.
namespace holdpoint::policy::yaml {

/// A place in the file, both from 1; columns count code points. 0 where there is no file.
struct Mark {
    int line = 0;
    int column = 0;
};

/// An invalid_argument error whose message begins with the place: `line 3, column 5: …`.
Error error_at(Mark mark, std::string_view message);

enum class Kind { null, boolean, integer, number, text, list, map };

/// For messages: `a list`, `text`.
std::string_view to_string(Kind kind);

struct Entry;

/// One value. `text` is what stands in the file (quotes and escapes undone) for every scalar, so
/// that a message can repeat `1e3` as the author wrote it.
struct Node {
    Kind kind = Kind::null;
    bool is_quoted = false;  ///< written in quotes or as a block; then the kind is text
    Mark mark;
    bool boolean = false;
    std::int64_t integer = 0;
    double number = 0;  ///< also set for integers
    std::string text;
    std::vector<Node> items;     ///< of a list
    std::vector<Entry> entries;  ///< of a map, in file order; keys are unique

    bool is(Kind other) const { return kind == other; }
    /// The value under `key`, or nullptr; also where this is no map.
    const Node* find(std::string_view key) const;
};

struct Entry {
    std::string key;
    Mark key_mark;
    Node value;
};

/// The same value as JSON: integers as int64, numbers as double, maps with their order kept.
json::value to_json(const Node& node);

}  // namespace holdpoint::policy::yaml

#include "policy/yaml/node.h"

#include <algorithm>

#include <fmt/format.h>

namespace holdpoint::policy::yaml {

Error error_at(Mark mark, std::string_view message) {
    return {ErrorCode::invalid_argument,
            fmt::format("line {}, column {}: {}", mark.line, mark.column, message)};
}

std::string_view to_string(Kind kind) {
    switch (kind) {
        case Kind::null:
            return "nothing";
        case Kind::boolean:
            return "true or false";
        case Kind::integer:
            return "a whole number";
        case Kind::number:
            return "a number";
        case Kind::text:
            return "text";
        case Kind::list:
            return "a list";
        case Kind::map:
            return "a map";
    }
    return "something else";
}

const Node* Node::find(std::string_view key) const {
    const auto entry = std::ranges::find(entries, key, &Entry::key);
    return entry == entries.end() ? nullptr : &entry->value;
}

json::value to_json(const Node& node) {
    switch (node.kind) {
        case Kind::null:
            return nullptr;
        case Kind::boolean:
            return node.boolean;
        case Kind::integer:
            return node.integer;
        case Kind::number:
            return node.number;
        case Kind::text:
            return json::value(node.text);
        case Kind::list: {
            json::array array;
            array.reserve(node.items.size());
            for (const Node& item : node.items) array.push_back(to_json(item));
            return array;
        }
        case Kind::map: {
            json::object object;
            object.reserve(node.entries.size());
            for (const Entry& entry : node.entries) object.emplace(entry.key, to_json(entry.value));
            return object;
        }
    }
    return nullptr;
}

}  // namespace holdpoint::policy::yaml

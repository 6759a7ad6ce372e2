#pragma once

#include <cstring>
#include <string_view>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "policy/cel/value.h"

namespace holdpoint::cel {

/// The value under a key, or null. Most objects have a handful of keys, and comparing lengths first
/// is quicker than hashing.
inline const boost::json::value* find_member(const boost::json::object& object,
                                             std::string_view key) {
    constexpr std::size_t linear_max = 16;
    if (object.size() > linear_max) return object.if_contains(key);
    for (const auto& member : object) {
        const std::string_view name = member.key();
        if (name.size() == key.size() && std::memcmp(name.data(), key.data(), key.size()) == 0) {
            return &member.value();
        }
    }
    return nullptr;
}

/// Value::json with the two kinds that conditions mostly read in front.
inline Value read_member(const boost::json::value& json, const Type& type, Arena& arena) {
    if (json.is_string() && type.kind() == Type::Kind::string) {
        const boost::json::string& text = json.get_string();
        return Value::string({text.data(), text.size()});
    }
    if (json.is_double() && type.kind() == Type::Kind::real) return Value::real(json.get_double());
    return Value::json(json, type, arena);
}

}  // namespace holdpoint::cel

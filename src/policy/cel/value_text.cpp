#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/json.h"
#include "policy/cel/address.h"
#include "policy/cel/encode.h"
#include "policy/cel/moment.h"
#include "policy/cel/number_text.h"
#include "policy/cel/value.h"

namespace holdpoint::cel {
namespace {

constexpr int text_depth_max = 100;

void append(std::string& out, const Value& value, Arena& arena, std::size_t bytes_max, int depth);

void append_list(std::string& out, const Value& value, Arena& arena, std::size_t bytes_max,
                 int depth) {
    out += '[';
    for (std::size_t i = 0; i < value.size(); ++i) {
        if (i > 0) out += ", ";
        if (out.size() > bytes_max) {
            out += "…";
            break;
        }
        append(out, value.element(i, arena), arena, bytes_max, depth);
    }
    out += ']';
}

void append_map(std::string& out, const Value& value, Arena& arena, std::size_t bytes_max,
                int depth) {
    out += '{';
    for (std::size_t i = 0; i < value.size(); ++i) {
        if (i > 0) out += ", ";
        if (out.size() > bytes_max) {
            out += "…";
            break;
        }
        const MapEntry entry = value.entry(i, arena);
        append(out, entry.key, arena, bytes_max, depth);
        out += ": ";
        append(out, entry.value, arena, bytes_max, depth);
    }
    out += '}';
}

void append_bytes(std::string& out, std::string_view bytes) {
    out += "b\"";
    for (const char c : bytes) {
        const auto octet = static_cast<unsigned char>(c);
        if (octet >= 0x20 && octet < 0x7f && c != '"' && c != '\\') {
            out += c;
        } else {
            out += fmt::format("\\x{:02x}", octet);
        }
    }
    out += '"';
}

/// A whole number as double keeps its point, so that the kinds can be told apart.
std::string real_literal(double number) {
    std::string text = number_text(number);
    if (std::isfinite(number) && text.find_first_of(".e") == text.npos) text += ".0";
    return text;
}

void append(std::string& out, const Value& value, Arena& arena, std::size_t bytes_max, int depth) {
    if (depth > text_depth_max) {
        out += "…";
        return;
    }
    switch (value.kind()) {
        case Kind::absent:
            out += "absent";
            break;
        case Kind::null:
            out += "null";
            break;
        case Kind::boolean:
            out += value.as_boolean() ? "true" : "false";
            break;
        case Kind::integer:
            out += std::to_string(value.as_integer());
            break;
        case Kind::unsigned_integer:
            out += std::to_string(value.as_unsigned()) + 'u';
            break;
        case Kind::real:
            out += real_literal(value.as_real());
            break;
        case Kind::string: {
            const std::string_view text = value.as_text();
            const std::size_t cut = std::min(text.size(), bytes_max);
            json::append_quoted(out, text.substr(0, cut));
            if (cut < text.size()) out += "…";
            break;
        }
        case Kind::bytes:
            append_bytes(out, value.as_text().substr(0, bytes_max));
            break;
        case Kind::list:
            append_list(out, value, arena, bytes_max, depth + 1);
            break;
        case Kind::map:
            append_map(out, value, arena, bytes_max, depth + 1);
            break;
        case Kind::timestamp:
            out += fmt::format("timestamp(\"{}\")", to_string(value.as_timestamp()));
            break;
        case Kind::duration:
            out += fmt::format("duration(\"{}\")", duration_text(value.as_duration_ns()));
            break;
        case Kind::type:
            out += value.as_text();
            break;
        case Kind::ip:
            out += fmt::format("ip(\"{}\")", to_string(value.as_address()));
            break;
        case Kind::cidr:
            out += fmt::format("cidr(\"{}\")", to_string(value.as_address()));
            break;
        case Kind::optional:
            if (!value.has_value()) {
                out += "optional.none()";
                break;
            }
            out += "optional.of(";
            append(out, value.optional_value(), arena, bytes_max, depth + 1);
            out += ')';
            break;
        case Kind::error:
            out += value.as_text();
            break;
    }
}

boost::json::value json_of(const Value& value, Arena& arena, int depth) {
    if (depth > text_depth_max) return "…";
    switch (value.kind()) {
        case Kind::absent:
        case Kind::null:
            return nullptr;
        case Kind::boolean:
            return value.as_boolean();
        case Kind::integer:
            if (std::abs(value.as_integer()) > json::integer_max) {
                return boost::json::string(std::to_string(value.as_integer()));
            }
            return value.as_integer();
        case Kind::unsigned_integer:
            if (value.as_unsigned() > static_cast<std::uint64_t>(json::integer_max)) {
                return boost::json::string(std::to_string(value.as_unsigned()));
            }
            return static_cast<std::int64_t>(value.as_unsigned());
        case Kind::real:
            if (!std::isfinite(value.as_real())) {
                return boost::json::string(number_text(value.as_real()));
            }
            return value.as_real();
        case Kind::string:
        case Kind::type:
            return boost::json::string(value.as_text());
        case Kind::bytes:
            return boost::json::string(encode_base64(value.as_text()));
        case Kind::timestamp:
            return boost::json::string(to_string(value.as_timestamp()));
        case Kind::duration:
            return boost::json::string(duration_text(value.as_duration_ns()));
        case Kind::ip:
        case Kind::cidr:
            return boost::json::string(to_string(value.as_address()));
        case Kind::optional:
            if (!value.has_value()) return nullptr;
            return json_of(value.optional_value(), arena, depth + 1);
        case Kind::list: {
            boost::json::array list;
            for (std::size_t i = 0; i < value.size(); ++i) {
                list.push_back(json_of(value.element(i, arena), arena, depth + 1));
            }
            return list;
        }
        case Kind::map: {
            boost::json::object map;
            for (std::size_t i = 0; i < value.size(); ++i) {
                const MapEntry entry = value.entry(i, arena);
                const bool is_text = entry.key.kind() == Kind::string;
                map[is_text ? std::string(entry.key.as_text()) : to_text(entry.key)] =
                    json_of(entry.value, arena, depth + 1);
            }
            return map;
        }
        case Kind::error:
            return {{"error", boost::json::string(value.as_text())}};
    }
    return nullptr;
}

}  // namespace

std::string to_text(const Value& value, std::size_t bytes_max) {
    Arena arena;
    std::string out;
    append(out, value, arena, bytes_max, 0);
    return out;
}

boost::json::value to_json(const Value& value) {
    Arena arena;
    return json_of(value, arena, 0);
}

}  // namespace holdpoint::cel

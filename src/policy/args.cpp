#include "policy/args.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace holdpoint::policy {
namespace {

using Kind = ArgType::Kind;
using boost::json::value;

struct Word {
    std::string_view text;
    Kind kind;
};
constexpr Word type_words[] = {{"string", Kind::text},     {"number", Kind::number},
                               {"integer", Kind::integer}, {"bool", Kind::boolean},
                               {"dyn", Kind::any},         {"list", Kind::list},
                               {"map", Kind::map}};

std::string_view named_argument(Kind kind) {
    switch (kind) {
        case Kind::text:
            return "text";
        case Kind::number:
            return "a number";
        case Kind::integer:
            return "a whole number";
        case Kind::boolean:
            return "true or false";
        case Kind::list:
            return "a list";
        case Kind::map:
        case Kind::object:
            return "an object";
        case Kind::any:
            break;
    }
    return "anything";
}

std::string_view kind_name(const value& value) {
    switch (value.kind()) {
        case boost::json::kind::null:
            return "null";
        case boost::json::kind::bool_:
            return "true or false";
        case boost::json::kind::string:
            return "text";
        case boost::json::kind::array:
            return "a list";
        case boost::json::kind::object:
            return "an object";
        default:
            return "a number";
    }
}

bool is_whole(const value& value) {
    if (value.is_int64() || value.is_uint64()) return true;
    // `5.0` and `5e0` are the same JSON number as `5`; the canonical form writes them alike.
    return value.is_double() && value.get_double() == std::floor(value.get_double()) &&
           std::abs(value.get_double()) <= static_cast<double>(json::integer_max);
}

bool has_kind(const value& value, Kind kind) {
    switch (kind) {
        case Kind::text:
            return value.is_string();
        case Kind::number:
            return value.is_number();
        case Kind::integer:
            return is_whole(value);
        case Kind::boolean:
            return value.is_bool();
        case Kind::list:
            return value.is_array();
        case Kind::map:
        case Kind::object:
            return value.is_object();
        case Kind::any:
            return true;
    }
    return false;
}

/// Checks without a path: the path is put together on the way back from what is wrong, so that a
/// good call costs nothing but the look.
class Checker {
  public:
    bool check(const ArgType& type, const value& value) {
        if (!has_kind(value, type.kind))
            return fail(
                fmt::format("must be {}, is {}", named_argument(type.kind), kind_name(value)));
        if (type.kind == Kind::object) return check_fields(type, value.get_object());
        if (type.element.empty()) return true;
        if (type.kind == Kind::list) return check_items(type, value.get_array());
        if (type.kind == Kind::map) return check_values(type, value.get_object());
        return true;
    }

    bool check_fields(const ArgType& type, const json::object& object) {
        std::size_t found = 0;
        for (const ArgField& field : type.fields) {
            const value* member = object.if_contains(field.name);
            if (member) ++found;
            if (!member || (member->is_null() && field.type.kind != Kind::any)) {
                if (field.is_optional) continue;
                return fail(member ? "is null" : "is missing") || under(field.name);
            }
            if (!check(field.type, *member)) return under(field.name);
        }
        return found == object.size() || check_rest(type, object);
    }

    ArgFault fault(std::string_view root) const {
        return {fmt::format("{}{}", root, path_), message_};
    }

  private:
    bool fail(std::string message) {
        message_ = std::move(message);
        return false;
    }

    bool under(std::string_view name) {
        path_ = fmt::format(".{}{}", name, path_);
        return false;
    }

    bool check_items(const ArgType& type, const json::array& items) {
        for (std::size_t i = 0; i < items.size(); ++i) {
            if (check(type.element.front(), items[i])) continue;
            path_ = fmt::format("[{}]{}", i, path_);
            return false;
        }
        return true;
    }

    bool check_values(const ArgType& type, const json::object& object) {
        for (const auto& member : object) {
            if (!check(type.element.front(), member.value()))
                return under({member.key().data(), member.key().size()});
        }
        return true;
    }

    bool check_rest(const ArgType& type, const json::object& object) {
        for (const auto& member : object) {
            const std::string_view name{member.key().data(), member.key().size()};
            if (type.find(name)) continue;
            if (type.element.empty()) return fail("is not declared") || under(name);
            if (!check(type.element.front(), member.value())) return under(name);
        }
        return true;
    }

    std::string path_;
    std::string message_;
};

std::optional<ArgType> parse_word(std::string_view text, int depth) {
    constexpr int depth_max = 8;
    if (depth > depth_max) return std::nullopt;
    const std::size_t open = text.find('(');
    const std::string_view name = text.substr(0, open);
    const Word* word = std::find_if(std::begin(type_words), std::end(type_words),
                                    [&](const Word& candidate) { return candidate.text == name; });
    if (word == std::end(type_words)) return std::nullopt;
    ArgType type{word->kind, {}, {}};
    if (open == std::string_view::npos) return type;
    const bool is_container = type.kind == Kind::list || type.kind == Kind::map;
    if (!is_container || text.back() != ')') return std::nullopt;
    std::optional<ArgType> element =
        parse_word(text.substr(open + 1, text.size() - open - 2), depth + 1);
    if (!element) return std::nullopt;
    type.element.push_back(std::move(*element));
    return type;
}

}  // namespace

const ArgField* ArgType::find(std::string_view name) const {
    const auto found = std::find_if(fields.begin(), fields.end(),
                                    [&](const ArgField& field) { return field.name == name; });
    return found == fields.end() ? nullptr : &*found;
}

std::optional<ArgType> parse_arg_type(std::string_view text) { return parse_word(text, 0); }

std::string to_string(const ArgType& type) {
    if (type.kind == Kind::object) {
        std::string out = "{";
        for (const ArgField& field : type.fields) {
            if (out.size() > 1) out += ", ";
            out += fmt::format("{}{}: {}", field.name, field.is_optional ? "?" : "",
                               to_string(field.type));
        }
        return out + "}";
    }
    const Word* word =
        std::find_if(std::begin(type_words), std::end(type_words),
                     [&](const Word& candidate) { return candidate.kind == type.kind; });
    if (type.element.empty()) return std::string(word->text);
    return fmt::format("{}({})", word->text, to_string(type.element.front()));
}

std::optional<ArgFault> check_args(const ArgType& type, const json::object& args) {
    Checker checker;
    if (checker.check_fields(type, args)) return std::nullopt;
    return checker.fault("args");
}

}  // namespace holdpoint::policy

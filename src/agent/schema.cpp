#include <fmt/format.h>
#include <holdpoint/tool.h>

#include <algorithm>

namespace holdpoint {
namespace {

bool is_of_type(const std::string& type, const Json& value) {
    if (type == "string") return value.is_text();
    if (type == "number") return value.is_number();
    if (type == "integer") return value.integer().has_value();
    if (type == "boolean") return value.boolean().has_value();
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    return type == "null" && value.is_null();
}

std::optional<std::string> check_type(const Json& type, const Json& value,
                                      const std::string& path) {
    if (type.is_null()) return std::nullopt;
    const std::vector<Json> types = type.is_array() ? type.items() : std::vector<Json>{type};
    for (const Json& one : types)
        if (is_of_type(one.text_or(""), value)) return std::nullopt;
    return fmt::format("{} must be {}", path, type.is_text() ? type.text_or("") : type.dump());
}

std::optional<std::string> check_limits(const Json& schema, const Json& value,
                                        const std::string& path) {
    if (const std::vector<Json> words = schema["enum"].items();
        schema.has("enum") && std::find(words.begin(), words.end(), value) == words.end())
        return fmt::format("{} must be one of {}", path, schema["enum"].dump());
    if (const std::optional<double> number = value.number()) {
        if (const std::optional<double> min = schema["minimum"].number(); min && *number < *min)
            return fmt::format("{} must be at least {}", path, schema["minimum"].dump());
        if (const std::optional<double> max = schema["maximum"].number(); max && *number > *max)
            return fmt::format("{} must be at most {}", path, schema["maximum"].dump());
    }
    if (const std::optional<std::string> text = value.text()) {
        const std::optional<double> min = schema["minLength"].number();
        const std::optional<double> max = schema["maxLength"].number();
        const auto length = static_cast<double>(text->size());
        if (min && length < *min) return fmt::format("{} is too short", path);
        if (max && length > *max) return fmt::format("{} is too long", path);
    }
    return std::nullopt;
}

std::optional<std::string> check_object(const Json& schema, const Json& value,
                                        const std::string& path) {
    for (const Json& name : schema["required"].items())
        if (!value.has(name.text_or("")))
            return fmt::format("{}.{} is missing", path, name.text_or(""));
    const Json properties = schema["properties"];
    const bool may_be_more =
        schema["additionalProperties"].boolean().value_or(false) || !schema.has("properties");
    for (const std::string& name : value.names()) {
        const std::string inner = fmt::format("{}.{}", path, name);
        if (!properties.has(name)) {
            if (!may_be_more) return fmt::format("{} is not an argument of this tool", inner);
            continue;
        }
        if (std::optional<std::string> wrong = check_schema(properties[name], value[name], inner))
            return wrong;
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::string> check_schema(const Json& schema, const Json& value,
                                        const std::string& path) {
    if (std::optional<std::string> wrong = check_type(schema["type"], value, path)) return wrong;
    if (std::optional<std::string> wrong = check_limits(schema, value, path)) return wrong;
    if (value.is_object()) return check_object(schema, value, path);
    if (!value.is_array() || !schema.has("items")) return std::nullopt;
    std::size_t at = 0;
    for (const Json& item : value.items())
        if (std::optional<std::string> wrong =
                check_schema(schema["items"], item, fmt::format("{}[{}]", path, at++)))
            return wrong;
    return std::nullopt;
}

}  // namespace holdpoint

#include "policy/cel/type.h"

#include <algorithm>

namespace holdpoint::cel {
namespace {

const Type dynamic_type;
const std::vector<Type> no_types;
const std::vector<Type::Field> no_fields;
const std::string no_name;

std::string_view plain_name(Type::Kind kind) {
    switch (kind) {
        case Type::Kind::dynamic:
            return "dyn";
        case Type::Kind::null:
            return "null";
        case Type::Kind::boolean:
            return "bool";
        case Type::Kind::integer:
            return "int";
        case Type::Kind::unsigned_integer:
            return "uint";
        case Type::Kind::real:
            return "double";
        case Type::Kind::string:
            return "string";
        case Type::Kind::bytes:
            return "bytes";
        case Type::Kind::timestamp:
            return "timestamp";
        case Type::Kind::duration:
            return "duration";
        case Type::Kind::ip:
            return "net.IP";
        case Type::Kind::cidr:
            return "net.CIDR";
        case Type::Kind::type:
            return "type";
        case Type::Kind::list:
            return "list";
        case Type::Kind::map:
            return "map";
        case Type::Kind::optional:
            return "optional_type";
        case Type::Kind::object:
        case Type::Kind::abstract:
        case Type::Kind::parameter:
            break;
    }
    return {};
}

}  // namespace

struct Type::Description {
    std::string name = {};
    std::vector<Type> parameters = {};
    std::vector<Field> fields = {};
    std::size_t size_max = 0;
};

Type::Type(Kind kind, Description description)
    : kind_(kind), description_(std::make_shared<const Description>(std::move(description))) {}

Type Type::type(Type of) { return {Kind::type, {.parameters = {std::move(of)}}}; }

Type Type::string(std::size_t size_max) { return {Kind::string, {.size_max = size_max}}; }

Type Type::list(Type element, std::size_t size_max) {
    return {Kind::list, {.parameters = {std::move(element)}, .size_max = size_max}};
}

Type Type::map(Type key, Type value, std::size_t size_max) {
    return {Kind::map, {.parameters = {std::move(key), std::move(value)}, .size_max = size_max}};
}

Type Type::optional(Type value) { return {Kind::optional, {.parameters = {std::move(value)}}}; }

Type Type::object(std::string name, std::vector<Field> fields) {
    std::ranges::sort(fields, {}, &Field::name);
    return {Kind::object, {.name = std::move(name), .fields = std::move(fields)}};
}

Type Type::abstract(std::string name, std::vector<Type> parameters) {
    return {Kind::abstract, {.name = std::move(name), .parameters = std::move(parameters)}};
}

Type Type::parameter(std::string name) { return {Kind::parameter, {.name = std::move(name)}}; }

const std::vector<Type>& Type::parameters() const {
    return description_ ? description_->parameters : no_types;
}

const Type& Type::element() const {
    return parameters().empty() ? dynamic_type : parameters().front();
}

const Type& Type::key() const { return element(); }

const Type& Type::value() const { return parameters().size() < 2 ? dynamic_type : parameters()[1]; }

std::size_t Type::size_max() const { return description_ ? description_->size_max : 0; }

const Type* Type::field(std::string_view name) const {
    const std::vector<Field>& all = fields();
    const auto found = std::ranges::lower_bound(all, name, {}, &Field::name);
    return found == all.end() || found->name != name ? nullptr : &found->type;
}

const std::vector<Type::Field>& Type::fields() const {
    return description_ ? description_->fields : no_fields;
}

const std::string& Type::name() const { return description_ ? description_->name : no_name; }

std::string Type::to_string() const {
    std::string text(plain_name(kind_));
    if (text.empty()) text = name();
    if (parameters().empty()) return text;
    char before = '(';
    for (const Type& parameter : parameters()) {
        text += before;
        text += parameter.to_string();
        before = ',';
    }
    return text + ')';
}

bool operator==(const Type& a, const Type& b) {
    if (a.kind_ != b.kind_) return false;
    if (a.description_ == b.description_) return true;
    if (a.kind_ == Type::Kind::object) return false;
    return a.name() == b.name() && a.parameters() == b.parameters();
}

}  // namespace holdpoint::cel

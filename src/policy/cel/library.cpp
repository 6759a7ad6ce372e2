#include "policy/cel/library.h"

#include <array>

namespace holdpoint::cel {
namespace {

Library build() {
    Library library;
    add_operators(library);
    add_conversions(library);
    add_core_functions(library);
    add_time_functions(library);
    add_string_functions(library);
    add_string_builders(library);
    add_math_functions(library);
    add_network_functions(library);
    add_optional_functions(library);
    add_encoders(library);
    return library;
}

const std::vector<std::shared_ptr<const Overload>> no_overloads;

struct NamedType {
    std::string_view name;
    Type::Kind kind;
};
constexpr std::array<NamedType, 15> named_types = {{
    {"bool", Type::Kind::boolean},
    {"int", Type::Kind::integer},
    {"uint", Type::Kind::unsigned_integer},
    {"double", Type::Kind::real},
    {"string", Type::Kind::string},
    {"bytes", Type::Kind::bytes},
    {"list", Type::Kind::list},
    {"map", Type::Kind::map},
    {"null_type", Type::Kind::null},
    {"type", Type::Kind::type},
    {"google.protobuf.Timestamp", Type::Kind::timestamp},
    {"google.protobuf.Duration", Type::Kind::duration},
    {"net.IP", Type::Kind::ip},
    {"net.CIDR", Type::Kind::cidr},
    {"optional_type", Type::Kind::optional},
}};

}  // namespace

const std::vector<std::shared_ptr<const Overload>>& library_overloads(std::string_view name) {
    static const Library library = build();
    return library.find(name);
}

void Library::add(std::string_view name, Overload overload) {
    overloads_[std::string(name)].push_back(std::make_shared<const Overload>(std::move(overload)));
}

void Library::function(std::string_view name, std::vector<Type> parameters, Type result,
                       Function implementation, Cost cost) {
    Overload overload;
    overload.parameters = std::move(parameters);
    overload.result = std::move(result);
    if (implementation) overload.implementation = implementation;
    overload.cost = cost.steps;
    overload.is_linear = cost.is_linear;
    add(name, std::move(overload));
}

void Library::method(std::string_view name, std::vector<Type> parameters, Type result,
                     Function implementation, Cost cost) {
    Overload overload;
    overload.parameters = std::move(parameters);
    overload.result = std::move(result);
    overload.is_method = true;
    if (implementation) overload.implementation = implementation;
    overload.cost = cost.steps;
    overload.is_linear = cost.is_linear;
    add(name, std::move(overload));
}

void Library::variadic(std::string_view name, std::vector<Type> parameters, Type result,
                       Function implementation) {
    Overload overload;
    overload.parameters = std::move(parameters);
    overload.result = std::move(result);
    overload.is_variadic = true;
    overload.implementation = implementation;
    add(name, std::move(overload));
}

const std::vector<std::shared_ptr<const Overload>>& Library::find(std::string_view name) const {
    const auto found = overloads_.find(name);
    return found == overloads_.end() ? no_overloads : found->second;
}

Value type_constant(std::string_view name) {
    for (const NamedType& type : named_types) {
        if (type.name == name) return Value::type(type.name);
    }
    return {};
}

Type type_named(std::string_view name) {
    for (const NamedType& type : named_types) {
        if (type.name != name) continue;
        switch (type.kind) {
            case Type::Kind::boolean:
                return Type::boolean();
            case Type::Kind::integer:
                return Type::integer();
            case Type::Kind::unsigned_integer:
                return Type::unsigned_integer();
            case Type::Kind::real:
                return Type::real();
            case Type::Kind::string:
                return Type::string();
            case Type::Kind::bytes:
                return Type::bytes();
            case Type::Kind::list:
                return Type::list({});
            case Type::Kind::map:
                return Type::map({}, {});
            case Type::Kind::null:
                return Type::null();
            case Type::Kind::timestamp:
                return Type::timestamp();
            case Type::Kind::duration:
                return Type::duration();
            case Type::Kind::ip:
                return Type::ip();
            case Type::Kind::cidr:
                return Type::cidr();
            case Type::Kind::optional:
                return Type::optional({});
            default:
                return {};
        }
    }
    return {};
}

}  // namespace holdpoint::cel

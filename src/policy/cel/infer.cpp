#include "policy/cel/infer.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace holdpoint::cel {
namespace {

using TypeKind = Type::Kind;

bool has_parameters(const Type& type) {
    return type.kind() == TypeKind::parameter ||
           std::ranges::any_of(type.parameters(), has_parameters);
}

/// The same type around other parameters.
Type rebuild(const Type& type, std::vector<Type> parameters) {
    switch (type.kind()) {
        case TypeKind::list:
            return Type::list(std::move(parameters[0]), type.size_max());
        case TypeKind::map:
            return Type::map(std::move(parameters[0]), std::move(parameters[1]), type.size_max());
        case TypeKind::optional:
            return Type::optional(std::move(parameters[0]));
        case TypeKind::type:
            return Type::type(std::move(parameters[0]));
        case TypeKind::abstract:
            return Type::abstract(type.name(), std::move(parameters));
        default:
            return type;
    }
}

/// Whether `a` says as little as `b` or less: `list(dyn)` about `list(int)`.
bool is_as_general(const Type& a, const Type& b) {
    if (a.is_dynamic() || a.kind() == TypeKind::parameter) return true;
    if (b.is_dynamic() || b.kind() == TypeKind::parameter) return false;
    if (a.kind() != b.kind()) return a.kind() != TypeKind::null;
    return std::ranges::equal(a.parameters(), b.parameters(), is_as_general);
}

bool takes_null(const Type& type) {
    return type.kind() == TypeKind::timestamp || type.kind() == TypeKind::duration ||
           type.kind() == TypeKind::object || type.kind() == TypeKind::abstract;
}

}  // namespace

std::vector<Type> Inference::freshen(const std::vector<Type>& types) {
    if (std::ranges::none_of(types, has_parameters)) return types;
    std::map<std::string, Type> names;
    const auto rename = [&](const auto& self, const Type& type) -> Type {
        if (type.kind() == TypeKind::parameter) {
            const auto [found, is_new] = names.try_emplace(type.name());
            if (is_new) found->second = fresh();
            return found->second;
        }
        if (!has_parameters(type)) return type;
        std::vector<Type> parameters;
        for (const Type& parameter : type.parameters()) {
            parameters.push_back(self(self, parameter));
        }
        return rebuild(type, std::move(parameters));
    };
    std::vector<Type> fresh_types;
    fresh_types.reserve(types.size());
    for (const Type& type : types) fresh_types.push_back(rename(rename, type));
    return fresh_types;
}

Type Inference::fresh() { return Type::parameter(fmt::format("#{}", ++fresh_count_)); }

bool Inference::assign(const Type& from, const Type& to) {
    if (from == to && from.parameters().empty() && from.kind() != TypeKind::parameter) return true;
    const Bindings before = bindings_;
    if (assign_within(from, to)) return true;
    bindings_ = before;
    return false;
}

bool Inference::assign_all(const std::vector<Type>& from, const std::vector<Type>& to) {
    const Bindings before = bindings_;
    for (std::size_t i = 0; i < from.size(); ++i) {
        if (assign_within(from[i], to[i])) continue;
        bindings_ = before;
        return false;
    }
    return true;
}

const Type& Inference::follow(const Type& type) const {
    const Type* current = &type;
    while (current->kind() == TypeKind::parameter) {
        const auto found = bindings_.find(current->name());
        if (found == bindings_.end()) break;
        current = &found->second;
    }
    return *current;
}

bool Inference::assign_within(const Type& from, const Type& to) {
    // The parameter itself is bound, not what it stands for: what it meets may be more general.
    if (to.kind() == TypeKind::parameter) return bind(to, from);
    if (from.kind() == TypeKind::parameter) return bind(from, to);
    if (from.is_dynamic() || to.is_dynamic()) return true;
    if (from.kind() == TypeKind::null && takes_null(to)) return true;
    if (to.kind() == TypeKind::null && takes_null(from)) return true;
    if (from.kind() != to.kind()) return false;
    switch (from.kind()) {
        // Type values compare with each other whatever they name.
        case TypeKind::type:
            return true;
        case TypeKind::object:
            return from == to;
        case TypeKind::abstract:
            if (from.name() != to.name()) return false;
            break;
        default:
            break;
    }
    if (from.parameters().size() != to.parameters().size()) return false;
    for (std::size_t i = 0; i < from.parameters().size(); ++i) {
        if (!assign_within(from.parameters()[i], to.parameters()[i])) return false;
    }
    return true;
}

bool Inference::bind(const Type& parameter, const Type& type) {
    if (parameter == type) return true;
    const auto found = bindings_.find(parameter.name());
    if (found == bindings_.end()) {
        if (follow(type) == parameter) return true;
        if (occurs(parameter, type)) return false;
        bindings_.insert_or_assign(parameter.name(), type);
        return true;
    }
    const Type bound = found->second;
    if (bound.kind() == TypeKind::parameter) return bind(bound, type);
    if (!assign_within(type, bound)) return false;
    const Type& other = follow(type);
    if (other.kind() != TypeKind::parameter && is_as_general(resolve(other), resolve(bound)) &&
        !occurs(parameter, other)) {
        bindings_.insert_or_assign(parameter.name(), other);
    }
    return true;
}

bool Inference::occurs(const Type& parameter, const Type& type) const {
    const Type& meant = follow(type);
    if (meant.kind() == TypeKind::parameter) return meant == parameter;
    return std::ranges::any_of(meant.parameters(),
                               [&](const Type& inner) { return occurs(parameter, inner); });
}

Type Inference::join(const Type& a, const Type& b) {
    if (!assign(b, a)) return Type::dynamic();
    const Type left = resolve(a);
    const Type right = resolve(b);
    return is_as_general(left, right) ? left : right;
}

Type Inference::replace(const Type& type, bool opens_to_dynamic) const {
    const Type& meant = follow(type);
    if (meant.kind() == TypeKind::parameter) return opens_to_dynamic ? Type::dynamic() : meant;
    if (!has_parameters(meant)) return meant;
    std::vector<Type> parameters;
    for (const Type& parameter : meant.parameters()) {
        parameters.push_back(replace(parameter, opens_to_dynamic));
    }
    return rebuild(meant, std::move(parameters));
}

Type Inference::resolve(const Type& type) const { return replace(type, false); }
Type Inference::settle(const Type& type) const { return replace(type, true); }

}  // namespace holdpoint::cel

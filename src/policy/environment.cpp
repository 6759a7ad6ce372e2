#include "policy/environment.h"

#include <fmt/format.h>

#include <algorithm>

#include "policy/functions.h"

namespace holdpoint::policy {
namespace {

using cel::Type;

struct Declared {
    std::string_view name;
    Type type;
};

Type json_map() { return Type::map(Type::string(), Type::dynamic()); }

/// In the order of Var.
std::array<Declared, static_cast<std::size_t>(Var::count)> declarations(const Type& args) {
    return {{{"event", Type::string()},
             {"tool", Type::string()},
             {"tool.name", Type::string()},
             {"tool.read_only", Type::boolean()},
             {"tool.destructive", Type::boolean()},
             {"tool.reversible", Type::boolean()},
             {"tool.open_world", Type::boolean()},
             {"tool.risk", Type::string()},
             {"tool.known", Type::boolean()},
             {"args", args},
             {"agent.id", Type::string()},
             {"agent.role", Type::string()},
             {"agent.parent", Type::string()},
             {"agent.depth", Type::integer()},
             {"user.id", Type::string()},
             {"user.roles", Type::list(Type::string(), 100)},
             {"session", Type::string()},
             {"task.id", Type::string()},
             {"task.steps", Type::integer()},
             {"cost.estimate", Type::real()},
             {"cost.task", Type::real()},
             {"cost.session", Type::real()},
             {"cost.day", Type::real()},
             {"tokens.task", Type::real()},
             {"tokens.session", Type::real()},
             {"tokens.day", Type::real()},
             {"confidence", Type::real()},
             {"plan.title", Type::string()},
             {"plan.steps", Type::list(json_map(), 200)},
             {"response.text", Type::string()},
             {"input", json_map()},
             {"confirmation", json_map()},
             {"shell.opaque", Type::boolean()},
             {"shell.commands", Type::list(Type::list(Type::string(), 128), 16)},
             {"now", Type::timestamp()}}};
}

bool is_identifier(std::string_view name) {
    const auto is_letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    return !name.empty() && is_letter(name.front()) &&
           std::all_of(name.begin(), name.end(),
                       [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

bool is_same(const ArgType& a, const ArgType& b) { return to_string(a) == to_string(b); }

}  // namespace

Type cel_type(const ArgType& type, std::string name) {
    switch (type.kind) {
        case ArgType::Kind::text:
            return Type::string();
        case ArgType::Kind::number:
            return Type::real();
        case ArgType::Kind::integer:
            return Type::integer();
        case ArgType::Kind::boolean:
            return Type::boolean();
        case ArgType::Kind::list:
            return Type::list(type.element.empty() ? Type::dynamic()
                                                   : cel_type(type.element.front(), name + "[]"));
        case ArgType::Kind::map:
            return Type::map(Type::string(), type.element.empty()
                                                 ? Type::dynamic()
                                                 : cel_type(type.element.front(), name + "[]"));
        case ArgType::Kind::object: {
            // With `"*"` any name is a field, which only a map can say.
            if (!type.element.empty()) return json_map();
            std::vector<Type::Field> fields;
            for (const ArgField& field : type.fields)
                fields.push_back(
                    {field.name, cel_type(field.type, fmt::format("{}.{}", name, field.name))});
            return Type::object(std::move(name), std::move(fields));
        }
        case ArgType::Kind::any:
            break;
    }
    return Type::dynamic();
}

Type args_type(const std::vector<const Tool*>& tools) {
    ArgType merged{ArgType::Kind::object, {}, {}};
    for (const Tool* tool : tools) {
        if (!tool || !tool->args || !tool->args->element.empty()) return json_map();
        for (const ArgField& field : tool->args->fields) {
            const auto found =
                std::find_if(merged.fields.begin(), merged.fields.end(),
                             [&](const ArgField& mine) { return mine.name == field.name; });
            if (found == merged.fields.end())
                merged.fields.push_back(field);
            else if (!is_same(found->type, field.type))
                found->type = ArgType{};
        }
    }
    return tools.empty() ? json_map() : cel_type(merged, "args");
}

cel::Environment make_environment(const Policy& policy, const Type& args, ArgSlots slots) {
    cel::Environment environment;
    environment.switches().cross_type_numeric_comparison = true;
    for (const Declared& declared : declarations(args))
        environment.declare_variable(std::string(declared.name), declared.type);
    for (const Counter& counter : policy.file.counters)
        environment.declare_variable("counters." + counter.name,
                                     counter.add.is_set() ? Type::real() : Type::integer());
    for (std::size_t i = 0; i < policy.vars.size(); ++i)
        environment.declare_variable("vars." + policy.file.vars[i].name,
                                     policy.vars[i].program.result_type());
    if (slots == ArgSlots::fields) {
        for (const Type::Field& field : args.fields())
            // A name with a dot or a dash keeps its slot, but is only found through `args`.
            environment.declare_variable(
                (is_identifier(field.name) ? "args." : "no argument ") + field.name, field.type);
    }
    declare_functions(environment);
    return environment;
}

}  // namespace holdpoint::policy

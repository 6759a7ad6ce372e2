#include <fmt/format.h>

#include <array>

#include "policy/read.h"

namespace holdpoint::policy::read {
namespace {

using yaml::Entry;
using yaml::Kind;
using yaml::Node;

constexpr std::string_view type_words = "string, number, integer, bool, dyn, list(T), map(T)";

ArgType arg_type(const Node& node, Fault& fault, int depth);

ArgType object_type(const Node& node, Fault& fault, int depth) {
    ArgType type{ArgType::Kind::object, {}, {}};
    for (const Entry& entry : node.entries) {
        if (entry.key == "*") {
            type.element.push_back(arg_type(entry.value, fault, depth + 1));
            continue;
        }
        ArgField field;
        field.name = entry.key;
        field.is_optional = field.name.ends_with('?');
        if (field.is_optional) field.name.pop_back();
        field.type = arg_type(entry.value, fault, depth + 1);
        if (field.name.empty() || type.find(field.name))
            fault.note(entry.key_mark, fmt::format("argument `{}` stands here twice", field.name));
        type.fields.push_back(std::move(field));
    }
    return type;
}

ArgType arg_type(const Node& node, Fault& fault, int depth) {
    constexpr int depth_max = 8;
    if (node.is(Kind::map) && depth < depth_max) return object_type(node, fault, depth);
    if (const std::optional<ArgType> type =
            node.is(Kind::text) ? parse_arg_type(node.text) : std::nullopt)
        return *type;
    static constexpr std::array<std::string_view, 7> names{"string", "number", "integer", "bool",
                                                           "dyn",    "list",   "map"};
    fault.note(node.mark, fmt::format("`{}` is no type; types are {}{}", node.text, type_words,
                                      did_you_mean(node.text, names)));
    return {};
}

ShellFact shell_fact(const Node& node, Fault& fault) {
    // Other dialects are taken too: they are always opaque.
    Section section(node, "shell", fault);
    ShellFact fact;
    fact.mark = node.mark;
    fact.arg = section.required_text("arg");
    if (std::string dialect = section.text("dialect"); !dialect.empty())
        fact.dialect = std::move(dialect);
    section.finish();
    return fact;
}

/// MCP's own words for the same facts, when an operator copies them from a manifest.
void annotations(Section& section, Tool& tool) {
    const Node* node = section.find("annotations", Kind::map);
    if (!node) return;
    Section inner(*node, "annotations", section.fault());
    const auto take = [&](std::optional<bool>& fact, std::string_view key) {
        const std::optional<bool> hint = inner.boolean(key);
        if (!fact) fact = hint;
    };
    take(tool.destructive, "destructiveHint");
    take(tool.read_only, "readOnlyHint");
    take(tool.open_world, "openWorldHint");
    inner.boolean("idempotentHint");
    inner.find("title");
    inner.finish();
}

}  // namespace

Tool tool(const Entry& entry, Fault& fault) {
    Section section(entry.value, fmt::format("tool `{}`", entry.key), fault);
    Tool tool;
    tool.name = entry.key;
    tool.mark = entry.key_mark;
    tool.destructive = section.boolean("destructive");
    tool.reversible = section.boolean("reversible");
    tool.read_only = section.boolean("read_only");
    tool.open_world = section.boolean("open_world");
    annotations(section, tool);
    tool.risk = risk(section, "risk");
    if (const Node* args = section.find("args", Kind::map))
        tool.args = object_type(*args, fault, 0);
    if (const Node* shell = section.find("shell")) tool.shell = shell_fact(*shell, fault);
    tool.message = section.text("message");
    tool.consequences = section.texts("consequences");
    tool.redact = section.texts("redact");
    tool.cost = value_expression(section, "cost");
    tool.requires_approval = value_expression(section, "requires_approval");
    if (tool.read_only.value_or(false) && tool.destructive.value_or(false))
        section.refuse(fmt::format("{} cannot be read_only and destructive", section.what()));
    if (tool.shell && tool.args && !tool.args->find(tool.shell->arg))
        section.refuse(fmt::format("{} has no argument `{}` for its shell command", section.what(),
                                   tool.shell->arg));
    section.finish();
    return tool;
}

Counter counter(const Entry& entry, Fault& fault) {
    Section section(entry.value, fmt::format("counter `{}`", entry.key), fault);
    Counter counter;
    counter.name = entry.key;
    check_identifier(entry.key, entry.key_mark, fault);
    counter.mark = entry.key_mark;
    counter.on = section.texts("on");
    if (counter.on.empty()) section.refuse(fmt::format("{} needs `on`", section.what()));
    counter.key = expression(section, "key");
    counter.add = value_expression(section, "add");
    const std::optional<std::int64_t> window = section.duration("window");
    if (!window) section.refuse(fmt::format("{} needs `window`", section.what()));
    counter.window_ms = window.value_or(1);
    section.finish();
    return counter;
}

}  // namespace holdpoint::policy::read

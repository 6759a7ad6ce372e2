#include "notify/push/shown.h"

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"

namespace holdpoint::notify::push {
namespace {

constexpr std::size_t title_max = 200;
// What a phone shows of a title in one line, and of a text without being asked for more.
constexpr std::size_t line_max = 60;
constexpr std::size_t body_max = 160;

std::string_view text_of(const json::object& object, std::string_view name) {
    const json::value* found = object.if_contains(name);
    const boost::json::string* text = found ? found->if_string() : nullptr;
    return text ? std::string_view(text->data(), text->size()) : std::string_view();
}

/// `tool(name: value, …)` with every value whole; empty if one of them must not be shown here, or
/// if that takes too much room.
std::string whole_call(const std::string& tool, const json::object& arguments,
                       const IsSecret& is_secret) {
    std::string line = visible(tool) + "(";
    for (const auto& member : arguments) {
        const std::string name(member.key().data(), member.key().size());
        const std::string value = json::canonical(member.value());
        // What is nested is judged by everything that stands in it, the names among it.
        const bool is_nested = member.value().is_object() || member.value().is_array();
        if (is_secret && is_secret(tool, is_nested ? fmt::format("{}.{}", name, value) : name))
            return {};
        if (!line.ends_with('(')) line += ", ";
        append_visible(line, name);
        line += ": ";
        append_visible(line, value);
        if (line.size() > body_max) return {};
    }
    return line + ")";
}

/// All that is asked, in one line; empty if that cannot be said here.
std::string whole(const core::Request& request, const IsSecret& is_secret) {
    const Result<json::value> subject = json::parse(request.subject.text);
    if (!subject || !subject->is_object()) return {};
    const json::object& object = subject->get_object();
    switch (request.kind) {
        case core::Kind::action: {
            const json::value* arguments = object.if_contains("arguments");
            if (!arguments || !arguments->is_object()) return {};
            return whole_call(request.tool, arguments->get_object(), is_secret);
        }
        case core::Kind::confirmation: {
            // The buttons of a message have words of their own.
            const bool is_plain = !object.contains("details") &&
                                  text_of(object, "confirm_label") == "Confirm" &&
                                  text_of(object, "cancel_label") == "Cancel";
            return is_plain ? "Confirm: " + visible(text_of(object, "message")) : "";
        }
        case core::Kind::response:
            return "Final answer: " + visible(text_of(object, "text"));
        case core::Kind::plan:
        case core::Kind::input:
            return {};
    }
    return {};
}

}  // namespace

Shown show(const core::Request& request, const IsSecret& is_secret) {
    Shown shown;
    shown.title = cut_utf8(request.headline, title_max);
    if (request.outcome) {
        const std::string by = request.decision ? " by " + request.decision->by : "";
        shown.body = fmt::format("{}{}", to_string(*request.outcome), by);
        return shown;
    }
    shown.body = fmt::format("{} · {} risk", request.agent, to_string(request.risk));
    const std::string line = whole(request, is_secret);
    shown.is_whole = !line.empty() && line.size() <= body_max;
    const bool is_in_title = line == shown.title && line.size() <= line_max;
    if (shown.is_whole && !is_in_title) shown.body += "\n" + line;
    return shown;
}

}  // namespace holdpoint::notify::push

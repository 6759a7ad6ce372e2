#include "core/subject.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "base/json.h"
#include "base/json_fields.h"
#include "base/text.h"
#include "core/json_text.h"
#include "core/secret.h"
#include "core/stored_json.h"

namespace holdpoint::core {
namespace {

using boost::json::array;
using boost::json::object;
using boost::json::value;
using json::Fields;

constexpr std::size_t headline_bytes_max = 240;
constexpr std::size_t steps_max = 200;
constexpr std::size_t options_max = 200;
constexpr std::size_t file_bytes_max = 128 * 1024;
constexpr double number_max = std::numeric_limits<double>::max();
constexpr double cost_max = 1e9;  // of one action: budgets add them up

constexpr json::TextRule name_rule{.min = 1, .max = 200, .is_one_line = true};
constexpr json::TextRule title_rule{.min = 1, .max = 2000};
constexpr json::TextRule prose_rule{.max = 16 * 1024};

std::string headline(std::string_view text) { return cut_utf8(visible(text), headline_bytes_max); }

void put(object& out, std::string_view name, const std::optional<std::string>& text) {
    if (text) out[name] = *text;
}

Subject make(value canonical_value, std::string tool, std::string line) {
    return {{json::canonical(canonical_value)}, std::move(tool), std::move(line)};
}

/// A value in a headline: what is long is cut, and what is nested is only hinted at.
void append_short(std::string& out, const value& value) {
    constexpr std::size_t text_bytes_max = 80;
    if (const boost::json::string* text = value.if_string()) {
        const std::string_view whole(text->data(), text->size());
        std::string quoted;
        if (whole.size() <= text_bytes_max)
            json::append_quoted(quoted, whole);
        else
            json::append_quoted(quoted, cut_utf8(whole, text_bytes_max));
        append_visible(out, quoted);
    } else if (value.is_object()) {
        out += value.get_object().empty() ? "{}" : "{…}";
    } else if (value.is_array()) {
        const std::size_t count = value.get_array().size();
        out += count == 0 ? "[]" : fmt::format("[{} item{}]", count, count == 1 ? "" : "s");
    } else {
        json::append_canonical(out, value);
    }
}

void append_member(std::string& out, std::string_view name,
                   const std::optional<std::string>& text) {
    if (!text) return;
    json::append_quoted(out, name);
    out += ':';
    json::append_quoted(out, *text);
    out += ',';
}

/// The canonical text is put together directly, members in canonical order: every proposed tool
/// call passes here, and a copy of its arguments would cost more than the rest.
Result<Subject> check_action(const value& given, std::string_view path) {
    Fields fields(given, std::string(path));
    const std::string tool = fields.required_text("tool", name_rule);
    const value* arguments = fields.any("arguments");
    if (arguments && !arguments->is_object() && !arguments->is_null())
        fields.refuse("arguments", "must be an object");
    const std::string type = fields.text("type", name_rule).value_or("tool_call");
    const std::optional<std::string> description = fields.text("description", prose_rule);
    const std::optional<std::string> outcome = fields.text("expected_outcome", prose_rule);
    const std::optional<bool> reversible = fields.boolean("reversible");
    const std::optional<double> cost = fields.number("estimated_cost", {0, cost_max});
    if (Result<void> ok = fields.finish(); !ok) return ok.error();

    static const object no_arguments;
    const object& named =
        arguments && arguments->is_object() ? arguments->get_object() : no_arguments;
    std::string text;
    text.reserve(512);
    text += "{\"arguments\":";
    if (arguments && arguments->is_object())
        json::append_canonical(text, *arguments);
    else
        text += "{}";
    text += ',';
    append_member(text, "description", description);
    if (cost) {
        text += "\"estimated_cost\":";
        json::append_number(text, *cost);
        text += ',';
    }
    append_member(text, "expected_outcome", outcome);
    if (reversible) text += *reversible ? "\"reversible\":true," : "\"reversible\":false,";
    append_member(text, "tool", tool);
    append_member(text, "type", type);
    text.back() = '}';
    return Subject{{std::move(text)}, tool, action_headline(tool, named)};
}

Result<object> check_step(const value& given, std::string path, std::int64_t& order) {
    Fields fields(given, std::move(path));
    object out;
    const std::int64_t said = fields.integer("order", 1, 1'000'000).value_or(order + 1);
    if (said <= order) fields.refuse("order", "must ascend");
    order = said;
    out["order"] = said;
    out["action"] = fields.required_text("action", title_rule);
    put(out, "tool", fields.text("tool", name_rule));
    put(out, "description", fields.text("description", prose_rule));
    out["optional"] = fields.boolean("optional").value_or(false);
    // Approval is what people give, never what an agent claims.
    fields.any("approved");
    if (Result<void> ok = fields.finish(); !ok) return ok.error();
    return out;
}

Result<Subject> check_plan(const value& given, std::string_view path) {
    Fields fields(given, std::string(path));
    object out;
    const std::string title = fields.required_text("title", title_rule);
    out["title"] = title;
    if (const std::optional<double> duration = fields.number("estimated_duration_s", {0, 1e9}))
        out["estimated_duration_s"] = *duration;
    out["modifiable"] = fields.boolean("modifiable").value_or(true);
    const value* steps = fields.required("steps");
    const array* list = steps ? steps->if_array() : nullptr;
    if (steps && (!list || list->empty() || list->size() > steps_max))
        fields.refuse("steps", fmt::format("must be an array of 1 to {} steps", steps_max));
    if (Result<void> ok = fields.finish(); !ok) return ok.error();

    array checked;
    std::int64_t order = 0;
    for (std::size_t i = 0; i < list->size(); ++i) {
        Result<object> step = check_step((*list)[i], fmt::format("{}.steps[{}]", path, i), order);
        if (!step) return step.error();
        checked.push_back(std::move(*step));
    }
    const std::size_t count = checked.size();
    out["steps"] = std::move(checked);
    return make(std::move(out), "",
                headline(fmt::format("Plan: {} ({} step{})", title, count, count == 1 ? "" : "s")));
}

void check_input_limits(Fields& fields, object& out, const std::string& type) {
    const std::optional<double> min = fields.number("min", {-number_max, number_max});
    const std::optional<double> max = fields.number("max", {-number_max, number_max});
    if ((min || max) && type != "number")
        fields.refuse(min ? "min" : "max", "only a number has limits");
    if (min && max && *min > *max) fields.refuse("min", "is above max");
    if (min) out["min"] = *min;
    if (max) out["max"] = *max;

    const std::optional<std::int64_t> length = fields.integer("max_length", 1, 64 * 1024);
    if (length && type != "text") fields.refuse("max_length", "only a text has a length");
    if (length) out["max_length"] = *length;

    std::optional<std::vector<std::string>> options =
        fields.texts("options", options_max, {.min = 1, .max = 1000});
    const bool is_choice = type == "choice" || type == "multi_choice";
    if (is_choice && (!options || options->empty())) fields.refuse("options", "is missing");
    if (!is_choice && options) fields.refuse("options", "only a choice has options");
    if (!options) return;
    std::vector<std::string> sorted = *options;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
        fields.refuse("options", "must differ from each other");
    array list;
    for (const std::string& option : *options) list.emplace_back(option);
    out["options"] = std::move(list);
}

Result<Subject> check_input(const value& given, std::string_view path) {
    Fields fields(given, std::string(path));
    object out;
    const std::string question = fields.required_text("question", {.min = 1, .max = 8000});
    out["question"] = question;
    const std::string type =
        fields.word("type", {"text", "number", "choice", "multi_choice", "date", "file"})
            .value_or("text");
    out["type"] = type;
    out["required"] = fields.boolean("required").value_or(true);
    put(out, "placeholder", fields.text("placeholder", title_rule));
    check_input_limits(fields, out, type);
    const value* fallback = fields.any("default");
    if (Result<void> ok = fields.finish(); !ok) return ok.error();
    if (fallback && !fallback->is_null()) {
        Result<JsonText> valid = check_answer({json::canonical(out)}, *fallback);
        if (!valid)
            return Error{valid.error().code, valid.error().message,
                         fmt::format("{}.default", path)};
        out["default"] = *fallback;
    }
    return make(std::move(out), "", headline(fmt::format("Question: {}", question)));
}

Result<Subject> check_confirmation(const value& given, std::string_view path) {
    Fields fields(given, std::string(path));
    object out;
    const std::string message = fields.required_text("message", {.min = 1, .max = 8000});
    out["message"] = message;
    put(out, "details", fields.text("details", prose_rule));
    out["confirm_label"] = fields.text("confirm_label", name_rule).value_or("Confirm");
    out["cancel_label"] = fields.text("cancel_label", name_rule).value_or("Cancel");
    if (Result<void> ok = fields.finish(); !ok) return ok.error();
    return make(std::move(out), "", headline(fmt::format("Confirm: {}", message)));
}

Result<Subject> check_response(const value& given, std::string_view path) {
    Fields fields(given, std::string(path));
    object out;
    const std::string text = fields.required_text("text", {.min = 1});
    out["text"] = text;
    out["format"] = fields.word("format", {"text", "markdown"}).value_or("text");
    if (Result<void> ok = fields.finish(); !ok) return ok.error();
    return make(std::move(out), "", headline(fmt::format("Final answer: {}", text)));
}

Error wrong_answer(std::string message) {
    return {ErrorCode::refused, std::move(message), "answer"};
}

/// Any day of the calendar, also before 1970: people are asked for dates of birth.
bool is_date(std::string_view text) {
    if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
    const auto number = [&](std::size_t at, std::size_t count) {
        int value = 0;
        for (const char c : text.substr(at, count)) {
            if (c < '0' || c > '9') return -1;
            value = value * 10 + (c - '0');
        }
        return value;
    };
    const int year = number(0, 4), month = number(5, 2), day = number(8, 2);
    return year > 0 && month > 0 && day > 0 &&
           std::chrono::year_month_day{std::chrono::year{year},
                                       std::chrono::month{static_cast<unsigned>(month)},
                                       std::chrono::day{static_cast<unsigned>(day)}}
               .ok();
}

bool is_option(const JsonText& input, const value& answer) {
    const boost::json::string* text = answer.if_string();
    if (!text) return false;
    std::string quoted;
    json::append_quoted(quoted, std::string_view(text->data(), text->size()));
    const Result<value> options = json::parse(member_text(input.text, "options"));
    if (!options || !options->is_array()) return false;
    const array& list = options->get_array();
    return std::find(list.begin(), list.end(), answer) != list.end();
}

std::optional<double> limit(const JsonText& input, std::string_view name) {
    const std::string_view text = member_text(input.text, name);
    if (text.empty()) return std::nullopt;
    const Result<value> number = json::parse(text);
    if (!number || !number->is_number()) return std::nullopt;
    return number->to_number<double>();
}

std::optional<Error> check_number(const JsonText& input, const value& answer) {
    if (!answer.is_number()) return wrong_answer("must be a number");
    const double number = answer.to_number<double>();
    if (const std::optional<double> min = limit(input, "min"); min && number < *min)
        return wrong_answer(fmt::format("must be at least {}", member_text(input.text, "min")));
    if (const std::optional<double> max = limit(input, "max"); max && number > *max)
        return wrong_answer(fmt::format("must be at most {}", member_text(input.text, "max")));
    return std::nullopt;
}

std::optional<Error> check_file(const value& answer) {
    Fields fields(answer, "answer");
    fields.required_text("name", name_rule);
    const std::string content =
        fields.required_text("content_base64", {.max = file_bytes_max * 4 / 3 + 4});
    fields.text("media_type", name_rule);
    if (Result<void> ok = fields.finish(); !ok)
        return Error{ErrorCode::refused, ok.error().message, ok.error().field};
    const std::size_t padding = content.size() - std::min(content.find('='), content.size());
    const bool is_base64 =
        content.size() % 4 == 0 && padding <= 2 &&
        std::all_of(content.begin(), content.end() - static_cast<std::ptrdiff_t>(padding),
                    [](char c) {
                        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                               (c >= '0' && c <= '9') || c == '+' || c == '/';
                    }) &&
        content.find_first_not_of('=', content.size() - padding) == std::string::npos;
    if (!is_base64) return Error{ErrorCode::refused, "is not base64", "answer.content_base64"};
    return std::nullopt;
}

std::optional<Error> check_multi_choice(const JsonText& input, const value& answer) {
    const array* list = answer.if_array();
    if (!list) return wrong_answer("must be an array of options");
    for (std::size_t i = 0; i < list->size(); ++i) {
        if (!is_option(input, (*list)[i])) return wrong_answer("must contain only offered options");
        if (std::find(list->begin(), list->begin() + static_cast<std::ptrdiff_t>(i), (*list)[i]) !=
            list->begin() + static_cast<std::ptrdiff_t>(i))
            return wrong_answer("must not contain an option twice");
    }
    if (list->empty() && member_text(input.text, "required") == "true")
        return wrong_answer("must contain at least one option");
    return std::nullopt;
}

std::optional<Error> check_text(const JsonText& input, const value& answer) {
    const boost::json::string* text = answer.if_string();
    if (!text) return wrong_answer("must be a string");
    if (text->empty() && member_text(input.text, "required") == "true")
        return wrong_answer("must not be empty");
    if (const std::optional<double> max = limit(input, "max_length");
        max && static_cast<double>(text->size()) > *max)
        return wrong_answer(
            fmt::format("is longer than {} bytes", member_text(input.text, "max_length")));
    return std::nullopt;
}

std::optional<Error> wrong_for_type(const JsonText& input, const value& answer) {
    const std::string_view type = member_text(input.text, "type");
    if (type == "\"text\"") return check_text(input, answer);
    if (type == "\"number\"") return check_number(input, answer);
    if (type == "\"multi_choice\"") return check_multi_choice(input, answer);
    if (type == "\"file\"") return check_file(answer);
    if (type == "\"choice\"") {
        if (is_option(input, answer)) return std::nullopt;
        return wrong_answer("must be one of the offered options");
    }
    if (answer.is_string() && is_date({answer.get_string().data(), answer.get_string().size()}))
        return std::nullopt;
    return wrong_answer("must be a date like `2026-11-15`");
}

}  // namespace

Result<Subject> check_subject(Kind kind, const value& given, std::string_view path) {
    switch (kind) {
        case Kind::action:
            return check_action(given, path);
        case Kind::plan:
            return check_plan(given, path);
        case Kind::input:
            return check_input(given, path);
        case Kind::confirmation:
            return check_confirmation(given, path);
        case Kind::response:
            return check_response(given, path);
    }
    return Error{ErrorCode::internal, "unknown kind"};
}

std::string_view changeable_part(Kind kind, const JsonText& subject) {
    return kind == Kind::action ? member_text(subject.text, "arguments")
                                : std::string_view(subject.text);
}

Result<Subject> modify_subject(Kind kind, const JsonText& subject, const JsonText& replacement) {
    const Result<value> given = parse_stored(replacement.text);
    if (!given) return given.error();
    switch (kind) {
        case Kind::action: {
            if (!given->is_object())
                return Error{ErrorCode::invalid_argument, "must be an object", "arguments"};
            JsonText changed = with_member(subject, "arguments", replacement.text);
            const Result<value> tool = json::parse(member_text(subject.text, "tool"));
            if (!tool || !tool->is_string()) return Error{ErrorCode::internal, "unreadable action"};
            std::string name(tool->get_string().data(), tool->get_string().size());
            std::string line = action_headline(name, given->get_object());
            return Subject{std::move(changed), std::move(name), std::move(line)};
        }
        case Kind::plan:
            if (member_text(subject.text, "modifiable") == "false")
                return Error{ErrorCode::refused, "this plan may not be changed", "plan"};
            return check_plan(*given, "plan");
        case Kind::response:
            return check_response(*given, "response");
        case Kind::input:
        case Kind::confirmation:
            break;
    }
    return Error{ErrorCode::refused,
                 fmt::format("a request of kind `{}` cannot be modified", to_string(kind)),
                 "decision"};
}

Result<Subject> keep_steps(const JsonText& plan, const std::vector<int>& orders) {
    Result<value> parsed = parse_stored(plan.text);
    if (!parsed) return parsed.error();
    object& out = parsed->as_object();
    const array& steps = out["steps"].as_array();
    array kept;
    for (const value& step : steps) {
        const auto order = step.as_object().at("order").to_number<int>();
        if (std::find(orders.begin(), orders.end(), order) != orders.end())
            kept.push_back(step);
        else if (!step.as_object().at("optional").as_bool())
            return Error{ErrorCode::refused, fmt::format("step {} is not optional", order),
                         "approved_steps"};
    }
    if (kept.size() != orders.size())
        return Error{ErrorCode::refused, "names a step that the plan does not have, or one twice",
                     "approved_steps"};
    if (kept.empty())
        return Error{ErrorCode::refused, "leaves no step; reject the plan instead",
                     "approved_steps"};
    out["steps"] = std::move(kept);
    return check_plan(*parsed, "plan");
}

Result<JsonText> check_answer(const JsonText& input, const value& answer) {
    if (answer.is_null()) {
        if (member_text(input.text, "required") == "true") return wrong_answer("is required");
        return JsonText{"null"};
    }
    if (std::optional<Error> wrong = wrong_for_type(input, answer)) return *wrong;
    return JsonText{json::canonical(answer)};
}

std::string action_headline(std::string_view tool, const object& arguments,
                            const std::vector<std::string>& redacted) {
    std::string line;
    line.reserve(headline_bytes_max);
    append_visible(line, tool);
    line += '(';
    bool is_first = true;
    for (const auto& member : arguments) {
        if (!is_first) line += ", ";
        is_first = false;
        const std::string_view name(member.key().data(), member.key().size());
        append_visible(line, name);
        line += ": ";
        const bool is_hidden = is_secret_name(name) ||
                               std::find(redacted.begin(), redacted.end(), name) != redacted.end();
        if (is_hidden)
            line += hidden;
        else
            append_short(line, member.value());
        if (line.size() > headline_bytes_max) break;
    }
    line += ')';
    return line.size() <= headline_bytes_max ? line : cut_utf8(line, headline_bytes_max);
}

}  // namespace holdpoint::core

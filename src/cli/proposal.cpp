#include "cli/proposal.h"

#include <fmt/format.h>

#include "base/text.h"
#include "cli/duration.h"
#include "cli/terminal.h"

namespace holdpoint::cli {
namespace {

Error bad_proposal(std::string message) {
    return {ErrorCode::invalid_argument, std::move(message)};
}

void put(json::object& object, std::string_view key, const std::string& text) {
    if (!text.empty()) object[key] = text;
}

Result<void> put_seconds(json::object& object, std::string_view key, const std::string& text,
                         std::string_view flag) {
    if (text.empty()) return {};
    Result<std::int64_t> seconds = parse_duration_s(text);
    if (!seconds) return bad_proposal(fmt::format("{}: {}", flag, seconds.error().message));
    if (*seconds < 1) return bad_proposal(fmt::format("{} must be at least a second", flag));
    object[key] = *seconds;
    return {};
}

/// The kind that the given flags speak of.
Result<std::string> find_kind(const ProposalFlags& flags) {
    const std::vector<std::pair<std::string, bool>> spoken_of{
        {"action", !flags.tool.empty() || !flags.args.empty() || !flags.args_file.empty()},
        {"plan", !flags.title.empty() || !flags.steps.empty()},
        {"input", !flags.question.empty() || !flags.type.empty() || !flags.options.empty() ||
                      flags.min || flags.max || !flags.default_value.empty()},
        {"confirmation", !flags.message.empty() || !flags.details.empty() ||
                             !flags.confirm_label.empty() || !flags.cancel_label.empty()},
        {"response", !flags.text.empty()},
    };
    std::string kind = flags.kind;
    for (const auto& [name, is_meant] : spoken_of) {
        if (!is_meant) continue;
        if (!kind.empty() && kind != name)
            return bad_proposal(
                fmt::format("these flags belong to different kinds: {} and {}", kind, name));
        kind = name;
    }
    if (kind.empty())
        return bad_proposal(
            "what is asked? give --tool, --title, --question, --message, --text or --json-file");
    return kind;
}

Result<json::object> build_action(const ProposalFlags& flags) {
    if (flags.tool.empty()) return bad_proposal("an action needs --tool");
    if (!flags.args.empty() && !flags.args_file.empty())
        return bad_proposal("give --args or --args-file, not both");
    json::object action{{"tool", flags.tool}};
    if (!flags.args.empty() || !flags.args_file.empty()) {
        std::string text = flags.args;
        if (!flags.args_file.empty()) {
            Result<std::string> read = read_input(flags.args_file);
            if (!read) return read.error();
            text = std::move(*read);
        }
        Result<json::value> arguments =
            parse_given_json(text, flags.args.empty() ? "--args-file" : "--args");
        if (!arguments) return arguments.error();
        if (!arguments->is_object()) return bad_proposal("the arguments must be a JSON object");
        action["arguments"] = std::move(*arguments);
    }
    put(action, "description", flags.description);
    put(action, "expected_outcome", flags.expected_outcome);
    return action;
}

Result<json::object> build_plan(const ProposalFlags& flags) {
    if (flags.title.empty()) return bad_proposal("a plan needs --title");
    if (flags.steps.empty()) return bad_proposal("a plan needs at least one --step");
    json::array steps;
    for (const ProposalFlags::Step& step : flags.steps) {
        json::object item{{"action", step.action}};
        if (step.is_optional) item["optional"] = true;
        steps.push_back(std::move(item));
    }
    return json::object{{"title", flags.title}, {"steps", std::move(steps)}};
}

Result<json::object> build_input(const ProposalFlags& flags) {
    if (flags.question.empty()) return bad_proposal("an input needs --question");
    json::object input{{"question", flags.question}};
    const std::string type = !flags.type.empty()      ? flags.type
                             : !flags.options.empty() ? "choice"
                             : flags.min || flags.max ? "number"
                                                      : "text";
    input["type"] = type;
    if (flags.is_required && flags.is_optional)
        return bad_proposal("give --required or --optional, not both");
    if (flags.is_required) input["required"] = true;
    if (flags.is_optional) input["required"] = false;
    if (flags.min) input["min"] = *flags.min;
    if (flags.max) input["max"] = *flags.max;
    if (!flags.options.empty())
        input["options"] = json::array(flags.options.begin(), flags.options.end());
    if (!flags.default_value.empty()) {
        if (type == "number" || type == "multi_choice") {
            Result<json::value> value = parse_given_json(flags.default_value, "--default");
            if (!value) return value.error();
            input["default"] = std::move(*value);
        } else {
            input["default"] = flags.default_value;
        }
    }
    return input;
}

Result<json::object> build_subject(const ProposalFlags& flags, const std::string& kind) {
    const bool has_prose = !flags.description.empty() || !flags.expected_outcome.empty();
    if (has_prose && kind != "action")
        return bad_proposal("--description and --expected-outcome belong to actions");
    if (kind == "action") return build_action(flags);
    if (kind == "plan") return build_plan(flags);
    if (kind == "input") return build_input(flags);
    if (kind == "confirmation") {
        if (flags.message.empty()) return bad_proposal("a confirmation needs --message");
        json::object confirmation{{"message", flags.message}};
        put(confirmation, "details", flags.details);
        put(confirmation, "confirm_label", flags.confirm_label);
        put(confirmation, "cancel_label", flags.cancel_label);
        return confirmation;
    }
    if (flags.text.empty()) return bad_proposal("a response needs --text");
    return json::object{{"text", flags.text}};
}

Result<void> add_common(json::object& body, const ProposalFlags& flags) {
    put(body, "session", flags.session);
    put(body, "thread", flags.thread);
    put(body, "task", flags.task);
    put(body, "user", flags.user);
    put(body, "risk", flags.risk);
    put(body, "on_timeout", flags.on_timeout);
    put(body, "escalate_to", flags.escalate_to);
    if (auto done = put_seconds(body, "timeout_s", flags.timeout, "--timeout"); !done)
        return done.error();
    if (auto done = put_seconds(body, "remind_every_s", flags.remind_every, "--remind-every");
        !done)
        return done.error();
    if (auto done = put_seconds(body, "escalate_after_s", flags.escalate_after, "--escalate-after");
        !done)
        return done.error();
    if (!flags.context_file.empty()) {
        Result<std::string> text = read_input(flags.context_file);
        if (!text) return text.error();
        Result<json::value> context = parse_given_json(*text, "--context-file");
        if (!context) return context.error();
        if (!context->is_object()) return bad_proposal("the context must be a JSON object");
        body["context"] = std::move(*context);
    }
    if (flags.groups.empty() && flags.quorum == 0) return {};
    const int quorum = flags.quorum == 0 ? 1 : flags.quorum;
    json::array lines;
    for (const std::string& group : flags.groups)
        lines.push_back(json::object{{"group", group}, {"quorum", quorum}});
    if (flags.groups.empty()) lines.push_back(json::object{{"quorum", quorum}});
    body["requirement"] = json::object{{"lines", std::move(lines)}};
    return {};
}

}  // namespace

Result<json::value> parse_given_json(std::string_view text, std::string_view name) {
    Result<json::value> value = json::parse(text);
    if (value) return value;
    Error error = value.error();
    error.message = fmt::format("{}: {}", name, error.message);
    return error;
}

Result<json::value> build_proposal(const ProposalFlags& flags) {
    if (!flags.json_file.empty()) {
        Result<std::string> text = read_input(flags.json_file);
        if (!text) return text.error();
        Result<json::value> body = parse_given_json(*text, "--json-file");
        if (body && !body->is_object()) return bad_proposal("--json-file must hold a JSON object");
        return body;
    }
    Result<std::string> kind = find_kind(flags);
    if (!kind) return kind.error();
    Result<json::object> subject = build_subject(flags, *kind);
    if (!subject) return subject.error();
    json::object body{{"kind", *kind}};
    body[*kind] = std::move(*subject);
    if (Result<void> done = add_common(body, flags); !done) return done.error();
    return json::value(std::move(body));
}

}  // namespace holdpoint::cli

#include "agent/backend.h"

namespace holdpoint::agent {
namespace {

std::string_view to_string(InputType type) {
    switch (type) {
        case InputType::text:
            return "text";
        case InputType::number:
            return "number";
        case InputType::choice:
            return "choice";
        case InputType::multi_choice:
            return "multi_choice";
        case InputType::date:
            return "date";
        case InputType::file:
            return "file";
    }
    return "text";
}

void put(Json& json, std::string_view name, const std::string& text) {
    if (!text.empty()) json = json.with(name, text);
}

Json body_with(std::string_view kind, const Json& subject, const Asking& asking) {
    Json body = Json::object({{"kind", kind}}).with(kind, subject);
    Json risk;
    if (asking.risk) risk = risk.with("level", core::to_string(*asking.risk));
    if (asking.confidence) risk = risk.with("confidence", *asking.confidence);
    if (!risk.is_null()) body = body.with("risk", risk);
    if (asking.timeout)
        body = body.with("timeout_s", static_cast<double>(asking.timeout->count()) / 1000);
    if (asking.on_timeout) body = body.with("on_timeout", core::to_string(*asking.on_timeout));
    if (const Json context = asking.context.json(); !context.is_null())
        body = body.with("context", context);
    if (!asking.metadata.is_null()) body = body.with("metadata", asking.metadata);
    if (!asking.suggested.is_null()) body = body.with("suggested", asking.suggested);
    return body;
}

}  // namespace

Json body_of(const Action& action) {
    Json subject = Json::object({{"tool", action.tool}, {"arguments", action.arguments}});
    put(subject, "description", action.description);
    put(subject, "expected_outcome", action.expected_outcome);
    if (action.reversible) subject = subject.with("reversible", *action.reversible);
    if (action.estimated_cost) subject = subject.with("estimated_cost", *action.estimated_cost);
    return body_with("action", subject, action.asking);
}

Json body_of(const Plan& plan) {
    std::vector<Json> steps;
    for (const PlanStep& step : plan.steps) {
        Json json = Json::object({{"action", step.action}, {"optional", step.is_optional}});
        put(json, "tool", step.tool);
        put(json, "description", step.description);
        if (step.order > 0) json = json.with("order", step.order);
        steps.push_back(std::move(json));
    }
    Json subject = Json::object(
        {{"title", plan.title}, {"steps", Json::array(steps)}, {"modifiable", plan.is_modifiable}});
    if (plan.estimated_duration)
        subject = subject.with("estimated_duration_s", plan.estimated_duration->count());
    return body_with("plan", subject, plan.asking);
}

Json body_of(const Question& question) {
    Json subject = Json::object({{"question", question.question},
                                 {"type", to_string(question.type)},
                                 {"required", question.is_required}});
    if (!question.options.empty()) subject = subject.with("options", Json::texts(question.options));
    if (question.min) subject = subject.with("min", *question.min);
    if (question.max) subject = subject.with("max", *question.max);
    if (!question.default_value.is_null())
        subject = subject.with("default", question.default_value);
    return body_with("input", subject, question.asking);
}

Json body_of(const Confirmation& confirmation) {
    Json subject = Json::object({{"message", confirmation.message},
                                 {"confirm_label", confirmation.confirm_label},
                                 {"cancel_label", confirmation.cancel_label}});
    put(subject, "details", confirmation.details);
    return body_with("confirmation", subject, confirmation.asking);
}

Json body_of_response(const std::string& text, const Asking& asking) {
    return body_with("response", Json::object({{"text", text}}), asking);
}

Json body_of(const Decision& decision, Kind kind) {
    Json body = Json::object({{"decision", core::to_string(decision.kind)}});
    put(body, "note", decision.note);
    put(body, "reason", decision.reason);
    put(body, "guidance", decision.guidance);
    put(body, "to", decision.to);
    put(body, "confirm", decision.confirm);
    if (!decision.replacement.is_null())
        body = body.with(kind == Kind::action ? "arguments" : core::to_string(kind),
                         decision.replacement);
    if (decision.kind == DecisionKind::answer) body = body.with("answer", decision.answer);
    if (decision.approved_steps) {
        std::vector<Json> steps(decision.approved_steps->begin(), decision.approved_steps->end());
        body = body.with("approved_steps", Json::array(steps));
    }
    return body;
}

}  // namespace holdpoint::agent

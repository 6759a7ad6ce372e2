#include "policy/call.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_fields.h"
#include "core/stored_json.h"

namespace holdpoint::policy {
namespace {

using boost::json::value;
using json::Fields;

constexpr double number_max = 1e300;

Event event_of(core::Kind kind) {
    switch (kind) {
        case core::Kind::action:
            return Event::tool_call;
        case core::Kind::plan:
            return Event::plan;
        case core::Kind::input:
            return Event::input;
        case core::Kind::confirmation:
            return Event::confirmation;
        case core::Kind::response:
            return Event::final_response;
    }
    return Event::tool_call;
}

std::optional<double> number_at(const value& object, std::string_view name) {
    const value* found = json::member(object, name);
    if (!found || !found->is_number()) return std::nullopt;
    return found->to_number<double>();
}

bool is_at(const value& object, std::string_view name, bool wanted) {
    const value* found = json::member(object, name);
    return found && found->is_bool() && found->get_bool() == wanted;
}

/// MCP's hints, as an agent passes them on: `metadata.annotations`.
void read_hints(const value& metadata, Claims& claims) {
    const value* hints = json::member(metadata, "annotations");
    if (!hints) return;
    claims.is_destructive = is_at(*hints, "destructiveHint", true);
    claims.is_open_world = is_at(*hints, "openWorldHint", true);
}

/// The lowest of what the agent says in either place.
std::optional<double> confidence_in(const value& risk, const value& metadata) {
    const std::optional<double> a = number_at(risk, "confidence");
    const std::optional<double> b = number_at(metadata, "confidence");
    if (a && b) return std::min(*a, *b);
    return a ? a : b;
}

Result<value> parsed(const core::JsonText& text, const json::storage_ptr& storage) {
    if (text.is_null()) return value(storage);
    return core::parse_stored(text.text, storage);
}

/// `asked` is a proposal or a request.
template <class Asked>
Result<Call> call_of(const Asked& asked, const core::JsonText& risk_detail, const Caller& caller,
                     const json::storage_ptr& storage) {
    Call call(storage);
    Result<value> subject = parsed(asked.subject, storage);
    if (!subject) return subject.error();
    const Result<value> risk = parsed(risk_detail, storage);
    if (!risk) return risk.error();
    const Result<value> metadata = parsed(asked.metadata, storage);
    if (!metadata) return metadata.error();

    call.event = event_of(asked.kind);
    call.tool = asked.tool;
    if (call.event == Event::tool_call) {
        if (value* args = json::member(*subject, "arguments"); args && args->is_object())
            call.args = std::move(args->get_object());
        call.claims.cost = number_at(*subject, "estimated_cost");
        call.claims.is_irreversible = is_at(*subject, "reversible", false);
    } else {
        call.subject = std::move(*subject);
    }
    read_hints(*metadata, call.claims);
    call.confidence = confidence_in(*risk, *metadata);
    call.agent = caller.agent;
    call.agent_role = caller.role;
    call.agent_parent = caller.parent;
    call.agent_depth = caller.depth;
    call.user = asked.user;
    call.user_roles = caller.user_roles;
    call.are_roles_known = caller.are_roles_known;
    call.session = asked.session;
    call.task = asked.task;
    call.task_steps = caller.task_steps;
    call.now = caller.now;
    return call;
}

std::string text_or(Fields& fields, std::string_view name, std::string_view absent) {
    return fields.text(name).value_or(std::string(absent));
}

void read_spent(const value& given, Fields& outer, std::string_view name, Spent& spent,
                std::optional<double>* estimate) {
    Fields fields(given, outer.path_of(name));
    const json::NumberRule rule{0, number_max};
    spent.task = fields.number("task", rule).value_or(0);
    spent.session = fields.number("session", rule).value_or(0);
    spent.day = fields.number("day", rule).value_or(0);
    if (estimate) *estimate = fields.number("estimate", rule);
    if (Result<void> ok = fields.finish(); !ok) outer.fail(ok.error());
}

void read_agent(const value& given, Fields& outer, Call& call) {
    Fields fields(given, outer.path_of("agent"));
    call.agent = text_or(fields, "id", call.agent);
    call.agent_role = text_or(fields, "role", "");
    call.agent_parent = text_or(fields, "parent", "");
    call.agent_depth = static_cast<int>(fields.integer("depth", 0, 1000).value_or(0));
    if (Result<void> ok = fields.finish(); !ok) outer.fail(ok.error());
}

void read_user(const value& given, Fields& outer, Call& call) {
    Fields fields(given, outer.path_of("user"));
    call.user = text_or(fields, "id", "");
    call.user_roles = fields.texts("roles", 100).value_or(std::vector<std::string>{});
    if (Result<void> ok = fields.finish(); !ok) outer.fail(ok.error());
}

void read_task(const value& given, Fields& outer, Call& call) {
    Fields fields(given, outer.path_of("task"));
    call.task = text_or(fields, "id", "");
    call.task_steps = static_cast<int>(fields.integer("steps", 0, 1'000'000).value_or(0));
    if (Result<void> ok = fields.finish(); !ok) outer.fail(ok.error());
}

void read_claims(const value& given, Fields& outer, Claims& claims) {
    Fields fields(given, outer.path_of("claims"));
    if (const auto risk = fields.word("risk", {"low", "medium", "high", "critical"}))
        claims.risk = core::parse_word<RiskLevel>(*risk);
    claims.is_destructive = fields.boolean("destructive").value_or(false);
    claims.is_open_world = fields.boolean("open_world").value_or(false);
    claims.is_irreversible = !fields.boolean("reversible").value_or(true);
    if (Result<void> ok = fields.finish(); !ok) outer.fail(ok.error());
}

void read_context(const value& given, Fields& outer, Situation& out) {
    Fields fields(given, outer.path_of("context"));
    Call& call = out.call;
    if (const value* agent = fields.any("agent")) read_agent(*agent, fields, call);
    if (const value* user = fields.any("user")) read_user(*user, fields, call);
    if (const value* task = fields.any("task")) read_task(*task, fields, call);
    if (const value* claims = fields.any("claims")) read_claims(*claims, fields, call.claims);
    if (const value* cost = fields.any("cost"))
        read_spent(*cost, fields, "cost", out.state.cost, &call.claims.cost);
    if (const value* tokens = fields.any("tokens"))
        read_spent(*tokens, fields, "tokens", out.state.tokens, nullptr);
    call.session = text_or(fields, "session", "");
    call.confidence = fields.number("confidence", {0, 1});
    out.state.is_new_to_agent = fields.boolean("new_to_agent").value_or(false);
    if (Result<void> ok = fields.finish(); !ok) outer.fail(ok.error());
}

void read_counters(const value& given, Fields& outer, Situation& out) {
    if (!given.is_object()) return outer.refuse("counters", "must be an object");
    for (const auto& one : given.get_object()) {
        if (!one.value().is_number()) return outer.refuse("counters", "must hold numbers");
        out.counters.emplace_back(std::string(one.key()), one.value().to_number<double>());
    }
}

/// A grant as a test writes it: always in force, of the agent that its pins name or the caller.
void read_grant(const value& given, Fields& outer, Situation& out) {
    Fields fields(given, "grants");
    Grant grant;
    grant.id = fmt::format("grant-{}", out.state.grants.size() + 1);
    grant.tool = fields.required_text("tool");
    grant.agent = out.call.agent;
    grant.risk_max = RiskLevel::critical;
    grant.expires_at = out.call.now + 60'000;
    if (const value* pins = fields.any("pins"); pins && pins->is_object()) {
        for (const auto& pin : pins->get_object()) {
            if (pin.key() == "agent.id" && pin.value().is_string())
                grant.agent = std::string(pin.value().get_string());
            else
                grant.pins.push_back({std::string(pin.key()), json::canonical(pin.value())});
        }
    }
    if (const value* bounds = fields.any("at_most"); bounds && bounds->is_object()) {
        for (const auto& bound : bounds->get_object()) {
            if (!bound.value().is_number()) return outer.refuse("grants", "bounds are numbers");
            grant.bounds.push_back({std::string(bound.key()), bound.value().to_number<double>()});
        }
    }
    if (const auto argv = fields.texts("argv", 128)) grant.argv = *argv;
    if (const auto uses = fields.integer("uses_left", 0, 1'000'000))
        grant.uses_left = static_cast<int>(*uses);
    if (Result<void> ok = fields.finish(); !ok) return outer.fail(ok.error());
    out.state.grants.push_back(std::move(grant));
}

Event read_event(Fields& fields) {
    const std::optional<std::string> word =
        fields.word("event", {"tool_call", "plan", "final_response", "input", "confirmation"});
    if (!word) return Event::tool_call;
    for (const Event event :
         {Event::plan, Event::final_response, Event::input, Event::confirmation}) {
        if (*word == to_string(event)) return event;
    }
    return Event::tool_call;
}

void read_subject(Fields& fields, Call& call) {
    const value* plan = fields.any("plan");
    const value* response = fields.any("response");
    const value* input = fields.any("input");
    const value* confirmation = fields.any("confirmation");
    const value* mine = nullptr;
    switch (call.event) {
        case Event::plan:
            mine = plan;
            break;
        case Event::final_response:
            mine = response;
            break;
        case Event::input:
            mine = input;
            break;
        case Event::confirmation:
            mine = confirmation;
            break;
        case Event::tool_call:
            break;
    }
    if (mine) call.subject = *mine;
    const int given =
        (plan != nullptr) + (response != nullptr) + (input != nullptr) + (confirmation != nullptr);
    if (given > (mine ? 1 : 0)) fields.refuse("event", "does not fit the object beside it");
}

}  // namespace

Result<Call> make_call(const core::Proposal& proposal, const Caller& caller,
                       const json::storage_ptr& storage) {
    Result<Call> call = call_of(proposal, proposal.risk_detail, caller, storage);
    if (call) call->claims.risk = proposal.risk;
    return call;
}

Result<Call> make_call(const core::Request& request, const Caller& caller,
                       const json::storage_ptr& storage) {
    return call_of(request, {}, caller, storage);
}

Result<Situation> read_situation(const value& document, Timestamp now) {
    Fields fields(document, "");
    Situation out;
    Call& call = out.call;
    call.agent = "a1";
    call.now = now;
    if (const std::optional<std::string> at = fields.text("now")) {
        const Result<Timestamp> time = parse_timestamp(*at);
        if (time)
            call.now = *time;
        else
            fields.refuse("now", "must be a time like 2026-03-02T10:00:00Z");
    }
    call.event = read_event(fields);
    call.tool = text_or(fields, "tool", "");
    if (call.event == Event::tool_call && call.tool.empty()) fields.refuse("tool", "is missing");
    if (const value* args = fields.any("args")) {
        if (args->is_object())
            call.args = args->get_object();
        else if (!args->is_null())
            fields.refuse("args", "must be an object");
    }
    read_subject(fields, call);
    if (const value* context = fields.any("context")) read_context(*context, fields, out);
    if (const value* counters = fields.any("counters"); counters && !counters->is_null())
        read_counters(*counters, fields, out);
    if (const value* grants = fields.any("grants"); grants && grants->is_array()) {
        for (const value& grant : grants->get_array()) read_grant(grant, fields, out);
    }
    if (Result<void> ok = fields.finish(); !ok) return ok.error();
    return out;
}

}  // namespace holdpoint::policy

#include <algorithm>
#include <cmath>

#include "policy/environment.h"
#include "policy/judge.h"

namespace holdpoint::policy {
namespace {

using cel::Value;

constexpr std::int64_t steps_max = 10'000;

const cel::Type& any_list() {
    static const cel::Type type = cel::Type::list(cel::Type::dynamic());
    return type;
}

const cel::Type& any_map() {
    static const cel::Type type = cel::Type::map(cel::Type::string(), cel::Type::dynamic());
    return type;
}

Value text_member(const json::value& subject, std::string_view name) {
    const json::value* found = json::member(subject, name);
    if (!found || !found->is_string()) return {};
    return Value::string({found->get_string().data(), found->get_string().size()});
}

}  // namespace

std::optional<double> finite_number(const Value& value) {
    double number = 0;
    switch (value.kind()) {
        case cel::Kind::real:
            number = value.as_real();
            break;
        case cel::Kind::integer:
            number = static_cast<double>(value.as_integer());
            break;
        case cel::Kind::unsigned_integer:
            number = static_cast<double>(value.as_unsigned());
            break;
        default:
            return std::nullopt;
    }
    return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

void Bindings::bind(const StateView& state) {
    parts_.arena.reset();
    parts_.budget.steps = steps_max;
    parts_.slots.assign(policy_.slot_count, Value());
    parts_.is_var_ready.assign(policy_.vars.size(), 0);
    // Most policies look at a few of these; what nobody reads costs nothing.
    if (reads_any(policy_, Var::event, Var::tool_known)) bind_tool();
    bind_arguments();
    if (reads_any(policy_, Var::agent_id, Var::task_steps)) bind_people();
    if (reads_any(policy_, Var::confidence, Var::confidence) && call_.confidence)
        parts_.slots[static_cast<std::size_t>(Var::confidence)] = Value::real(*call_.confidence);
    if (reads_any(policy_, Var::now, Var::now)) bind_time();
    bind_subject();
    bind_shell();
    bind_counters(state);
    bind_cost(state);
}

void Bindings::bind_tool() {
    const auto set = [&](Var var, Value value) {
        parts_.slots[static_cast<std::size_t>(var)] = value;
    };
    const Tool* tool = entry_.tool;
    set(Var::event, Value::string(to_string(call_.event)));
    set(Var::tool, Value::string(call_.tool));
    set(Var::tool_name, Value::string(call_.tool));
    set(Var::tool_read_only, Value::boolean(tool && tool->read_only.value_or(false)));
    set(Var::tool_destructive,
        Value::boolean((tool && tool->destructive.value_or(false)) || call_.claims.is_destructive));
    set(Var::tool_reversible,
        Value::boolean(tool && tool->reversible.value_or(!tool->destructive.value_or(false)) &&
                       !call_.claims.is_irreversible));
    set(Var::tool_open_world,
        Value::boolean((tool && tool->open_world.value_or(false)) || call_.claims.is_open_world));
    set(Var::tool_risk, Value::string(core::to_string(entry_.base_risk)));
    set(Var::tool_known, Value::boolean(tool != nullptr));
}

void Bindings::bind_arguments() {
    if (reads_any(policy_, Var::args, Var::args))
        parts_.slots[static_cast<std::size_t>(Var::args)] =
            Value::json(call_.args, entry_.args_type, parts_.arena);
    std::size_t slot = policy_.arg_slot;
    for (const cel::Type::Field& field : entry_.args_type.fields()) {
        if (const json::value* found = call_.args.if_contains(field.name))
            parts_.slots[slot] = Value::json(*found, field.type, parts_.arena);
        ++slot;
    }
}

void Bindings::bind_people() {
    const auto set = [&](Var var, Value value) {
        parts_.slots[static_cast<std::size_t>(var)] = value;
    };
    set(Var::agent_id, Value::string(call_.agent));
    set(Var::agent_role, Value::string(call_.agent_role));
    set(Var::agent_parent, Value::string(call_.agent_parent));
    set(Var::agent_depth, Value::integer(call_.agent_depth));
    set(Var::user_id, Value::string(call_.user));
    set(Var::user_roles, user_roles());
    set(Var::session, Value::string(call_.session));
    set(Var::task_id, Value::string(call_.task));
    set(Var::task_steps, Value::integer(call_.task_steps));
}

void Bindings::bind_time() {
    const std::int64_t ms = call_.now.ms;
    const std::int64_t seconds = ms >= 0 ? ms / 1000 : (ms - 999) / 1000;
    parts_.slots[static_cast<std::size_t>(Var::now)] =
        Value::timestamp({seconds, static_cast<std::int32_t>((ms - seconds * 1000) * 1'000'000)});
}

Value Bindings::user_roles() {
    if (!call_.are_roles_known)
        return Value::error(cel::Fault::invalid_argument,
                            "nobody vouches for the person the agent names");
    Value* roles = parts_.arena.make_array<Value>(call_.user_roles.size());
    for (std::size_t i = 0; i < call_.user_roles.size(); ++i)
        new (roles + i) Value(Value::string(call_.user_roles[i]));
    return Value::list({roles, call_.user_roles.size()});
}

void Bindings::bind_subject() {
    const auto set = [&](Var var, Value value) {
        parts_.slots[static_cast<std::size_t>(var)] = value;
    };
    switch (call_.event) {
        case Event::plan:
            set(Var::plan_title, text_member(call_.subject, "title"));
            if (const json::value* steps = json::member(call_.subject, "steps"))
                set(Var::plan_steps, Value::json(*steps, any_list(), parts_.arena));
            break;
        case Event::final_response:
            set(Var::response_text, text_member(call_.subject, "text"));
            break;
        case Event::input:
            set(Var::input, Value::json(call_.subject, any_map(), parts_.arena));
            break;
        case Event::confirmation:
            set(Var::confirmation, Value::json(call_.subject, any_map(), parts_.arena));
            break;
        case Event::tool_call:
            break;
    }
}

void Bindings::bind_shell() {
    const auto set = [&](Var var, Value value) {
        parts_.slots[static_cast<std::size_t>(var)] = value;
    };
    has_line_ = entry_.tool && entry_.tool->shell;
    if (!has_line_) return set(Var::shell_opaque, Value::boolean(false));
    const json::value* text = call_.args.if_contains(entry_.tool->shell->arg);
    // Without a text there is nothing to prove: as opaque as can be.
    if (text && text->is_string())
        parts_.line.read({text->get_string().data(), text->get_string().size()},
                         entry_.tool->shell->dialect);
    else
        parts_.line.read({}, "none");
    set(Var::shell_opaque, Value::boolean(parts_.line.is_opaque()));
    if (!reads_any(policy_, Var::shell_commands, Var::shell_commands) || parts_.line.is_opaque())
        return;
    const std::size_t count = parts_.line.size();
    Value* commands = parts_.arena.make_array<Value>(count);
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t size = parts_.line.word_count(i);
        Value* words = parts_.arena.make_array<Value>(size);
        for (std::size_t j = 0; j < size; ++j)
            new (words + j) Value(Value::string(parts_.line.word(i, j)));
        new (commands + i) Value(Value::list({words, size}));
    }
    set(Var::shell_commands, Value::list({commands, count}));
}

void Bindings::bind_counters(const StateView& state) {
    const std::size_t count = std::min(state.counters.size(), policy_.file.counters.size());
    for (std::size_t i = 0; i < count; ++i) {
        if (!state.counters[i]) continue;
        const double value = *state.counters[i];
        // Rounded up: a part of a count is a count.
        parts_.slots[policy_.counter_slot + i] =
            policy_.file.counters[i].add.is_set()
                ? Value::real(value)
                : Value::integer(static_cast<std::int64_t>(std::ceil(std::min(value, 1e15))));
    }
}

void Bindings::bind_cost(const StateView& state) {
    const auto set = [&](Var var, double value) {
        parts_.slots[static_cast<std::size_t>(var)] = Value::real(value);
    };
    if (policy_.reads_spent) {
        set(Var::cost_task, state.cost.task);
        set(Var::cost_session, state.cost.session);
        set(Var::cost_day, state.cost.day);
        set(Var::tokens_task, state.tokens.task);
        set(Var::tokens_session, state.tokens.session);
        set(Var::tokens_day, state.tokens.day);
    }
    cost_estimate_ = estimate_cost();
    parts_.slots[static_cast<std::size_t>(Var::cost_estimate)] =
        cost_estimate_ ? Value::real(cost_estimate_->highest)
                       : Value::error(cel::Fault::invalid_argument, "the tool's cost has no value");
}

std::optional<CostEstimate> Bindings::estimate_cost() {
    CostEstimate estimate;
    if (entry_.cost) {
        const std::optional<double> operators = finite_number(run(*entry_.cost));
        if (!operators) return std::nullopt;
        estimate.operators = std::max(0.0, *operators);
    }
    estimate.highest = std::max(estimate.operators, call_.claims.cost.value_or(0));
    return estimate;
}

void Bindings::make_ready(const Condition& condition) {
    for (const std::uint16_t var : condition.vars) {
        if (parts_.is_var_ready[var]) continue;
        parts_.is_var_ready[var] = 1;
        parts_.slots[policy_.var_slot + var] =
            cel::evaluate(policy_.vars[var].program, {parts_.slots}, parts_.arena, parts_.budget);
    }
}

cel::Value Bindings::run(const Condition& condition, cel::Trace& trace) {
    make_ready(condition);
    return cel::evaluate(condition.program, {parts_.slots}, parts_.arena, parts_.budget, trace);
}

}  // namespace holdpoint::policy

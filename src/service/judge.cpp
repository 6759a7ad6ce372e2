#include "service/judge.h"

#include <fmt/format.h>
#include <boost/json/monotonic_resource.hpp>

#include <algorithm>

#include "core/requirement.h"
#include "core/settle.h"
#include "core/subject.h"

namespace holdpoint::service {
namespace {

constexpr std::int64_t day_ms = 86'400'000;
/// Tasks and sessions have no window of their own: what they spent counts for as long as anybody
/// could ask.
constexpr std::int64_t life_ms = 400 * day_ms;

// Names that no counter of a file can have.
constexpr const char* cost_name = "$cost.";
constexpr const char* tokens_name = "$tokens.";
constexpr const char* reserved_name = "$reserved";

/// Whether asking is remembered: an agent that only asks has not used the tool.
enum class Trace { leave, none };

/// One of the three budgets of an agent.
struct Budget {
    const char* span;
    std::string key;
    std::int64_t window_ms;
    double policy::Spent::* part;
};

/// Names are the agent's own: what one agent calls a task says nothing about another's. The widest
/// span comes first.
std::vector<Budget> budgets_of(const PrincipalId& agent, const std::string& session,
                               const std::string& task) {
    const std::string owner = agent.text();
    std::vector<Budget> budgets{{"day", owner, day_ms, &policy::Spent::day}};
    if (!session.empty())
        budgets.push_back({"session", owner + ' ' + session, life_ms, &policy::Spent::session});
    if (!task.empty())
        budgets.push_back({"task", owner + ' ' + task, life_ms, &policy::Spent::task});
    return budgets;
}

Result<policy::Spent> load_spent(store::Transaction& tx, const char* name,
                                 const std::vector<Budget>& budgets, Timestamp now) {
    policy::Spent spent;
    for (const Budget& budget : budgets) {
        const Result<policy::SlidingSum> sum = tx.sum(std::string(name) + budget.span, budget.key);
        if (!sum) return sum.error();
        spent.*budget.part = policy::total(*sum, budget.window_ms, now);
    }
    // Who names no session or task has not spent nothing in it: the wider span counts instead.
    const auto is_named = [&](double policy::Spent::* part) {
        return std::ranges::any_of(budgets, [&](const Budget& one) { return one.part == part; });
    };
    if (!is_named(&policy::Spent::session)) spent.session = spent.day;
    if (!is_named(&policy::Spent::task)) spent.task = spent.session;
    return spent;
}

Result<void> grow(store::Transaction& tx, const std::string& name, const std::string& key,
                  std::int64_t window_ms, double amount, Timestamp now) {
    if (amount <= 0) return {};
    Result<policy::SlidingSum> sum = tx.sum(name, key);
    if (!sum) return sum.error();
    policy::add(*sum, window_ms, now, amount);
    return tx.save_sum(name, key, *sum);
}

Result<void> spend(store::Transaction& tx, const char* name, const std::vector<Budget>& budgets,
                   double amount, Timestamp now) {
    for (const Budget& budget : budgets)
        if (Result<void> ok = grow(tx, std::string(name) + budget.span, budget.key,
                                   budget.window_ms, amount, now);
            !ok)
            return ok;
    return {};
}

/// What a release takes from the budgets before anybody knows what it really costs.
struct Reservation {
    policy::CostEstimate estimate;
    Timestamp at;
};

/// Kept in the form of a sum: by name and key, and forgotten by age like the budgets themselves.
Result<void> save_reservation(store::Transaction& tx, const RequestId& id,
                              const Reservation& reservation) {
    policy::SlidingSum sum;
    sum.running = reservation.estimate.highest;
    sum.older = reservation.estimate.operators;
    sum.running_until = reservation.at;
    return tx.save_sum(reserved_name, id.text(), sum);
}

Result<Reservation> load_reservation(store::Transaction& tx, const RequestId& id) {
    const Result<policy::SlidingSum> sum = tx.sum(reserved_name, id.text());
    if (!sum) return sum.error();
    return Reservation{{sum->older, sum->running}, sum->running_until};
}

Result<void> return_cost(store::Transaction& tx, const std::vector<Budget>& budgets, double amount,
                         Timestamp reserved_at, Timestamp now) {
    for (const Budget& budget : budgets) {
        const std::string name = std::string(cost_name) + budget.span;
        Result<policy::SlidingSum> sum = tx.sum(name, budget.key);
        if (!sum) return sum.error();
        policy::take_back(*sum, budget.window_ms, reserved_at, now, amount);
        if (Result<void> ok = tx.save_sum(name, budget.key, *sum); !ok) return ok;
    }
    return {};
}

Result<void> count(store::Transaction& tx, const policy::Needs& needs, const core::Request& request,
                   Timestamp now) {
    for (const policy::CounterNeed& need : needs.counters)
        if (Result<void> ok = grow(tx, need.name, need.key, need.window_ms, need.add, now); !ok)
            return ok;
    if (needs.cost.highest <= 0) return {};
    const std::vector<Budget> budgets = budgets_of(request.agent_id, request.session, request.task);
    if (Result<void> ok = spend(tx, cost_name, budgets, needs.cost.highest, now); !ok) return ok;
    return save_reservation(tx, request.id, {needs.cost, now});
}

/// Puts what it really cost in the place of what was reserved.
Result<void> replace_estimate(store::Transaction& tx, const core::Request& request, double cost,
                              Timestamp now) {
    const std::vector<Budget> budgets = budgets_of(request.agent_id, request.session, request.task);
    const Result<Reservation> reserved = load_reservation(tx, request.id);
    if (!reserved) return reserved.error();
    const double counted = reserved->estimate.highest;
    const double really = std::max(cost, reserved->estimate.operators);
    if (really >= counted) return spend(tx, cost_name, budgets, really - counted, now);
    return return_cost(tx, budgets, counted - really, reserved->at, now);
}

/// Fills in the roles of the person the agent works for, where they are known.
Result<void> add_roles(store::Transaction& tx, const std::string& owner, policy::Caller& caller) {
    if (!caller.are_roles_known || owner.empty()) return {};
    const Result<std::optional<store::Principal>> person = tx.find_principal(owner);
    if (!person) return person.error();
    if (!*person || (*person)->is_disabled) return {};
    caller.user_roles = (*person)->groups;
    caller.user_roles.emplace_back(store::to_string((*person)->role));
    return {};
}

Result<policy::StateView> load_state(store::Transaction& tx, const policy::Policy& policy,
                                     const core::Proposal& proposal, const policy::Needs& needs,
                                     const core::Actor& agent,
                                     std::vector<store::GrantRecord>& grants, Trace trace,
                                     Timestamp now) {
    policy::StateView state;
    state.counters.resize(policy.file.counters.size());
    for (const policy::CounterNeed& need : needs.counters) {
        const Result<policy::SlidingSum> sum = tx.sum(need.name, need.key);
        if (!sum) return sum.error();
        state.counters[need.counter] = policy::total(*sum, need.window_ms, now);
    }
    if (needs.wants_costs) {
        const std::vector<Budget> budgets = budgets_of(agent.id, proposal.session, proposal.task);
        const Result<policy::Spent> cost = load_spent(tx, cost_name, budgets, now);
        if (!cost) return cost.error();
        const Result<policy::Spent> tokens = load_spent(tx, tokens_name, budgets, now);
        if (!tokens) return tokens.error();
        state.cost = *cost;
        state.tokens = *tokens;
    }
    if (needs.wants_grants) {
        store::GrantFilter filter;
        filter.agent = agent.name;
        filter.tool = proposal.tool;
        filter.alive_at = now;
        Result<std::vector<store::GrantRecord>> found = tx.grants(filter);
        if (!found) return found.error();
        grants = std::move(*found);
        for (const store::GrantRecord& record : grants) state.grants.push_back(record.grant);
    }
    if (!needs.trust_key.empty()) {
        Result<std::optional<policy::TrustEntry>> entry = tx.find_trust(needs.trust_key);
        if (!entry) return entry.error();
        state.trust = std::move(*entry);
    }
    if (!proposal.tool.empty() && trace == Trace::leave) {
        const Result<bool> was_used = tx.note_tool(agent.id, proposal.tool);
        if (!was_used) return was_used.error();
        state.is_new_to_agent = !*was_used;
    }
    return state;
}

/// Each thread has one judgement at a time.
policy::Workspace& workspace() {
    static thread_local policy::Workspace one;
    return one;
}

/// For a call that is looked at and let go of: most fit in here, and nothing is freed one by one.
struct CallMemory {
    unsigned char buffer[8192];
    boost::json::monotonic_resource resource{buffer, sizeof buffer};
};

Result<policy::Call> call_of(const core::Request& request, const policy::Caller& caller,
                             CallMemory& memory) {
    return policy::make_call(request, caller, &memory.resource);
}

/// The same call as the agent proposed it, where a person changed it.
Result<policy::Call> proposed_call_of(const core::Request& request, const policy::Caller& caller,
                                      CallMemory& memory) {
    Result<core::Subject> subject =
        core::modify_subject(request.kind, request.subject, request.proposed);
    if (!subject) return subject.error();
    core::Request original = request;
    original.subject = std::move(subject->text);
    return call_of(original, caller, memory);
}

Result<void> remember_trust_of_call(store::Transaction& tx, const policy::Policy& policy,
                                    const policy::Call& call, const core::Request& request,
                                    Timestamp now) {
    const std::string key = policy::trust_key(policy, call);
    if (key.empty()) return {};
    Result<std::optional<policy::TrustEntry>> entry = tx.find_trust(key);
    if (!entry) return entry.error();
    policy::TrustEntry before = entry->value_or(policy::TrustEntry{});
    before.key = key;
    // An agent that withdraws what somebody has said no to does not undo that.
    const bool has_no = core::has_rejection(request) && !request.is_released;
    const policy::TrustOutcome outcome{has_no ? core::Outcome::rejected : *request.outcome,
                                       request.decision ? request.decision->by : "",
                                       now - core::counted_from(request), now,
                                       policy::asked_of(request.requirement)};
    return tx.save_trust(policy::count(std::move(before), policy, outcome));
}

/// Trust is in what the agent proposes. Where a person made something else of it and others said no
/// to that, neither is trusted.
Result<void> remember_trust(store::Transaction& tx, const policy::Policy& policy,
                            const policy::Call& call, const policy::Caller& caller,
                            const core::Request& request, Timestamp now) {
    if (request.proposed.is_null()) return remember_trust_of_call(tx, policy, call, request, now);
    CallMemory memory;
    const Result<policy::Call> proposed = proposed_call_of(request, caller, memory);
    if (!proposed) return proposed.error();
    if (Result<void> ok = remember_trust_of_call(tx, policy, *proposed, request, now); !ok)
        return ok;
    if (request.is_released) return {};
    return remember_trust_of_call(tx, policy, call, request, now);
}

/// Whoever said no to it.
std::string refuser_of(const core::Request& request) {
    if (request.decision) return request.decision->by;
    for (const core::Vote& vote : request.votes)
        if (vote.decision.kind == core::DecisionKind::reject) return vote.decision.by;
    return "time";
}

/// Whether somebody said no to it, for good or until now.
bool is_refused(const core::Request& request) {
    return request.outcome == core::Outcome::rejected ||
           request.outcome == core::Outcome::aborted ||
           (core::has_rejection(request) && !request.is_released);
}

/// A no ends what lets such calls pass. The end of a run, whatever it was asked about and also by
/// time, ends what holds for that session only.
Result<void> end_grants(store::Transaction& tx, const core::Request& request, Timestamp now) {
    const bool is_run_over = core::has_ended_run(request);
    const bool is_no = request.kind == core::Kind::action && is_refused(request);
    if (!is_no && !is_run_over) return {};
    store::GrantFilter filter;
    filter.agent = request.agent;
    if (!is_run_over) filter.tool = request.tool;
    filter.alive_at = now;
    Result<std::vector<store::GrantRecord>> grants = tx.grants(filter);
    if (!grants) return grants.error();
    for (store::GrantRecord& record : *grants) {
        const bool is_of_run =
            !record.grant.session.empty() && record.grant.session == request.session;
        const bool is_refused_tool = is_no && record.grant.tool == request.tool;
        if (!is_refused_tool && !(is_run_over && is_of_run)) continue;
        record.grant.is_revoked = true;
        record.ended_at = now;
        record.ended_by = fmt::format("{} {} {}", refuser_of(request),
                                      is_run_over ? "aborted" : "rejected", request.id.text());
        if (Result<void> ok = tx.save_grant(record); !ok) return ok;
    }
    return {};
}

bool is_same_line(const core::RequirementLine& a, const core::RequirementLine& b) {
    return a.group == b.group && a.people == b.people && a.other_groups == b.other_groups;
}

/// Adds what `asked` demands beyond what stands there.
void demand(core::Requirement& requirement, const core::Requirement& asked) {
    for (const core::RequirementLine& line : asked.lines) {
        const auto same = std::ranges::find_if(
            requirement.lines, [&](const auto& other) { return is_same_line(line, other); });
        const bool is_anybody = line.group.empty() && line.people.empty() && line.quorum == 1;
        if (same != requirement.lines.end())
            same->quorum = std::max(same->quorum, line.quorum);
        else if (!is_anybody || requirement.lines.empty())
            requirement.lines.push_back(line);
    }
    requirement.reason_required = requirement.reason_required || asked.reason_required;
    requirement.exclude_requester = requirement.exclude_requester || asked.exclude_requester;
    requirement.confirm_required = requirement.confirm_required || asked.confirm_required;
}

/// Silence releases only what would also have been released by it had the agent proposed it so.
void demand(core::Timing& timing, const core::Timing& asked) {
    const bool may_release = timing.on_timeout == core::TimeoutAction::approve ||
                             timing.on_timeout == core::TimeoutAction::use_default;
    const bool is_same = asked.on_timeout == timing.on_timeout &&
                         asked.default_decision.text == timing.default_decision.text;
    if (may_release && !is_same) timing.on_timeout = core::TimeoutAction::reject;
    timing.approve_risk_max = std::min(timing.approve_risk_max, asked.approve_risk_max);
}

policy::Caller caller_of(const Proposer& proposer, const core::Proposal& proposal, Timestamp now) {
    policy::Caller caller;
    caller.agent = proposer.agent.name;
    if (!proposer.agent.groups.empty()) caller.role = proposer.agent.groups.front();
    caller.now = now;
    // Whom a proposal names is the agent's word: roles are known only of the person responsible for
    // its key, who also counts where it names nobody. Of anybody else they are not known, which is
    // not the same as none.
    caller.are_roles_known = proposal.user.empty() || proposal.user == proposer.owner;
    return caller;
}

/// Who proposed what is stored, with the groups of today.
Result<Proposer> proposer_of(store::Transaction& tx, const core::Request& request) {
    Proposer proposer;
    proposer.agent.id = request.agent_id;
    proposer.agent.name = request.agent;
    proposer.agent.is_agent = true;
    proposer.owner = request.owner;
    const Result<std::optional<store::Principal>> agent = tx.find_principal(request.agent_id);
    if (!agent) return agent.error();
    if (*agent) proposer.agent.groups = (*agent)->groups;
    return proposer;
}

/// What is counted when it is released goes by the same roles as what is read when it is proposed.
/// A policy that remembers nothing of calls asks for nobody's.
Result<policy::Caller> caller_of_stored(store::Transaction& tx, const policy::Policy& policy,
                                        const core::Request& request, Timestamp now) {
    const bool remembers =
        !policy.file.counters.empty() || policy.counts_costs || policy.file.trust.has_value();
    if (!remembers) {
        policy::Caller caller;
        caller.agent = request.agent;
        caller.now = now;
        return caller;
    }
    const Result<Proposer> proposer = proposer_of(tx, request);
    if (!proposer) return proposer.error();
    policy::Caller caller = caller_of(*proposer, proposal_of(request), now);
    if (Result<void> ok = add_roles(tx, proposer->owner, caller); !ok) return ok.error();
    return caller;
}

Result<Judgement> judge_with(store::Transaction& tx, const policy::Policy& policy,
                             const core::Proposal& proposal, const Proposer& proposer, double draw,
                             Trace trace, Timestamp now) {
    policy::Caller caller = caller_of(proposer, proposal, now);
    if (Result<void> ok = add_roles(tx, proposer.owner, caller); !ok) return ok.error();
    Result<policy::Call> call = policy::make_call(proposal, caller);
    if (!call) return call.error();

    Judgement judgement;
    judgement.call = std::move(*call);
    judgement.needs = policy::needs(policy, judgement.call, workspace());
    std::vector<store::GrantRecord> grants;
    Result<policy::StateView> state =
        load_state(tx, policy, proposal, judgement.needs, proposer.agent, grants, trace, now);
    if (!state) return state.error();
    state->draw = draw;
    const policy::Verdict verdict = policy::evaluate(policy, judgement.call, *state, workspace());
    judgement.verdict = policy::to_core(policy, judgement.call, verdict, proposal);
    if (verdict.grant) {
        judgement.grant = grants[*verdict.grant];
        judgement.verdict.record.because =
            fmt::format("granted by {} ({})", judgement.grant->grant.by, judgement.grant->grant.id);
    }
    return judgement;
}

}  // namespace

core::Proposal proposal_of(const core::Request& request) {
    core::Proposal proposal;
    proposal.kind = request.kind;
    proposal.subject = request.subject;
    proposal.tool = request.tool;
    proposal.headline = request.headline;
    proposal.session = request.session;
    proposal.thread = request.thread;
    proposal.task = request.task;
    proposal.user = request.user;
    proposal.context = request.context;
    proposal.metadata = request.metadata;
    return proposal;
}

Result<void> check_call(const core::Request& request, Timestamp now) {
    if (request.kind != core::Kind::action) return {};
    CallMemory memory;
    policy::Caller caller;
    caller.agent = request.agent;
    caller.now = now;
    if (!call_of(request, caller, memory))
        return Error{ErrorCode::internal, "a stored action cannot be read"};
    return {};
}

Result<Judgement> judge(store::Transaction& tx, const policy::Policy& policy,
                        const core::Proposal& proposal, const Proposer& proposer, double draw,
                        Timestamp now) {
    return judge_with(tx, policy, proposal, proposer, draw, Trace::leave, now);
}

std::optional<core::Verdict> foresee(const policy::Policy& policy, const core::Proposal& proposal,
                                     const Proposer& proposer, double draw, Timestamp now) {
    const policy::Caller caller = caller_of(proposer, proposal, now);
    const bool has_roles = policy.reads_roles && caller.are_roles_known && !proposer.owner.empty();
    // An embedder's own code runs where it always did: inside the transaction, on one thread.
    const bool has_guests =
        !policy.extensions.gates.empty() || !policy.extensions.assessors.empty();
    if (has_roles || has_guests) return std::nullopt;
    CallMemory memory;
    const Result<policy::Call> call = policy::make_call(proposal, caller, &memory.resource);
    if (!call) return std::nullopt;
    const policy::Needs needs = policy::needs(policy, *call, workspace());
    const bool needs_store = !needs.counters.empty() || needs.wants_costs || needs.wants_grants ||
                             !needs.trust_key.empty();
    if (needs_store) return std::nullopt;
    policy::StateView state;
    state.counters.resize(policy.file.counters.size());
    state.draw = draw;
    const policy::Verdict verdict = policy::evaluate(policy, *call, state, workspace());
    return policy::to_core(policy, *call, verdict, proposal);
}

Result<Judgement> preview(store::Transaction& tx, const policy::Policy& policy,
                          const core::Proposal& proposal, const Proposer& proposer, Timestamp now) {
    return judge_with(tx, policy, proposal, proposer, 1, Trace::none, now);
}

Result<void> count_allowed(store::Transaction& tx, Judgement& judgement,
                           const core::Request& request, Timestamp now) {
    if (Result<void> ok = count(tx, judgement.needs, request, now); !ok) return ok;
    if (!judgement.grant) return {};
    policy::consume(judgement.grant->grant, judgement.call);
    ++judgement.grant->uses;
    return tx.save_grant(*judgement.grant);
}

Result<void> remember_settled(store::Transaction& tx, const policy::Policy& policy,
                              const core::Request& request, Timestamp now) {
    if (request.kind != core::Kind::action) return end_grants(tx, request, now);
    const Result<policy::Caller> caller = caller_of_stored(tx, policy, request, now);
    if (!caller) return caller.error();
    CallMemory memory;
    const Result<policy::Call> call = call_of(request, *caller, memory);
    if (!call) return call.error();
    if (request.is_released) {
        const policy::Needs needs = policy::needs(policy, *call, workspace());
        if (Result<void> ok = count(tx, needs, request, now); !ok) return ok;
    }
    if (request.outcome == core::Outcome::cancelled && !is_refused(request)) return {};
    if (Result<void> ok = remember_trust(tx, policy, *call, *caller, request, now); !ok) return ok;
    return end_grants(tx, request, now);
}

Result<void> count_usage(store::Transaction& tx, const core::Request& request, const Usage& usage,
                         Timestamp now) {
    const std::vector<Budget> budgets = budgets_of(request.agent_id, request.session, request.task);
    if (usage.cost)
        if (Result<void> ok = replace_estimate(tx, request, *usage.cost, now); !ok) return ok;
    return spend(tx, tokens_name, budgets, usage.tokens, now);
}

Result<std::string> judge_change(store::Transaction& tx, const policy::Policy& policy,
                                 core::Request& request, const core::JsonText& changed,
                                 Timestamp now) {
    core::Proposal proposal = proposal_of(request);
    proposal.subject = changed;
    const Result<Proposer> proposer = proposer_of(tx, request);
    if (!proposer) return proposer.error();
    // A person looks at it anyway, so nothing is drawn by lot.
    const Result<Judgement> judgement = judge(tx, policy, proposal, *proposer, 0, now);
    if (!judgement) return judgement.error();
    const core::Verdict& verdict = judgement->verdict;
    if (verdict.record.kind == core::VerdictKind::deny)
        return Error{ErrorCode::refused,
                     fmt::format("policy denies it as you changed it: {}", verdict.record.because),
                     "arguments"};
    request.risk = std::max(request.risk, verdict.risk);
    core::confirm_if_critical(request);
    if (verdict.record.kind != core::VerdictKind::hold) return verdict.headline;
    if (verdict.requirement.exclude_requester && request.owner.empty())
        return Error{
            ErrorCode::refused,
            "policy keeps the agent's owner from deciding it as you changed it, and nobody "
            "owns the agent's key",
            "arguments"};
    demand(request.requirement, verdict.requirement);
    demand(request.timing, verdict.timing);
    return verdict.headline;
}

}  // namespace holdpoint::service

#include "core/hold.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "base/json.h"
#include "core/decide.h"
#include "core/settle.h"

namespace holdpoint::core {
namespace {

auto find_of(std::vector<Held>& holds, const PrincipalId& by) {
    return std::find_if(holds.begin(), holds.end(),
                        [&](const Held& held) { return held.person.id == by; });
}

/// Whether both say the same; with which code or signature is no part of it.
bool says_the_same(DecisionCommand one, const DecisionCommand& other) {
    one.confirm = other.confirm;
    one.proof = other.proof;
    return one == other;
}

/// What the decision will say when it takes effect, and when that is: should it be taken back, this
/// is all that is left of it.
JsonText held_detail(const Step& decided, Timestamp until) {
    std::string text = decided.events.front().detail.text;
    text.pop_back();
    return {text + fmt::format(R"(,"until":"{}"}})", to_string(until))};
}

JsonText void_detail(const Held& held, const std::string& because) {
    return {fmt::format(R"({{"because":{},"by":{},"decision":"{}"}})", json::quoted(because),
                        json::quoted(held.person.name), to_string(held.command.kind))};
}

}  // namespace

bool stops(const Held& held) {
    switch (held.command.kind) {
        case DecisionKind::reject:
        case DecisionKind::defer:
        case DecisionKind::abort:
            return true;
        case DecisionKind::approve:
        case DecisionKind::modify:
        case DecisionKind::escalate:
        case DecisionKind::answer:
            return false;
    }
    return false;
}

std::optional<Timestamp> hold_until(const Request& request, std::int64_t hold_ms, Timestamp now) {
    const Timestamp until = std::min(now + hold_ms, request.expires_at + -hold_margin_ms);
    if (until <= now) return std::nullopt;
    return until;
}

Timestamp effective_at(const Request& request, const Held& held) {
    Timestamp at = held.until;
    if (stops(held)) return at;
    for (const Held& other : request.holds)
        if (stops(other)) at = std::max(at, other.until);
    return at;
}

Result<Step> hold(Request request, const DecisionCommand& command, const Actor& person,
                  Timestamp until, Timestamp now) {
    const Result<Step> decided = decide(request, command, person, now);
    if (!decided) return decided.error();
    Held held{command, person, now, until};
    held.command.digest = request.digest;
    const auto mine = find_of(request.holds, person.id);
    if (mine != request.holds.end()) {
        if (says_the_same(mine->command, held.command))
            return Error{ErrorCode::conflict,
                         fmt::format("{} has already decided this", person.name)};
        request.holds.erase(mine);
    }
    request.holds.push_back(std::move(held));
    Step step;
    step.request = std::move(request);
    step.request.version += 1;
    step.request.next_at = next_wake(step.request);
    note(step, EventKind::held, person, now, held_detail(*decided, until));
    return step;
}

Result<Step> undo(Request request, const Actor& person, Timestamp now) {
    if (person.is_agent) return Error{ErrorCode::permission_denied, "an agent cannot decide"};
    if (request.state == State::settled)
        return Error{ErrorCode::conflict, fmt::format("already {}", to_string(*request.outcome))};
    const auto mine = find_of(request.holds, person.id);
    if (mine == request.holds.end())
        return Error{ErrorCode::conflict, "there is no decision of yours to take back"};
    const std::string detail = fmt::format(R"({{"decision":"{}"}})", to_string(mine->command.kind));
    request.holds.erase(mine);
    Step step;
    step.request = std::move(request);
    step.request.version += 1;
    step.request.next_at = next_wake(step.request);
    note(step, EventKind::undone, person, now, {detail});
    return step;
}

const Held* due_hold(const Request& request, Timestamp now) {
    const Held* due = nullptr;
    const bool is_late = now >= request.expires_at;
    for (const Held& held : request.holds) {
        const Timestamp at = effective_at(request, held);
        if (at > now || (is_late && !stops(held))) continue;
        const bool is_first = !due || at < effective_at(request, *due) ||
                              (at == effective_at(request, *due) && stops(held) && !stops(*due));
        if (is_first) due = &held;
    }
    return due;
}

Step release_hold(Request request, const PrincipalId& by, Timestamp now) {
    const auto mine = find_of(request.holds, by);
    HOLDPOINT_ASSERT(mine != request.holds.end());
    const Held& held = *mine;
    Result<Step> step = decide(request, held.command, held.person, now);
    if (step) return std::move(*step);
    return drop_hold(std::move(request), by, step.error().message, now);
}

Step drop_hold(Request request, const PrincipalId& by, const std::string& because, Timestamp now) {
    const auto mine = find_of(request.holds, by);
    HOLDPOINT_ASSERT(mine != request.holds.end());
    const JsonText detail = void_detail(*mine, because);
    request.holds.erase(mine);
    Step step;
    step.request = std::move(request);
    step.request.version += 1;
    step.request.next_at = next_wake(step.request);
    note(step, EventKind::undone, timer_actor(), now, detail);
    return step;
}

void drop_late_holds(Step& step, Timestamp now) {
    for (const Held& held : std::exchange(step.request.holds, {}))
        note(step, EventKind::undone, timer_actor(), now,
             void_detail(held, "the deadline passed before it took effect"));
}

}  // namespace holdpoint::core

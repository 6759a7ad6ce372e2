#include "service/decide.h"

#include <fmt/format.h>

#include "service/expire.h"

namespace holdpoint::service {
namespace {

using RequestPtr = std::shared_ptr<const core::Request>;

/// An escalation must reach somebody who can decide.
Result<void> check_target(store::Transaction& tx, const std::string& target) {
    constexpr std::string_view group_prefix = "group:";
    const Error unknown{ErrorCode::refused, fmt::format("`{}` is nobody who could decide", target),
                        "to"};
    if (target.starts_with(group_prefix)) {
        const Result<bool> is_group = tx.is_group(target.substr(group_prefix.size()));
        if (!is_group) return is_group.error();
        if (!*is_group) return unknown;
        return {};
    }
    const Result<std::optional<store::Principal>> person = tx.find_principal(target);
    if (!person) return person.error();
    const bool can_decide =
        *person && !(*person)->is_disabled &&
        ((*person)->role == store::Role::approver || (*person)->role == store::Role::admin);
    if (!can_decide) return unknown;
    return {};
}

Result<void> abort_siblings(store::Transaction& tx, const core::Request& aborted,
                            const DecideCall& call) {
    if (aborted.session.empty()) return {};
    const Result<std::vector<RequestId>> waiting =
        tx.pending_in_session(aborted.agent_id, aborted.session);
    if (!waiting) return waiting.error();
    for (const RequestId& id : *waiting) {
        const Result<RequestPtr> sibling = tx.load(id);
        if (!sibling) return sibling.error();
        const Result<RequestPtr> stored = tx.apply(
            core::abort_with(**sibling, *aborted.decision, aborted.id, call.person, call.now));
        if (!stored) return stored.error();
    }
    return {};
}

}  // namespace

Result<Decided> decide(store::Transaction& tx, const DecideCall& call) {
    const Result<std::optional<std::vector<RequestId>>> before =
        find_replay(tx, call.person.id, call.idempotency);
    if (!before) return before.error();
    Result<RequestPtr> request = load_now(tx, call.id, call.now);
    if (!request) return request.error();
    if (*before) return Decided{std::move(*request), std::nullopt, true};

    if (call.command.kind == core::DecisionKind::escalate && !call.command.target.empty())
        if (Result<void> ok = check_target(tx, call.command.target); !ok)
            return Decided{std::move(*request), ok.error()};

    Result<core::Step> step = core::decide(**request, call.command, call.person, call.now);
    if (!step) {
        Error error = step.error();
        const bool has_expired = error.code == ErrorCode::conflict && (*request)->timeout_taken;
        if (has_expired) error = {ErrorCode::expired, "the deadline has passed"};
        return Decided{std::move(*request), std::move(error)};
    }
    Result<RequestPtr> stored = tx.apply(std::move(*step));
    if (!stored) return stored.error();
    if ((*stored)->outcome == core::Outcome::aborted)
        if (Result<void> ok = abort_siblings(tx, **stored, call); !ok) return ok.error();
    if (Result<void> ok = remember(tx, call.person.id, call.idempotency, {call.id}, call.now); !ok)
        return ok.error();
    return Decided{std::move(*stored), std::nullopt};
}

}  // namespace holdpoint::service

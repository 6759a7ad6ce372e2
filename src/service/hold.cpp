#include "service/hold.h"

#include "core/hold.h"
#include "service/carry_out.h"
#include "service/expire.h"

namespace holdpoint::service {
namespace {

using core::RequestPtr;

bool is_of_the_store(const Error& error) {
    return error.code == ErrorCode::internal || error.code == ErrorCode::unavailable;
}

}  // namespace

Result<core::Step> step_of(store::Transaction& tx, const policy::Policy& policy,
                           const RequestPtr& request, const core::Held& held, Timestamp now) {
    const Result<std::optional<store::Principal>> person = tx.find_principal(held.person.id);
    if (!person) return person.error();
    if (!*person || !is_decider(**person))
        return core::drop_hold(*request, held.person.id, "who decided may not decide any more",
                               now);
    const Result<RequestPtr> current = with_people_as_they_are(tx, request);
    if (!current) return current.error();
    core::Actor now_known = held.person;
    now_known.groups = (*person)->groups;
    Result<Judged> judged = judged_change(tx, policy, **current, held.command, now_known, now);
    if (judged) {
        core::Step step = core::release_hold(std::move(judged->request), held.person.id, now);
        retitle(step, **current, judged->headline);
        return step;
    }
    if (is_of_the_store(judged.error())) return judged.error();
    return core::drop_hold(*request, held.person.id, judged.error().message, now);
}

Result<RequestPtr> take_effect(store::Transaction& tx, const policy::Policy& policy,
                               const RequestPtr& request, const core::Held& held, Timestamp now) {
    Result<core::Step> step = step_of(tx, policy, request, held, now);
    if (!step) return step.error();
    return carry_out(tx, policy, std::move(*step), held.person, now);
}

Result<Decided> undo(store::Transaction& tx, const policy::Policy& policy, const RequestId& id,
                     const core::Actor& person, Timestamp now) {
    Result<RequestPtr> request = load_now(tx, policy, id, now);
    if (!request) return request.error();
    Result<core::Step> step = core::undo(**request, person, now);
    if (!step) return Decided{std::move(*request), step.error()};
    Result<RequestPtr> stored = tx.apply(std::move(*step));
    if (!stored) return stored.error();
    return Decided{std::move(*stored), std::nullopt};
}

}  // namespace holdpoint::service

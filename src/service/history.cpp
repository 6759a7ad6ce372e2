#include "service/history.h"

#include "core/subject.h"
#include "service/judge.h"

namespace holdpoint::service {

Result<HistoryPage> read_history(store::Transaction& tx, std::optional<Timestamp> since,
                                 std::int64_t before_row, int limit) {
    store::ListQuery query;
    query.filter.since = since;
    query.before_row = before_row;
    query.limit = limit;
    const Result<store::ListPage> page = tx.list(query);
    if (!page) return page.error();
    HistoryPage history;
    history.next_before_row = page->next_before_row;
    for (const std::shared_ptr<const core::Request>& request : page->requests) {
        core::Proposal proposal = proposal_of(*request);
        // What the agent proposed, not what a person made of it.
        if (!request->proposed.is_null() && request->kind == core::Kind::action) {
            const Result<core::Subject> original =
                core::modify_subject(request->kind, request->subject, request->proposed);
            if (!original) continue;
            proposal.subject = original->text;
        } else if (!request->proposed.is_null()) {
            proposal.subject = request->proposed;
        }
        policy::Caller caller;
        caller.agent = request->agent;
        caller.now = request->created_at;
        Result<policy::Call> call = policy::make_call(proposal, caller);
        if (!call) continue;
        policy::PastCall past;
        past.id = request->id.text();
        past.call = std::move(*call);
        past.verdict = request->verdict.kind;
        past.outcome = request->outcome;
        if (request->decision && request->settled_at && !request->timeout_taken)
            past.waited_ms = *request->settled_at - request->created_at;
        if (request->decision) past.by = request->decision->by;
        history.calls.push_back(std::move(past));
    }
    return history;
}

}  // namespace holdpoint::service

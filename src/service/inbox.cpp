#include "service/inbox.h"

#include <fmt/format.h>

#include <algorithm>

#include "service/read.h"

namespace holdpoint::service {
namespace {

using core::RequestPtr;
using Snooze = store::Transaction::Snooze;

Error refused(std::string why) { return {ErrorCode::refused, std::move(why), "until"}; }

}  // namespace

Result<Decided> snooze(store::Transaction& tx, const RequestId& id, std::optional<Timestamp> until,
                       const core::Actor& person, Timestamp now) {
    Result<RequestPtr> request = read(tx, id, person);
    if (!request) return request.error();
    if (until && (*request)->state == core::State::settled)
        return Decided{*request, Error{ErrorCode::conflict,
                                       fmt::format("already {}", to_string(*(*request)->outcome))}};
    if (until && *until <= now) return Decided{*request, refused("must lie ahead")};
    if (until && *until - now > snooze_ms_max)
        return Decided{*request, refused("must lie within thirty days")};
    if (until) {
        const Result<std::vector<Snooze>> before = tx.snoozes_of(person.id, now);
        if (!before) return before.error();
        if (before->size() >= snoozes_max)
            return Decided{*request, refused("too much is put off already")};
    }
    if (Result<void> ok = tx.save_snooze(person.id, id, until); !ok) return ok.error();
    return Decided{std::move(*request), std::nullopt};
}

Result<PersonalPage> personal_list(store::Transaction& tx, const store::ListQuery& query,
                                   const core::Actor& person, Timestamp now) {
    Result<store::ListPage> page = tx.list(query);
    if (!page) return page.error();
    for (RequestPtr& request : page->requests) {
        Result<RequestPtr> shown = as_it_counts(tx, std::move(request));
        if (!shown) return shown.error();
        request = std::move(*shown);
    }
    PersonalPage personal{std::move(*page), {}};
    if (person.is_agent) return personal;
    const Result<std::vector<Snooze>> snoozes = tx.snoozes_of(person.id, now);
    if (!snoozes) return snoozes.error();
    for (const Snooze& snooze : *snoozes) personal.snoozed.emplace(snooze.row, snooze.until);
    return personal;
}

Result<std::optional<Timestamp>> snoozed_until(store::Transaction& tx, const core::Request& request,
                                               const core::Actor& person, Timestamp now) {
    if (person.is_agent) return std::optional<Timestamp>{};
    const Result<std::vector<Snooze>> snoozes = tx.snoozes_of(person.id, now);
    if (!snoozes) return snoozes.error();
    const auto found = std::find_if(snoozes->begin(), snoozes->end(), [&](const Snooze& snooze) {
        return snooze.row == request.row;
    });
    if (found == snoozes->end()) return std::optional<Timestamp>{};
    return std::optional(found->until);
}

}  // namespace holdpoint::service

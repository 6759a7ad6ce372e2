#include "notify/push/push_channel.h"

#include <fmt/format.h>
#include <sodium.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstring>

#include "base/json.h"
#include "base/sha256.h"
#include "core/requirement.h"
#include "notify/push/encrypt.h"
#include "service/identity.h"
#include "service/push/endpoint.h"
#include "service/push/token.h"

namespace holdpoint::notify::push {
namespace {

using webpush::Endpoint;
using webpush::read_endpoint;
using webpush::seal;

constexpr std::int64_t vapid_s = 12 * 3600;
constexpr std::int64_t ttl_s_max = 86'400;

/// What people are told of. That one more vote is needed they see when they look.
bool is_told(core::EventKind about) {
    switch (about) {
        case core::EventKind::requested:
        case core::EventKind::reminded:
        case core::EventKind::escalated:
        case core::EventKind::retried:
        case core::EventKind::settled:
            return true;
        case core::EventKind::voted:
        case core::EventKind::extended:
        case core::EventKind::reported:
        case core::EventKind::held:
        case core::EventKind::undone:
            return false;
    }
    return false;
}

bool may_decide(const store::Principal& person, const core::Request& request) {
    return is_decider(person) && core::has_place(request, person.name, person.groups);
}

std::string quote(std::string_view text) {
    std::string out;
    json::append_quoted(out, text);
    return out;
}

std::string random_bytes(std::size_t size) {
    std::string bytes(size, '\0');
    randombytes_buf(bytes.data(), bytes.size());
    return bytes;
}

}  // namespace

PushChannel::PushChannel(store::Store& store, Clock& clock, Offload offload, Post post,
                         Options options)
    : store_(store),
      clock_(clock),
      offload_(std::move(offload)),
      post_(std::move(post)),
      options_(std::move(options)) {}

const std::string& PushChannel::name() const {
    static const std::string name = "push";
    return name;
}

Result<void> PushChannel::send(core::EventKind /*about*/, const core::Request& /*request*/) {
    return Error{ErrorCode::internal, "a push message needs somebody whom it is for"};
}

Result<std::vector<std::string>> PushChannel::targets(store::Transaction& tx, core::EventKind about,
                                                      const core::Request& request) const {
    std::vector<std::string> targets;
    if (!is_told(about)) return targets;
    const Result<std::vector<store::PushSubscription>> all = tx.push_subscriptions(std::nullopt);
    if (!all) return all.error();
    for (const store::PushSubscription& subscription : *all) {
        const Result<std::optional<store::Principal>> person =
            tx.find_principal(subscription.principal);
        if (!person) return person.error();
        if (*person && may_decide(**person, request))
            targets.emplace_back(as_text(subscription.id.ulid.bytes));
    }
    return targets;
}

void PushChannel::deliver(core::EventKind about, std::shared_ptr<const core::Request> request,
                          const std::string& target, Done done) {
    // What was to be decided and is settled by now is told by the message about its end.
    const bool is_over = request->state == core::State::settled;
    if (is_over && about != core::EventKind::settled) return done({});
    PushSubscriptionId id;
    if (target.size() != id.ulid.bytes.size()) return done({});
    std::memcpy(id.ulid.bytes.data(), target.data(), target.size());
    struct Found {
        std::optional<store::PushSubscription> subscription;
        std::int64_t pending = 0;
    };
    auto work = [id, now = clock_.now()](store::Transaction& tx) -> Result<Found> {
        Result<std::optional<store::PushSubscription>> subscription = tx.find_push(id);
        if (!subscription) return subscription.error();
        if (!*subscription) return Found{};
        const Result<bool> is_signed_in =
            service::is_signed_in(tx, (*subscription)->session, (*subscription)->principal, now);
        if (!is_signed_in) return is_signed_in.error();
        if (!*is_signed_in) return Found{};
        const Result<store::Counters> counters = tx.counters();
        if (!counters) return counters.error();
        return Found{std::move(*subscription), counters->pending};
    };
    store_.run(std::move(work), [this, about, request = std::move(request),
                                 done = std::move(done)](Result<Found> found) mutable {
        if (!found) return done(found.error());
        if (!found->subscription) return done({});
        send_to(about, *request, *found->subscription, found->pending, std::move(done));
    });
}

std::string PushChannel::message(core::EventKind about, const core::Request& request,
                                 const store::PushSubscription& receiver,
                                 std::int64_t badge) const {
    const Shown shown = show(request, options_.is_secret);
    const bool may_have_buttons = shown.is_whole && request.state == core::State::pending &&
                                  request.risk <= core::RiskLevel::medium &&
                                  request.kind != core::Kind::input &&
                                  !request.requirement.confirm_required;
    const std::string token = may_have_buttons
                                  ? quote(seal({receiver.principal, receiver.session, request.id,
                                                request.digest, request.expires_at},
                                               options_.token_key))
                                  : "null";
    const std::string id = request.id.text();
    return fmt::format(
        R"({{"web_push":8030,"notification":{{"title":{},"body":{},"navigate":{},"tag":"{}",)"
        R"("lang":"en","silent":{}}},"app_badge":{},"mutable":true,"holdpoint":{{"id":"{}",)"
        R"("about":"{}","state":"{}","outcome":{},"risk":"{}","digest":"{}","expires_at":"{}",)"
        R"("token":{}}}}})",
        quote(shown.title), quote(shown.body), quote(options_.base_url + "/r/" + id), id,
        request.state == core::State::settled, badge, id, public_name(about),
        to_string(request.state), request.outcome ? quote(to_string(*request.outcome)) : "null",
        to_string(request.risk), request.digest, to_string(request.expires_at), token);
}

void PushChannel::send_to(core::EventKind about, const core::Request& request,
                          const store::PushSubscription& subscription, std::int64_t badge,
                          Done done) {
    const Result<Endpoint> endpoint = read_endpoint(subscription.endpoint, true);
    if (!endpoint) return done(endpoint.error());
    const bool is_pending = request.state == core::State::pending;
    const std::int64_t left_s = is_pending ? (request.expires_at - clock_.now()) / 1000 : ttl_s_max;
    Call call;
    call.url = subscription.endpoint;
    call.headers = {{"TTL", std::to_string(std::clamp<std::int64_t>(left_s, 0, ttl_s_max))},
                    {"Urgency", is_pending ? "high" : "low"},
                    {"Topic", request.id.text().substr(RequestTag::prefix.size())},
                    {"Content-Encoding", "aes128gcm"},
                    {"Content-Type", "application/octet-stream"}};
    const auto status = std::make_shared<Result<int>>(Error{});
    auto work = [this, status, call = std::move(call), audience = endpoint->origin,
                 text = message(about, request, subscription, badge),
                 receiver = Receiver{subscription.public_key, subscription.secret},
                 expires_s = clock_.now().ms / 1000 + vapid_s]() mutable {
        Result<std::string> sealed =
            encrypt(text, receiver, KeyPair::generate(), random_bytes(salt_size));
        if (!sealed) {
            *status = sealed.error();
            return;
        }
        call.body = std::move(*sealed);
        call.headers.emplace_back(
            "Authorization",
            vapid(options_.server, audience,
                  options_.contact.empty() ? options_.base_url : options_.contact, expires_s));
        *status = post_(call);
    };
    offload_(std::move(work), [this, status, subscription, done = std::move(done)]() mutable {
        on_status(subscription, *status, std::move(done));
    });
}

void PushChannel::on_status(const store::PushSubscription& subscription, const Result<int>& status,
                            Done done) {
    if (!status) return done(status.error());
    if (*status == 404 || *status == 410) {
        spdlog::info("push subscription {} is gone", subscription.id.text());
        return store_.run(
            [id = subscription.id](store::Transaction& tx) { return tx.drop_push(id); },
            std::move(done));
    }
    if (*status >= 200 && *status < 300) {
        return store_.run(
            [subscription, now = clock_.now()](store::Transaction& tx) {
                return tx.note_push_sent(subscription, now);
            },
            std::move(done));
    }
    const bool is_for_good = *status >= 400 && *status < 500 && *status != 408 && *status != 429;
    if (is_for_good) {
        spdlog::warn("the push service of {} refused a message with {}", subscription.id.text(),
                     *status);
        return done({});
    }
    done(Error{ErrorCode::unavailable, fmt::format("the push service answered {}", *status)});
}

}  // namespace holdpoint::notify::push

#include <holdpoint/holdpoint.h>
#include <holdpoint/human.h>

#include "agent/client.h"

namespace holdpoint {
namespace {

class Callback : public HumanInterface {
  public:
    explicit Callback(Callbacks callbacks) : callbacks_(std::move(callbacks)) {}

    bool is_available() override {
        return callbacks_.is_available ? callbacks_.is_available()
                                       : static_cast<bool>(callbacks_.approval);
    }
    Result<std::optional<Decision>> request_approval(const Request& request,
                                                     std::stop_token stop) override {
        if (!callbacks_.approval) return std::optional<Decision>{};
        return callbacks_.approval(request, std::move(stop));
    }
    Result<std::optional<Decision>> request_input(const Request& question,
                                                  std::stop_token stop) override {
        if (!callbacks_.input) return std::optional<Decision>{};
        return callbacks_.input(question, std::move(stop));
    }
    void send_notification(const Notification& notification) override {
        if (callbacks_.notification) callbacks_.notification(notification);
    }

  private:
    Callbacks callbacks_;
};

/// The proposal that a local request came from, for another Holdpoint.
Json forwarded(const Request& request) {
    const std::string_view kind = core::to_string(request.kind);
    Json subject = request.subject;
    Json body = Json::object({{"kind", kind}}).with(kind, subject);
    body = body.with("risk", Json::object({{"level", core::to_string(request.risk)}}));
    if (!request.context.is_null()) body = body.with("context", request.context);
    return body.with("metadata", Json::object({{"forwarded_from", request.id}}));
}

/// What the server's people said, as a decision about the local request.
Result<std::optional<Decision>> relayed(const Request& settled, const Request& local) {
    Decision decision;
    if (settled.decision) decision = *settled.decision;
    // Whoever typed a code typed the server's: the local one only keeps a finger from slipping.
    decision.confirm = local.confirm;
    const bool is_same = settled.subject == local.subject;
    switch (*settled.outcome) {
        case Outcome::allowed:
            // Policy there let it pass; here a person is asked for, and none has answered.
            return Error{ErrorCode::unavailable, "the server's policy asks no person about this"};
        case Outcome::approved:
            if (!is_same || !settled.release)
                return Error{ErrorCode::internal, "the server approved something else"};
            decision.kind = DecisionKind::approve;
            return std::optional(std::move(decision));
        case Outcome::modified:
            if (!settled.release) return Error{ErrorCode::internal, "the server released nothing"};
            decision.kind = DecisionKind::modify;
            decision.replacement = settled.release->arguments;
            return std::optional(std::move(decision));
        case Outcome::rejected:
            if (local.is_reason_required && decision.reason.empty())
                decision.reason = "it was rejected on the server, without a reason";
            return std::optional(std::move(decision));
        case Outcome::deferred:
        case Outcome::aborted:
        case Outcome::answered:
            return std::optional(std::move(decision));
        case Outcome::denied:
        case Outcome::skipped:
        case Outcome::expired:
        case Outcome::cancelled:
            decision = {};
            decision.kind = DecisionKind::reject;
            decision.by = "server";
            decision.reason = settled.message_for_agent.empty() ? "nobody approved it on the server"
                                                                : settled.message_for_agent;
            return std::optional(std::move(decision));
    }
    return Error{ErrorCode::internal, "unknown outcome"};
}

class RemotePeople : public HumanInterface {
  public:
    explicit RemotePeople(Holdpoint server) : server_(std::move(server)) {}

    /// Whether the server answers at all; whether people sit there shows when they are asked.
    bool is_available() override { return server_.list("-").has_value(); }
    Result<std::optional<Decision>> request_approval(const Request& request,
                                                     std::stop_token stop) override {
        Wait wait;
        wait.stop = std::move(stop);
        const Run<Request> settled = server_.settle(forwarded(request), wait);
        if (!settled) return Error{ErrorCode::unavailable, settled.error().message};
        return relayed(*settled, request);
    }
    Result<std::optional<Decision>> request_input(const Request& question,
                                                  std::stop_token stop) override {
        return request_approval(question, std::move(stop));
    }
    void send_notification(const Notification&) override {}

  private:
    Holdpoint server_;
};

}  // namespace

std::shared_ptr<HumanInterface> make_callback(Callbacks callbacks) {
    return std::make_shared<Callback>(std::move(callbacks));
}

std::shared_ptr<HumanInterface> make_remote(Holdpoint server) {
    return std::make_shared<RemotePeople>(std::move(server));
}

}  // namespace holdpoint

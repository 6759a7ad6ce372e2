#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "service/test_store.h"

/// Policies with memory, against the real store.
namespace holdpoint::service::test {

class Policies : public StoreTest {
  protected:
    core::Proposal refund(double amount, const std::string& currency = "EUR") {
        return core::test::proposal(
            core::Kind::action,
            fmt::format(R"({{"tool":"refund","arguments":{{"amount":{},"currency":"{}"}}}})",
                        amount, currency));
    }
    RequestPtr propose(core::Proposal proposal, Timestamp now = start) {
        return submitted(std::move(proposal), now);
    }
    Result<Decided> approve_with_grant(const RequestId& id, policy::GrantTerms terms,
                                       Timestamp now = start + 1000) {
        terms.id = "gr_" + id.text();
        terms.by = "ann";
        DecideCall call{id, command(core::DecisionKind::approve), person("ann"), {}, now, terms};
        return decide_call(call);
    }

    /// As a damaged store might hold it.
    void save_unreadable_grant() {
        get([&](store::Transaction& tx) -> Result<bool> {
            store::GrantRecord unreadable;
            unreadable.grant.id = "gr_x";
            unreadable.grant.agent = "bot";
            unreadable.grant.tool = "refund";
            unreadable.grant.uses_left = -1;
            unreadable.grant.expires_at = start + 3'600'000;
            if (Result<void> ok = tx.save_grant(unreadable); !ok) return ok.error();
            return true;
        });
    }

    static constexpr const char* counted = R"(
holdpoint: 1
policy: counted
defaults: {decision: allow, max_auto_risk: high}
tools:
  refund: {risk: low, args: {amount: number, currency: string}}
counters:
  refunded: {on: [refund], key: agent.id, add: args.amount, window: 1h}
rules:
  - id: too-much
    tools: [refund]
    when: counters.refunded + args.amount > 100.0
    then: require
)";
    static constexpr const char* granting = R"(
holdpoint: 1
policy: granting
defaults: {decision: require, max_auto_risk: high}
tools:
  refund: {risk: medium, args: {amount: number, currency: string}}
grants:
  offer: [once, similar]
  max_ttl: 1h
  max_uses: 10
  max_risk: medium
  similar:
    refund: {pin: [args.currency], bound: {args.amount: {at_most: approved}}}
)";
    static constexpr const char* trusting = R"(
holdpoint: 1
policy: trusting
defaults: {decision: require, max_auto_risk: high}
tools:
  refund: {risk: low, args: {amount: number, currency: string}}
trust: {after: 2, tools: [refund], scope: [agent.id, args.amount, args.currency], max_risk: low}
)";
};

}  // namespace holdpoint::service::test

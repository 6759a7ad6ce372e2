#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "policy/compile.h"
#include "policy/run_tests.h"
#include "policy/terms.h"

/// Policies and calls for tests, from the text that people would write.
namespace holdpoint::policy::test {

inline constexpr Timestamp noon{1'772'452'800'000};  // 2026-03-02T12:00:00Z, a Monday

inline Result<std::shared_ptr<const Policy>> try_policy(std::string_view body,
                                                        LoadOptions options = {}) {
    return load("holdpoint: 1\npolicy: test\n" + std::string(body), options);
}

inline std::shared_ptr<const Policy> policy_of(std::string_view body, LoadOptions options = {}) {
    Result<std::shared_ptr<const Policy>> policy = try_policy(body, std::move(options));
    if (!policy) throw std::runtime_error(policy.error().message + "\n" + std::string(body));
    return *policy;
}

/// Why a policy is refused; the test fails if it is not.
inline std::string refusal_of(std::string_view body) {
    const Result<std::shared_ptr<const Policy>> policy = try_policy(body);
    EXPECT_FALSE(policy) << body;
    return policy ? std::string() : policy.error().message;
}

inline Situation situation(const Policy& policy, std::string_view call) {
    Result<json::value> document = json::parse(
        call, {.bytes_max = 4 << 20, .nodes_max = 200'000, .string_bytes_max = 2 << 20});
    if (!document) throw std::runtime_error(document.error().message);
    Result<Situation> read = read_situation(*document, noon);
    if (!read) throw std::runtime_error(read.error().field + " " + read.error().message);
    if (Result<void> ok = settle(*read, policy); !ok) throw std::runtime_error(ok.error().message);
    return std::move(*read);
}

inline Verdict judge(const Policy& policy, std::string_view call) {
    const Situation read = situation(policy, call);
    return evaluate(policy, read.call, read.state);
}

/// `allow`, `hold` or `deny`, then the rule and the gate: `hold refund-large/refund`.
inline std::string said(const Policy& policy, std::string_view call) {
    const Verdict verdict = judge(policy, call);
    return std::string(core::to_string(verdict.kind)) + " " + rule_name(policy, verdict) + "/" +
           gate_name(policy, verdict);
}

inline std::string kind(const Policy& policy, std::string_view call) {
    return std::string(core::to_string(judge(policy, call).kind));
}

inline Terms terms(const Policy& policy, std::string_view call) {
    const Situation read = situation(policy, call);
    return terms_of(policy, read.call, evaluate(policy, read.call, read.state));
}

}  // namespace holdpoint::policy::test

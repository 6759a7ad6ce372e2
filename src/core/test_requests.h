#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "core/decide.h"
#include "core/open.h"
#include "core/subject.h"

/// People, proposals and requests for tests of the domain and of what is built on it.
namespace holdpoint::core::test {

inline constexpr Timestamp start{1'800'000'000'000};
inline constexpr std::int64_t minute = 60'000;

inline constexpr std::array all_kinds{Kind::action, Kind::plan, Kind::input, Kind::confirmation,
                                      Kind::response};
inline constexpr std::array all_decisions{
    DecisionKind::approve,  DecisionKind::reject, DecisionKind::modify, DecisionKind::defer,
    DecisionKind::escalate, DecisionKind::abort,  DecisionKind::answer};

/// The same id for the same name, so that a person stays a person.
inline PrincipalId id_of(std::string_view name) {
    PrincipalId id;
    std::copy_n(name.begin(), std::min<std::size_t>(name.size(), 16), id.ulid.bytes.begin());
    return id;
}

inline Actor person(std::string name, std::vector<std::string> groups = {}) {
    return {id_of(name), std::move(name), false, std::move(groups), "key", "192.0.2.7"};
}

inline Actor agent(std::string name = "bot") {
    return {id_of(name), std::move(name), true, {}, "key", "192.0.2.9"};
}

inline json::value parsed(std::string_view text) {
    Result<json::value> value = json::parse(text);
    if (!value) throw std::runtime_error(value.error().message + " in " + std::string(text));
    return std::move(*value);
}

/// What each kind is about, unless a test says otherwise.
inline std::string_view plain_subject(Kind kind) {
    switch (kind) {
        case Kind::action:
            return R"({"tool":"refund","arguments":{"amount":5,"order":"A-1"}})";
        case Kind::plan:
            return R"({"title":"Move house","steps":[{"action":"pack"},{"action":"rest","optional":true},{"action":"drive"}]})";
        case Kind::input:
            return R"({"question":"How many?","type":"number","min":0,"max":10})";
        case Kind::confirmation:
            return R"({"message":"Publish it?"})";
        case Kind::response:
            return R"({"text":"All done."})";
    }
    return {};
}

inline Proposal proposal(Kind kind = Kind::action, std::string_view subject_json = {}) {
    const std::string_view text = subject_json.empty() ? plain_subject(kind) : subject_json;
    Result<Subject> subject = check_subject(kind, parsed(text), to_string(kind));
    if (!subject) throw std::runtime_error(subject.error().field + " " + subject.error().message);
    Proposal proposal;
    proposal.kind = kind;
    proposal.subject = subject->text;
    proposal.tool = subject->tool;
    proposal.headline = subject->headline;
    return proposal;
}

inline Verdict verdict(VerdictKind kind = VerdictKind::hold) {
    Verdict verdict;
    verdict.record = {kind, "rule-1", "gate-1", "because of the test"};
    return verdict;
}

inline Opening opening(Timestamp now = start) {
    return {RequestId::fresh(now), std::nullopt, agent(), "olga", now};
}

inline Step opened(const Proposal& proposal, const Verdict& verdict) {
    Result<Step> step = open(proposal, verdict, opening());
    if (!step) throw std::runtime_error(step.error().message);
    return std::move(*step);
}

/// A request that waits for one person.
inline Request pending(Kind kind = Kind::action) {
    return opened(proposal(kind), verdict()).request;
}

/// A request that waits for these people.
inline Request pending(std::vector<RequirementLine> lines, Kind kind = Kind::action) {
    Verdict hold = verdict();
    hold.requirement.lines = std::move(lines);
    return opened(proposal(kind), hold).request;
}

inline RequirementLine group(std::string name, int quorum = 1) {
    return {std::move(name), {}, quorum, 0};
}
inline RequirementLine people(std::vector<std::string> names, int quorum = 1) {
    return {"", std::move(names), quorum, 0};
}
inline RequirementLine anybody(int quorum = 1) { return {"", {}, quorum, 0}; }

/// A decision with everything that its kind needs.
inline DecisionCommand command(DecisionKind kind, Kind of = Kind::action) {
    DecisionCommand command;
    command.kind = kind;
    switch (kind) {
        case DecisionKind::reject:
        case DecisionKind::abort:
            command.reason = "too much";
            break;
        case DecisionKind::defer:
            command.guidance = "ask the customer first";
            break;
        case DecisionKind::escalate:
            command.target = "group:bosses";
            break;
        case DecisionKind::modify:
            command.replacement.text = of == Kind::action ? R"({"amount":4,"order":"A-1"})"
                                       : of == Kind::plan
                                           ? R"({"steps":[{"action":"pack"}],"title":"Move house"})"
                                       : of == Kind::response ? R"({"text":"Nearly done."})"
                                                              : R"({"message":"Publish that?"})";
            break;
        case DecisionKind::answer:
            command.answer.text = "7";
            break;
        case DecisionKind::approve:
            break;
    }
    return command;
}

/// The step of a decision that must be accepted.
inline Step decided(const Request& request, const DecisionCommand& command, const Actor& by,
                    Timestamp now = start + 1000) {
    Result<Step> step = decide(request, command, by, now);
    if (!step) throw std::runtime_error("decision refused: " + step.error().message);
    return std::move(*step);
}

inline Step decided(const Request& request, DecisionKind kind, const Actor& by,
                    Timestamp now = start + 1000) {
    DecisionCommand seen = command(kind, request.kind);
    seen.digest = request.digest;
    return decided(request, seen, by, now);
}

/// The code with which a decision is refused; internal when it was accepted.
inline Error refusal(const Request& request, const DecisionCommand& command, const Actor& by,
                     Timestamp now = start + 1000) {
    const Result<Step> step = decide(request, command, by, now);
    if (step) return {ErrorCode::internal, "it was accepted"};
    return step.error();
}

}  // namespace holdpoint::core::test

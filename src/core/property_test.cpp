// Random lives of requests against the promises that must hold for every one of them. A failure
// prints the seed of its sequence; HOLDPOINT_SEED and HOLDPOINT_SEQUENCES play others.

#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <random>
#include <set>

#include "core/digest.h"
#include "core/expire.h"
#include "core/follow_up.h"
#include "core/hold.h"
#include "core/requirement.h"
#include "core/test_requests.h"

namespace holdpoint::core {
namespace {

using namespace test;
using Objection = std::optional<std::string>;

bool approves(const Vote& vote) {
    return vote.decision.kind == DecisionKind::approve ||
           vote.decision.kind == DecisionKind::modify;
}

int places(const Request& request) {
    int count = 0;
    for (const RequirementLine& line : request.requirement.lines) count += line.quorum;
    return count;
}

long rejections(const Request& request) {
    return std::count_if(request.votes.begin(), request.votes.end(), [](const Vote& vote) {
        return vote.decision.kind == DecisionKind::reject;
    });
}

/// Everything of a request that nobody may change after the end, in one comparable text.
std::string fixed_part(const Request& request) {
    std::string text = fmt::format(
        "{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", request.id.text(), to_string(request.state),
        request.outcome ? to_string(*request.outcome) : "-", request.subject.text,
        request.proposed.text, request.digest, request.is_released, request.message_for_agent,
        request.settled_at ? request.settled_at->ms : -1,
        request.timeout_taken ? to_string(*request.timeout_taken) : "-", request.expires_at.ms);
    for (const Vote& vote : request.votes)
        text += fmt::format("|{} {} {}", vote.decision.by, to_string(vote.decision.kind),
                            vote.decision.digest);
    if (request.decision)
        text += fmt::format("|{} {} {}", request.decision->by, to_string(request.decision->kind),
                            request.decision->answer.text);
    return text;
}

Objection check_settled_stays(const Request& before, const Step& step) {
    const Request& after = step.request;
    if (fixed_part(before) != fixed_part(after)) return "a settled request changed";
    if (before.report) {
        if (after.version != before.version) return "a second report was taken";
        if (!step.events.empty()) return "something happened after the report";
        return std::nullopt;
    }
    if (!after.report) return "a settled request changed without a report";
    return std::nullopt;
}

Objection check_votes(const Request& request) {
    std::set<PrincipalId> voters;
    for (const Vote& vote : request.votes) {
        if (!voters.insert(vote.decision.by_id).second) return "one person has two votes";
        if (approves(vote) && vote.decision.digest != request.digest)
            return "an approval of something else counts";
        const std::string& name = vote.decision.by;
        if (request.requirement.exclude_requester &&
            (name == request.owner || name == request.user))
            return "who asked has a vote";
    }
    return std::nullopt;
}

/// The release follows from the outcome, and the outcome from enough people or from policy.
Objection check_release(const Request& opened, const Request& request) {
    if (!request.is_released) {
        const bool should = request.outcome == Outcome::approved ||
                            request.outcome == Outcome::modified ||
                            request.outcome == Outcome::allowed;
        return should ? Objection("released by its outcome, but not marked so") : std::nullopt;
    }
    if (request.state != State::settled) return "released while pending";
    if (request.kind == Kind::input) return "a question was released";
    switch (*request.outcome) {
        case Outcome::allowed:
            if (opened.verdict.kind != VerdictKind::allow) return "allowed against the verdict";
            return std::nullopt;
        case Outcome::expired:
            if (request.timeout_taken != TimeoutAction::approve)
                return "released by a plain expiry";
            if (request.risk > request.timing.approve_risk_max) return "released above the risk";
            if (rejections(request) > 0) return "released by silence over somebody's no";
            if (opened.timing.on_timeout != TimeoutAction::approve &&
                opened.timing.on_timeout != TimeoutAction::use_default)
                return "released by silence that may not release";
            return std::nullopt;
        case Outcome::approved:
        case Outcome::modified:
            break;
        default:
            return "released without an allowing outcome";
    }
    std::set<PrincipalId> people;
    for (const Vote& vote : request.votes)
        if (approves(vote)) people.insert(vote.decision.by_id);
    if (static_cast<int>(people.size()) < places(opened)) return "released by too few people";
    const bool is_changed = !request.proposed.is_null();
    if ((*request.outcome == Outcome::modified) != is_changed) return "approved, yet changed";
    if (!is_changed && request.digest != opened.digest) return "approved something else";
    return std::nullopt;
}

Objection check_end(const Request& before, const Request& after, Timestamp now) {
    if (after.settled_at != now) return "settled at another time than now";
    if (after.message_for_agent.empty()) return "settled without a sentence for the agent";
    const bool is_by_time =
        *after.outcome == Outcome::expired || *after.outcome == Outcome::skipped;
    if (is_by_time != after.timeout_taken.has_value()) return "expiry and its action disagree";
    if (is_by_time && now < before.expires_at) return "expired before the deadline";
    if (is_by_time && after.decision) return "expired by somebody's decision";
    const bool is_stop = *after.outcome == Outcome::rejected ||
                         *after.outcome == Outcome::deferred || *after.outcome == Outcome::aborted;
    const bool was_held = std::any_of(before.holds.begin(), before.holds.end(), [&](const Held& h) {
        return after.decision && h.person.id == after.decision->by_id &&
               h.until < before.expires_at;
    });
    // At the deadline policy may ask others; one of them who has approved before is not asked
    // again.
    const bool has_just_escalated = after.timing.is_escalated && !before.timing.is_escalated;
    if (!is_by_time && before.version > 0 && now >= before.expires_at && !has_just_escalated &&
        !(is_stop && was_held))
        return "decided after the deadline";
    if (*after.outcome == Outcome::rejected &&
        rejections(after) < after.requirement.reject_threshold)
        return "rejected by too few";
    return std::nullopt;
}

/// A held decision has changed nothing yet, is one of each person, and ends with the request.
Objection check_holds(const Request& before, const Request& after) {
    if (after.state == State::settled && !after.holds.empty()) return "held beyond the end";
    std::set<PrincipalId> people;
    for (const Held& held : after.holds) {
        if (!people.insert(held.person.id).second) return "one person holds two decisions";
        if (held.person.is_agent) return "an agent holds a decision";
        if (held.until >= after.expires_at) return "held up to the deadline";
    }
    if (after.holds.size() > before.holds.size() &&
        (after.votes.size() != before.votes.size() || after.digest != before.digest ||
         after.state != before.state))
        return "a held decision has taken effect";
    return std::nullopt;
}

/// What is wrong with this step, if anything. `before` has let time pass up to `now`; version 0
/// stands for "nothing before".
Objection objection(const Request& opened, const Request& before, const Step& step, Timestamp now) {
    const Request& after = step.request;
    if (before.state == State::settled) return check_settled_stays(before, step);
    if (after.version != before.version + 1) return "the version did not grow by one";
    if (after.outcome.has_value() != (after.state == State::settled)) return "outcome without end";
    if (after.digest != digest_of(after)) return "the digest is not that of the request";
    if (after.id != opened.id || after.agent_id != opened.agent_id || after.tool != opened.tool)
        return "it became another request";
    const bool gave_up_escalating =
        after.timing.is_escalated && !before.timing.is_escalated && step.effects.empty();
    if (step.events.empty() && !gave_up_escalating) return "a change without an event";
    for (const Event& event : step.events)
        if (event.request != after.id || event.at != now) return "an event of something else";
    if (Objection wrong = check_votes(after)) return wrong;
    if (Objection wrong = check_holds(before, after)) return wrong;
    if (Objection wrong = check_release(opened, after)) return wrong;
    if (after.state == State::settled) return check_end(before, after, now);
    if (rejections(after) >= after.requirement.reject_threshold) return "rejected, yet pending";
    if (places(after) < places(opened)) return "fewer people are asked than at the start";
    if (after.expires_at < before.expires_at) return "the deadline came closer";
    if (after.next_at > after.expires_at) return "the timer would sleep past the deadline";
    return std::nullopt;
}

/// One random request and its surroundings.
class Life {
  public:
    explicit Life(std::uint64_t seed) : random_(seed) {}

    /// Plays one sequence; the first objection ends it.
    Objection play() {
        if (Objection wrong = begin()) return wrong;
        for (int i = 0, count = 2 + below(14); i < count; ++i) {
            now_ = now_ + (below(3) == 0 ? below(4000) : below(300));
            if (Objection wrong = let_time_pass()) return wrong;
            if (Objection wrong = command_once()) return wrong;
        }
        return std::nullopt;
    }
    const Request& request() const { return request_; }
    int fired() const { return fired_; }
    int undone() const { return undone_; }

  private:
    int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }
    bool sometimes(int one_in) { return below(one_in) == 0; }

    RequirementLine random_line() {
        static const std::vector<std::string> names{"ann", "ben", "cleo", "dora", "ulla", "olga"};
        const int kind = below(3);
        const int quorum = 1 + (sometimes(2) ? below(3) : 0);
        if (kind == 0) return anybody(quorum);
        if (kind == 1) return group(sometimes(2) ? "a" : "b", quorum);
        std::vector<std::string> some;
        for (const std::string& name : names)
            if (sometimes(2)) some.push_back(name);
        if (some.empty()) some.push_back("ann");
        return people(some, std::min(quorum, static_cast<int>(some.size())));
    }

    Verdict random_verdict() {
        Verdict verdict = test::verdict(sometimes(20)   ? VerdictKind::allow
                                        : sometimes(20) ? VerdictKind::deny
                                                        : VerdictKind::hold);
        verdict.risk = static_cast<RiskLevel>(below(4));
        verdict.requirement.lines = {random_line()};
        for (int more = below(3); more > 0; --more)
            verdict.requirement.lines.push_back(random_line());
        verdict.requirement.reject_threshold = 1 + below(3);
        verdict.requirement.reason_required = sometimes(4);
        verdict.requirement.modifiable = !sometimes(5);
        verdict.requirement.exclude_requester = sometimes(3);
        Timing& timing = verdict.timing;
        timing.timeout_ms = 500 + below(9000);
        timing.on_timeout = static_cast<TimeoutAction>(below(7));
        timing.approve_risk_max = sometimes(4) ? RiskLevel::medium : RiskLevel::low;
        static const char* defaults[]{R"({"decision":"approve"})", R"({"decision":"skip"})",
                                      R"({"decision":"abort"})", R"({"decision":"reject"})", ""};
        timing.default_decision.text = defaults[below(5)];
        timing.remind_every_ms = sometimes(2) ? 0 : 100 + below(2000);
        timing.escalate_after_ms = sometimes(2) ? 0 : 100 + below(4000);
        timing.escalate_to = sometimes(2) ? "group:bosses" : "zoe";
        timing.retries_max = below(3);
        return verdict;
    }

    Objection begin() {
        static const std::map<Kind, Proposal> proposals = [] {
            std::map<Kind, Proposal> made;
            for (const Kind kind : all_kinds) made[kind] = test::proposal(kind);
            return made;
        }();
        Proposal proposal = proposals.at(all_kinds[static_cast<std::size_t>(below(5))]);
        proposal.user = "ulla";
        if (sometimes(4)) proposal.risk = static_cast<RiskLevel>(below(4));
        if (sometimes(4)) {
            proposal.requirement = Requirement{};
            proposal.requirement->lines = {random_line()};
        }
        const Result<Step> step = open(proposal, random_verdict(), opening(now_));
        if (!step) return "a proposal was refused: " + step.error().message;
        opened_ = step->request;
        Request nothing = opened_;
        nothing.version = 0;
        nothing.state = State::pending;
        request_ = step->request;
        return objection(opened_, nothing, *step, now_);
    }

    Objection take(const Step& step) {
        if (Objection wrong = objection(opened_, request_, step, now_)) return wrong;
        request_ = step.request;
        return std::nullopt;
    }

    /// Held decisions whose time has come, each once.
    Objection let_holds_pass() {
        for (int looks = 0; const Held* due = due_hold(request_, now_); ++looks) {
            if (looks == 20) return "held decisions take effect again and again";
            const bool over_a_stop =
                due->command.kind == DecisionKind::approve &&
                std::any_of(request_.holds.begin(), request_.holds.end(), [&](const Held& other) {
                    return other.command.kind == DecisionKind::reject && other.until > now_;
                });
            if (over_a_stop) return "released over an objection";
            ++fired_;
            if (Objection wrong = take(release_hold(request_, due->person.id, now_))) return wrong;
        }
        return std::nullopt;
    }

    Objection let_time_pass() {
        if (Objection wrong = let_holds_pass()) return wrong;
        // A round that ends may leave a reminder due at once; more than that would be a loop.
        for (int looks = 0; const std::optional<Step> step = tick(request_, now_); ++looks) {
            if (looks == 3) return "time passes again and again";
            if (Objection wrong = take(*step)) return wrong;
            if (request_.state == State::pending && request_.expires_at <= now_)
                return "pending past its deadline";
        }
        if (request_.state == State::settled) return std::nullopt;
        if (request_.expires_at <= now_) return "pending past its deadline";
        if (request_.next_at <= now_) return "the timer would never sleep";
        return std::nullopt;
    }

    Actor random_person() {
        switch (below(9)) {
            case 0:
                return person("ann", {"a"});
            case 1:
                return person("ben", {"a"});
            case 2:
                return person("cleo", {"b"});
            case 3:
                return person("dora", {"a", "b"});
            case 4:
                return person("ulla", {"a"});
            case 5:
                return person("olga", {"b"});
            case 6:
                return person("zoe", {"bosses"});
            case 7:
                return person("yan", {"bosses", "a"});
            default:
                return agent();
        }
    }

    DecisionCommand random_decision() {
        // Mostly approvals, or quorums would hardly ever be reached.
        const DecisionKind kind =
            sometimes(2)
                ? (request_.kind == Kind::input ? DecisionKind::answer : DecisionKind::approve)
                : all_decisions[static_cast<std::size_t>(below(7))];
        DecisionCommand decision = command(kind, request_.kind);
        if (kind == DecisionKind::modify && request_.kind == Kind::action)
            decision.replacement.text =
                fmt::format(R"({{"amount":{},"order":"A-1"}})", 4 + below(3));
        if (kind == DecisionKind::approve && request_.kind == Kind::plan && sometimes(3))
            decision.approved_steps =
                sometimes(2) ? std::vector<int>{1, 3} : std::vector<int>{1, 2, 3};
        if (kind == DecisionKind::escalate && sometimes(2)) decision.target = "zoe";
        if (!sometimes(3)) decision.digest = sometimes(8) ? opened_.digest : request_.digest;
        if (!sometimes(8)) decision.confirm = confirmation_code(request_.digest);
        if (sometimes(5)) decision.reason.clear();
        return decision;
    }

    Result<Step> decide_or_hold(const DecisionCommand& decision, const Actor& by) {
        if (sometimes(2)) return decide(request_, decision, by, now_);
        const std::optional<Timestamp> until = hold_until(request_, 1 + below(3000), now_);
        if (!until) return decide(request_, decision, by, now_);
        return hold(request_, decision, by, *until, now_);
    }

    Objection decide_once() {
        const Actor by = random_person();
        const DecisionCommand decision = random_decision();
        const Result<Step> step = decide_or_hold(decision, by);
        if (!step) return std::nullopt;
        if (by.is_agent) return "an agent decided";
        if (core::approves(decision.kind) && decision.digest.empty() &&
            !request_.proposed.is_null())
            return "a change was approved unseen";
        const auto& lines = request_.requirement.lines;
        const bool has_place = std::any_of(lines.begin(), lines.end(), [&](const auto& line) {
            if (line.group.empty() && line.people.empty()) return true;
            return std::count(line.people.begin(), line.people.end(), by.name) > 0 ||
                   std::count(by.groups.begin(), by.groups.end(), line.group) > 0;
        });
        if (!has_place) return by.name + " decided without a place";
        return take(*step);
    }

    Objection command_once() {
        switch (below(12)) {
            case 0:
                if (sometimes(4)) return take_result(cancel(request_, "why not", agent(), now_));
                return std::nullopt;
            case 1:
                return take_result(extend(request_, 1 + below(3000), random_person(), now_));
            case 2:
            case 3: {
                Report report_text;
                report_text.is_success = sometimes(2);
                return take_result(report(request_, report_text, agent(), now_));
            }
            case 5: {
                const Actor by = random_person();
                const Result<Step> step = undo(request_, by, now_);
                if (step && by.is_agent) return "an agent took a decision back";
                if (step) ++undone_;
                return take_result(step);
            }
            case 4:
                if (request_.state == State::settled || !sometimes(6)) return std::nullopt;
                return take(
                    abort_with(request_, abort_decision(), opened_.id, person("ann"), now_));
            default:
                return decide_once();
        }
    }

    static Decision abort_decision() {
        Decision decision;
        decision.kind = DecisionKind::abort;
        decision.by = "ann";
        return decision;
    }

    Objection take_result(const Result<Step>& step) { return step ? take(*step) : std::nullopt; }

    std::mt19937_64 random_;
    Timestamp now_ = start;
    int fired_ = 0;
    int undone_ = 0;
    Request opened_;
    Request request_;
};

std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

TEST(Property, D8_X5_every_random_life_of_a_request_keeps_the_promises) {
    const std::uint64_t first = number_from_environment("HOLDPOINT_SEED", 20'261'115);
    const std::uint64_t count = number_from_environment("HOLDPOINT_SEQUENCES", 25'000);
    std::map<Outcome, int> ends;
    int released_by_silence = 0, fired = 0, undone = 0;
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        Life life(seed);
        const Objection wrong = life.play();
        ASSERT_FALSE(wrong) << *wrong << " (HOLDPOINT_SEED=" << seed << " HOLDPOINT_SEQUENCES=1)";
        if (life.request().outcome) ++ends[*life.request().outcome];
        if (life.request().outcome == Outcome::expired && life.request().is_released)
            ++released_by_silence;
        fired += life.fired();
        undone += life.undone();
    }
    if (count < 25'000) return;
    // The sequences are worth something only if they reach every end.
    for (int outcome = 0; outcome <= static_cast<int>(Outcome::cancelled); ++outcome)
        EXPECT_GT(ends[static_cast<Outcome>(outcome)], 20)
            << to_string(static_cast<Outcome>(outcome));
    EXPECT_GT(released_by_silence, 20);
    EXPECT_GT(fired, 1000);
    EXPECT_GT(undone, 100);
}

/// Runs the checker on a correct step that `breaking` has spoilt.
template <class Break>
Objection spoilt(const Request& opened, const Request& before, Step step, Break breaking) {
    EXPECT_FALSE(objection(opened, before, step, start + 1000))
        << "the step was not correct before";
    breaking(step);
    return objection(opened, before, step, start + 1000);
}

TEST(Property, the_checker_objects_to_broken_steps) {
    const Actor ann = person("ann", {"a"}), ben = person("ben", {"a"});
    const Request opened = pending({group("a", 2)});
    const Request half = decided(opened, DecisionKind::approve, ann).request;
    const Step whole = decided(half, DecisionKind::approve, ben);
    const Step vote = decided(opened, DecisionKind::approve, ann);
    const Step rejected = decided(opened, DecisionKind::reject, ann);

    EXPECT_EQ(spoilt(opened, half, whole, [](Step& s) { s.request.votes.pop_back(); }),
              "released by too few people");
    EXPECT_EQ(spoilt(opened, half, whole,
                     [](Step& s) { s.request.votes[1].decision.by_id = id_of("ann"); }),
              "one person has two votes");
    EXPECT_EQ(spoilt(opened, half, whole,
                     [](Step& s) { s.request.votes[0].decision.digest = "sha256:other"; }),
              "an approval of something else counts");
    EXPECT_EQ(spoilt(opened, half, whole, [](Step& s) { s.request.outcome = Outcome::rejected; }),
              "released without an allowing outcome");
    EXPECT_EQ(spoilt(opened, half, whole, [](Step& s) { s.request.version += 1; }),
              "the version did not grow by one");
    EXPECT_EQ(spoilt(opened, half, whole, [](Step& s) { s.events.clear(); }),
              "a change without an event");
    EXPECT_EQ(spoilt(opened, half, whole, [](Step& s) { s.request.outcome.reset(); }),
              "outcome without end");
    EXPECT_EQ(
        spoilt(opened, half, whole,
               [](Step& s) { s.request.subject.text = R"({"arguments":{},"tool":"refund"})"; }),
        "the digest is not that of the request");
    EXPECT_EQ(spoilt(opened, half, whole, [](Step& s) { s.request.is_released = false; }),
              "released by its outcome, but not marked so");
    EXPECT_EQ(spoilt(opened, half, whole, [](Step& s) { s.request.message_for_agent.clear(); }),
              "settled without a sentence for the agent");
    EXPECT_EQ(spoilt(opened, opened, vote, [](Step& s) { s.request.is_released = true; }),
              "released while pending");
    EXPECT_EQ(
        spoilt(opened, opened, vote, [](Step& s) { s.request.requirement.lines[0].quorum = 1; }),
        "fewer people are asked than at the start");
    EXPECT_EQ(spoilt(opened, opened, vote,
                     [](Step& s) { s.request.votes[0].decision.kind = DecisionKind::reject; }),
              "rejected, yet pending");
    EXPECT_EQ(spoilt(opened, opened, vote,
                     [](Step& s) { s.request.expires_at = s.request.expires_at + -1; }),
              "the deadline came closer");
    EXPECT_EQ(spoilt(opened, opened, rejected, [](Step& s) { s.request.votes.clear(); }),
              "rejected by too few");
    EXPECT_EQ(spoilt(opened, opened, rejected,
                     [](Step& s) { s.request.timeout_taken = TimeoutAction::reject; }),
              "expiry and its action disagree");
}

TEST(Property, the_checker_objects_to_broken_holds) {
    const Request opened = pending();
    const Step held =
        *hold(opened, command(DecisionKind::approve), person("ann"), start + 3000, start + 1000);
    EXPECT_EQ(
        spoilt(opened, opened, held, [](Step& s) { s.request.holds[0].person.is_agent = true; }),
        "an agent holds a decision");
    EXPECT_EQ(spoilt(opened, opened, held,
                     [](Step& s) { s.request.holds.push_back(s.request.holds[0]); }),
              "one person holds two decisions");
    EXPECT_EQ(spoilt(opened, opened, held,
                     [](Step& s) { s.request.holds[0].until = s.request.expires_at; }),
              "held up to the deadline");
    EXPECT_EQ(spoilt(opened, opened, held,
                     [](Step& s) {
                         s.request.votes.push_back({});
                         s.request.votes[0].decision.digest = s.request.digest;
                     }),
              "a held decision has taken effect");
}

TEST(Property, the_checker_objects_to_a_decision_after_the_deadline) {
    const Request opened = pending();
    const Step late = decided(opened, DecisionKind::approve, person("ann"), opened.expires_at);
    EXPECT_EQ(objection(opened, opened, late, opened.expires_at), "decided after the deadline");
}

TEST(Property, the_checker_objects_to_expiry_that_releases_too_much) {
    Verdict hold = verdict();
    hold.risk = RiskLevel::low;
    hold.timing.on_timeout = TimeoutAction::approve;
    const Request opened = test::opened(proposal(), hold).request;
    Step step = *tick(opened, opened.expires_at);
    EXPECT_FALSE(objection(opened, opened, step, opened.expires_at));
    step.request.risk = RiskLevel::high;
    EXPECT_EQ(objection(opened, opened, step, opened.expires_at), "released above the risk");
    step.request.risk = RiskLevel::low;
    step.request.votes.push_back({});
    EXPECT_EQ(objection(opened, opened, step, opened.expires_at),
              "released by silence over somebody's no");
    step.request.votes.clear();
    step.request.timeout_taken = TimeoutAction::reject;
    EXPECT_EQ(objection(opened, opened, step, opened.expires_at), "released by a plain expiry");
}

TEST(Property, the_checker_objects_to_anything_after_the_end_but_one_report) {
    const Request opened = pending();
    const Request settled = decided(opened, DecisionKind::reject, person("ann")).request;
    Report report_text;
    const Step reported = *report(settled, report_text, agent(), start + 1000);
    EXPECT_FALSE(objection(opened, settled, reported, start + 1000));
    Step changed = reported;
    changed.request.outcome = Outcome::approved;
    EXPECT_EQ(objection(opened, settled, changed, start + 1000), "a settled request changed");
    changed = reported;
    changed.request.is_released = true;
    EXPECT_EQ(objection(opened, settled, changed, start + 1000), "a settled request changed");
    Step twice = reported;
    twice.request.version += 1;
    EXPECT_EQ(objection(opened, reported.request, twice, start + 1000),
              "a second report was taken");
}

}  // namespace
}  // namespace holdpoint::core

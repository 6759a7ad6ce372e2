// Random runs of several requests and people, played twice: once with a timer that is always in
// time, once with one that sleeps. Both must end the same. A failure prints its seed;
// HOLDPOINT_SEED and HOLDPOINT_SEQUENCES play others.

#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <random>
#include <set>

#include "service/expire.h"
#include "service/follow_up.h"
#include "service/hold.h"
#include "service/test_store.h"

namespace holdpoint::service {
namespace {

using namespace core::test;
using core::DecisionKind;
using core::Outcome;
using core::State;
using core::TimeoutAction;
using test::RequestPtr;

constexpr std::int64_t beat_ms = 250;
constexpr int beats = 80;
constexpr int beats_all = beats + 32;  // by then everything that was begun is over

/// What is asked. Time ends only what nobody holds an approval of: one that the timer sleeps over
/// until after the deadline is void, and the two would rightly differ.
struct Asked {
    core::Proposal proposal;
    bool is_timed = false;
};

/// What somebody does, and when.
struct Act {
    enum class Kind { decide, undo, cancel, disable, enable, join } kind = Kind::decide;
    int beat = 0;
    std::size_t request = 0;
    std::string person;
    DecisionKind decision = DecisionKind::approve;
    std::int64_t hold_ms = 0;
    std::string group;
};

struct Script {
    std::vector<Asked> asked;
    std::vector<Act> acts;  ///< in the order of time
};

class Author {
  public:
    explicit Author(std::uint64_t seed) : random_(seed) {}

    Script write() {
        Script script;
        for (int i = 0, count = 2 + below(5); i < count; ++i) script.asked.push_back(ask());
        for (int i = 0, count = 4 + below(16); i < count; ++i) {
            Act one = act(script.asked);
            const auto place = std::ranges::upper_bound(script.acts, one.beat, {}, &Act::beat);
            script.acts.insert(place, std::move(one));
        }
        return script;
    }

  private:
    int below(int end) { return std::uniform_int_distribution(0, end - 1)(random_); }
    bool sometimes(int one_of) { return below(one_of) == 0; }

    Asked ask() {
        Asked asked{proposal(), sometimes(2)};
        asked.proposal.session = sometimes(6) ? "other" : "run";
        asked.proposal.requirement = core::Requirement{};
        std::vector<core::RequirementLine>& lines = asked.proposal.requirement->lines;
        if (sometimes(2)) lines = {anybody(1 + below(2))};
        if (sometimes(4)) lines = {group("a"), group("b")};
        if (sometimes(3)) asked.proposal.remind_every_ms = beat_ms * (1 + below(20));
        if (asked.is_timed) {
            constexpr std::array actions{TimeoutAction::reject, TimeoutAction::approve,
                                         TimeoutAction::skip, TimeoutAction::abort};
            asked.proposal.timeout_ms = beat_ms * (8 + below(beats));
            asked.proposal.on_timeout = actions[static_cast<std::size_t>(below(4))];
        } else if (sometimes(3)) {
            asked.proposal.escalate_after_ms = beat_ms * (1 + below(beats));
            asked.proposal.escalate_to = "group:b";
        }
        return asked;
    }

    Act act(const std::vector<Asked>& asked) {
        static const std::array<std::string, 4> people{"ann", "ben", "cleo", "dora"};
        Act act;
        act.beat = below(beats);
        act.request = static_cast<std::size_t>(below(static_cast<int>(asked.size())));
        act.person = people[static_cast<std::size_t>(below(4))];
        switch (below(12)) {
            case 0:
                act.kind = Act::Kind::undo;
                return act;
            case 1:
                act.kind = sometimes(3) ? Act::Kind::cancel : Act::Kind::undo;
                return act;
            case 2:
                act.kind = Act::Kind::disable;
                return act;
            case 3:
                act.kind = Act::Kind::enable;
                return act;
            case 4:
                act.kind = Act::Kind::join;
                act.group = sometimes(2) ? "a" : "b";
                return act;
            default:
                break;
        }
        constexpr std::array kinds{DecisionKind::approve, DecisionKind::approve,
                                   DecisionKind::modify, DecisionKind::reject, DecisionKind::abort};
        act.decision = kinds[static_cast<std::size_t>(below(5))];
        const bool is_stop =
            act.decision == DecisionKind::reject || act.decision == DecisionKind::abort;
        const bool may_hold = is_stop || !asked[act.request].is_timed;
        if (may_hold && !sometimes(4)) act.hold_ms = beat_ms * (1 + below(24));
        return act;
    }

    std::mt19937_64 random_;
};

/// A store in which a script is played.
class World : public test::StoreTest {
  public:
    explicit World(const Script& script) : script_(script) {
        policy_.risk = core::RiskLevel::low;
        policy_.requirement.reject_threshold = 2;
        policy_.timing.timeout_ms = beat_ms;  // what an agent asks for may only be longer
        for (const char* name : {"ann", "ben", "cleo", "dora"})
            people_[name] = {std::string(name) < "cleo" ? "a" : "b", false};
        for (const auto& [name, known] : people_) save(name);
        for (const Asked& asked : script_.asked) {
            core::Proposal one = asked.proposal;
            if (!asked.is_timed) one.timeout_ms = 60 * minute;
            ids_.push_back(submitted(one)->id);
        }
    }
    void TestBody() override {}

    /// Plays the script; `is_late` for a timer that sleeps until the end. What changes people is
    /// not held against what was due before it, so the timer has looked just then.
    void play(bool is_late) {
        std::size_t next = 0;
        for (int beat = 0; beat <= beats_all; ++beat) {
            const Timestamp now = start + beat * beat_ms;
            const bool is_due = next_ <= now;
            if (is_late ? beat == beats_all : is_due) let_time_pass(now);
            for (; next < script_.acts.size() && script_.acts[next].beat == beat; ++next)
                play(script_.acts[next], now);
        }
    }

    /// How everything ended and what became of every act, as one text.
    std::string story() {
        std::string text;
        for (const RequestId& id : ids_) {
            const RequestPtr request = load(id);
            text +=
                fmt::format("{} {} {} by {}, digest {}\n",
                            request->outcome ? to_string(*request->outcome) : "pending",
                            request->timeout_taken ? to_string(*request->timeout_taken) : "-",
                            request->is_released ? "released" : "not released",
                            request->decision ? request->decision->by : "nobody", request->digest);
        }
        for (const std::string& answer : answers_) text += answer + "\n";
        return text;
    }

    /// What must hold where the timer is in time.
    std::string objection() {
        if (!objection_.empty()) return objection_;
        for (const char* session : {"run", "other"}) {
            std::optional<Timestamp> ended;
            for (const RequestId& id : ids_) {
                const RequestPtr request = load(id);
                if (request->session != session || !request->settled_at) continue;
                const bool ends_run = request->outcome == Outcome::aborted ||
                                      request->timeout_taken == TimeoutAction::abort;
                if (ends_run && (!ended || *request->settled_at < *ended))
                    ended = request->settled_at;
            }
            if (!ended) continue;
            ++aborts_;
            for (const RequestId& id : ids_) {
                const RequestPtr request = load(id);
                if (request->session != session) continue;
                if (request->state == State::pending) return "waits in a run that was aborted";
                if (*request->settled_at > *ended) return "ended after its run was aborted";
            }
        }
        return {};
    }
    int aborts() const { return aborts_; }
    int releases() const { return releases_; }

  private:
    struct Known {
        std::string group;
        bool is_disabled = false;
    };

    void save(const std::string& name) {
        get([&](store::Transaction& tx) -> Result<bool> {
            store::Principal principal;
            principal.id = id_of(name);
            principal.name = name;
            principal.role = store::Role::approver;
            principal.groups = {people_[name].group};
            principal.is_disabled = people_[name].is_disabled;
            principal.created_at = start;
            if (Result<void> ok = tx.save_principal(principal); !ok) return ok.error();
            return true;
        });
    }

    void let_time_pass(Timestamp now) {
        for (int rounds = 0; rounds < 100; ++rounds) {
            const Expired expired =
                get([&](store::Transaction& tx) { return expire_due(tx, *in_force(), now, 3); });
            look();
            next_ = expired.next.value_or(now + 60 * minute);
            if (next_ > now) return;
        }
        objection_ = "the timer never sleeps";
    }

    void play(const Act& act, Timestamp now) {
        const RequestId& id = ids_[act.request];
        Known& known = people_[act.person];
        const core::Actor by = person(act.person, {known.group});
        switch (act.kind) {
            case Act::Kind::decide: {
                if (known.is_disabled) return;  // the door does not let them in
                DecideCall call{id, command(act.decision), by, {}, now};
                call.hold_ms = act.hold_ms;
                // What they approve they have looked at; ending it needs no look.
                if (act.decision == DecisionKind::approve || act.decision == DecisionKind::modify)
                    call.command.digest = seen(id, now)->digest;
                note(decide_call(call));
                break;
            }
            case Act::Kind::undo:
                if (known.is_disabled) return;
                note(run(
                    [&](store::Transaction& tx) { return undo(tx, *in_force(), id, by, now); }));
                break;
            case Act::Kind::cancel:
                note(run([&](store::Transaction& tx) {
                    return cancel(tx, *in_force(), id, "", agent(), now);
                }));
                break;
            case Act::Kind::disable:
            case Act::Kind::enable:
                let_time_pass(now);
                known.is_disabled = act.kind == Act::Kind::disable;
                save(act.person);
                break;
            case Act::Kind::join:
                let_time_pass(now);
                known.group = act.group;
                save(act.person);
                break;
        }
        next_ = start;
        look();
    }

    RequestPtr seen(const RequestId& id, Timestamp now) {
        return get([&](store::Transaction& tx) { return load_now(tx, *in_force(), id, now); });
    }

    /// Whether it was done. What came too late is a conflict or expired: when it ended is told by
    /// the timer that ended it.
    void note(const Result<Decided>& decided) {
        if (!decided) throw std::runtime_error(decided.error().message);
        answers_.push_back(!decided->refusal ? "done"
                           : decided->refusal->code == ErrorCode::expired
                               ? "conflict"
                               : std::string(to_string(decided->refusal->code)));
    }

    /// Whoever is disabled has released nothing.
    void look() {
        for (const RequestId& id : ids_) {
            if (looked_at_.contains(id.text())) continue;
            const RequestPtr request = load(id);
            if (request->state == State::pending) continue;
            looked_at_.insert(id.text());
            if (!request->is_released) continue;
            ++releases_;
            int approvals = 0, rejections = 0, places = 0;
            for (const core::Vote& vote : request->votes) {
                if (vote.decision.kind == DecisionKind::reject) {
                    ++rejections;
                    continue;
                }
                ++approvals;
                if (people_[vote.decision.by].is_disabled)
                    objection_ = "released by the vote of somebody who is disabled";
            }
            for (const core::RequirementLine& line : request->requirement.lines)
                places += line.quorum;
            if (request->outcome == Outcome::expired && rejections > 0)
                objection_ = "released by silence over somebody's no";
            if (request->outcome != Outcome::expired && approvals < places)
                objection_ = "released by too few";
        }
    }

    const Script& script_;
    std::map<std::string, Known> people_;
    std::vector<RequestId> ids_;
    std::vector<std::string> answers_;
    std::set<std::string> looked_at_;
    std::string objection_;
    Timestamp next_ = start;  ///< when the timer looks again
    int aborts_ = 0;
    int releases_ = 0;
};

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

TEST(Runs, D6_D10_X5_a_timer_that_slept_ends_every_random_run_as_one_that_was_in_time) {
    const std::uint64_t first = from_environment("HOLDPOINT_SEED", 20'261'118);
    const std::uint64_t count = from_environment("HOLDPOINT_SEQUENCES", 100);
    int aborts = 0, releases = 0;
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        SCOPED_TRACE(fmt::format("HOLDPOINT_SEED={} HOLDPOINT_SEQUENCES=1", seed));
        const Script script = Author(seed).write();
        World in_time(script), late(script);
        in_time.play(false);
        late.play(true);
        ASSERT_EQ(in_time.objection(), "");
        ASSERT_EQ(late.story(), in_time.story());
        aborts += in_time.aborts();
        releases += in_time.releases();
    }
    if (count < 100) return;
    EXPECT_GT(aborts, 30) << "they are worth something only if they reach every end";
    EXPECT_GT(releases, 40);
}

}  // namespace
}  // namespace holdpoint::service

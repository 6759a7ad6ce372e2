// What agents and people do with requests, against the real store.

#include <thread>

#include "policy/builder.h"
#include "service/expire.h"
#include "service/follow_up.h"
#include "service/read.h"
#include "service/test_store.h"

namespace holdpoint::service {
namespace {

using core::DecisionKind;
using core::Kind;
using core::Outcome;
using core::State;
using namespace core::test;
using test::RequestPtr;

class Requests : public test::StoreTest {
  protected:
    Idempotency key(std::string text, char body = 'x') {
        return {std::move(text), std::string(32, body)};
    }
};

TEST_F(Requests, S1_what_was_submitted_is_stored_with_its_event) {
    const RequestPtr request = submitted();
    EXPECT_GT(request->row, 0);
    EXPECT_EQ(load(request->id)->digest, request->digest);
    EXPECT_EQ(event_count(request->id), 1u);
    ASSERT_EQ(changes_.size(), 1u);
    EXPECT_EQ(changes_[0].event.event.kind, core::EventKind::requested);
}

/// What policy said, as far as it must not depend on where it was judged.
std::string said(const core::Request& request) {
    return request.headline + '|' + request.verdict.rule + '|' + request.verdict.because + '|' +
           std::string(to_string(request.risk)) + '|' + request.risk_detail.text;
}

TEST_F(Requests, what_is_foreseen_is_stored_as_if_it_were_judged_inside) {
    submitted();  // the tool is no longer new
    const RequestPtr inside = submitted();
    const SubmitCall call = call_with({proposal()});
    Foreseen foreseen = foresee(*in_force(), call);
    ASSERT_TRUE(foreseen.at(0));
    const std::string digest = foreseen[0]->request.digest;
    const Submitted outside =
        get([&](store::Transaction& tx) { return submit(tx, *in_force(), call, &foreseen); });
    EXPECT_FALSE(foreseen[0]) << "it was not used";
    EXPECT_EQ(said(*outside.requests.front()), said(*inside));
    EXPECT_EQ(outside.requests.front()->digest, digest);
    EXPECT_EQ(event_count(call.ids[0]), 1u);
}

TEST_F(Requests, a_use_case_that_runs_again_judges_anew_what_it_had_foreseen) {
    submitted();
    const SubmitCall call = call_with({proposal()});
    Foreseen foreseen = foresee(*in_force(), call);
    const Result<Submitted> failed = run([&](store::Transaction& tx) -> Result<Submitted> {
        if (const auto done = submit(tx, *in_force(), call, &foreseen); !done) return done;
        return Error{ErrorCode::conflict, "rolled back"};
    });
    ASSERT_FALSE(failed);
    const Submitted again =
        get([&](store::Transaction& tx) { return submit(tx, *in_force(), call, &foreseen); });
    EXPECT_EQ(again.requests.front()->id, call.ids[0]);
}

TEST_F(Requests, a_tool_that_is_new_to_the_agent_is_judged_inside) {
    const SubmitCall call = call_with({proposal()});
    Foreseen foreseen = foresee(*in_force(), call);
    ASSERT_TRUE(foreseen.at(0));
    const Submitted first =
        get([&](store::Transaction& tx) { return submit(tx, *in_force(), call, &foreseen); });
    EXPECT_TRUE(foreseen[0]) << "what was foreseen does not know that the tool is new";
    EXPECT_NE(said(*first.requests.front()), said(*submitted()));
}

TEST_F(Requests, only_what_depends_on_nothing_stored_is_foreseen) {
    core::Proposal escalating = proposal();
    escalating.escalate_to = "ann";
    EXPECT_FALSE(foresee(*in_force(), call_with({escalating})).at(0)) << "so are people";
    load_policy(
        "holdpoint: 1\npolicy: p\ndefaults: {decision: allow, max_auto_risk: critical}\n"
        "tools: {refund: {risk: low}}\n");
    EXPECT_FALSE(foresee(*in_force(), call_with({proposal(core::Kind::action,
                                                          R"({"tool":"refund","arguments":{}})")}))
                     .at(0))
        << "what passes is counted";
    load_policy(
        "holdpoint: 1\npolicy: p\ndefaults: {decision: require}\n"
        "tools: {refund: {risk: low}}\n"
        "counters: {calls: {on: [refund], key: agent.id, window: 1h}}\n"
        "rules: [{id: many, tools: [refund], when: counters.calls > 3.0, then: deny}]\n");
    EXPECT_FALSE(foresee(*in_force(), call_with({proposal(core::Kind::action,
                                                          R"({"tool":"refund","arguments":{}})")}))
                     .at(0))
        << "counters are stored";
    const auto guests =
        policy::Builder("p").assessor([](const policy::Call&, policy::Assessment&) {}).build();
    ASSERT_TRUE(guests);
    EXPECT_FALSE(foresee(**guests, call_with({proposal()})).at(0)) << "code that is not ours";
}

TEST_F(Requests, the_same_key_and_body_give_the_same_request) {
    SubmitCall call = call_with({proposal()});
    call.idempotency = key("k1");
    const Result<Submitted> first = submit_call(call);
    ASSERT_TRUE(first);
    EXPECT_FALSE(first->is_replay);

    SubmitCall again = call_with({proposal()}, start + 5000);  // other ids, later
    again.idempotency = key("k1");
    const Result<Submitted> second = submit_call(again);
    ASSERT_TRUE(second);
    EXPECT_TRUE(second->is_replay);
    EXPECT_EQ(second->requests.front()->id, first->requests.front()->id);
    EXPECT_EQ(get([&](store::Transaction& tx) { return tx.pending_count(agent().id); }), 1);
}

TEST_F(Requests, the_same_key_with_another_body_is_refused) {
    SubmitCall call = call_with({proposal()});
    call.idempotency = key("k1", 'x');
    ASSERT_TRUE(submit_call(call));
    SubmitCall other = call_with({proposal()});
    other.idempotency = key("k1", 'y');
    const Result<Submitted> refused = submit_call(other);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::refused);
    EXPECT_EQ(refused.error().field, "Idempotency-Key");
}

TEST_F(Requests, keys_of_different_agents_do_not_meet) {
    SubmitCall mine = call_with({proposal()});
    mine.idempotency = key("k1");
    ASSERT_TRUE(submit_call(mine));
    SubmitCall theirs = call_with({proposal()});
    theirs.agent = agent("other-bot");
    theirs.idempotency = key("k1", 'y');
    const Result<Submitted> answer = submit_call(theirs);
    ASSERT_TRUE(answer);
    EXPECT_FALSE(answer->is_replay);
}

TEST_F(Requests, a_replay_after_the_end_shows_the_end) {
    SubmitCall call = call_with({proposal()});
    call.idempotency = key("k1");
    const RequestId id = submit_call(call)->requests.front()->id;
    ASSERT_FALSE(decide_now(id, DecisionKind::approve, person("ann"))->refusal);
    const Result<Submitted> replay = submit_call(call);
    ASSERT_TRUE(replay);
    EXPECT_TRUE(replay->is_replay);
    EXPECT_EQ(replay->requests.front()->outcome, Outcome::approved);
}

TEST_F(Requests, a_refused_submission_leaves_its_key_free) {
    core::Proposal bad = proposal();
    bad.escalate_after_ms = 1000;  // to nobody
    SubmitCall call = call_with({bad});
    call.idempotency = key("k1");
    ASSERT_FALSE(submit_call(call));
    call.proposals = {proposal()};
    const Result<Submitted> answer = submit_call(call);
    ASSERT_TRUE(answer);
    EXPECT_FALSE(answer->is_replay);
}

TEST_F(Requests, a_batch_replays_as_a_batch) {
    SubmitCall call = call_with({proposal(), proposal(Kind::plan)});
    call.batch = BatchId::fresh(start);
    call.idempotency = key("k1");
    ASSERT_TRUE(submit_call(call));
    const Result<Submitted> replay = submit_call(call);
    ASSERT_TRUE(replay);
    EXPECT_EQ(replay->batch, call.batch);
    ASSERT_EQ(replay->requests.size(), 2u);
    EXPECT_EQ(replay->requests[0]->id, call.ids[0]);
    EXPECT_EQ(replay->requests[1]->id, call.ids[1]);
}

TEST_F(Requests, X4_an_agent_has_only_so_many_requests_waiting) {
    SubmitCall call = call_with({proposal(), proposal()});
    call.pending_max = 2;
    ASSERT_TRUE(submit_call(call));
    SubmitCall more = call_with({proposal()});
    more.pending_max = 2;
    Result<Submitted> refused = submit_call(more);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::rate_limited);
    EXPECT_GT(refused.error().retry_after_s, 0);

    SubmitCall others = call_with({proposal()});
    others.pending_max = 2;
    others.agent = agent("other-bot");
    EXPECT_TRUE(submit_call(others)) << "the limit is each agent's own";
    ASSERT_FALSE(decide_now(call.ids[0], DecisionKind::reject, person("ann"))->refusal);
    EXPECT_TRUE(submit_call(more)) << "an answer makes room";
}

TEST_F(Requests, Q9_what_is_wrong_in_a_batch_is_named_by_its_place) {
    const auto field = [](ErrorCode code, const char* inner) {
        return error_in_batch(Error{code, "why", inner}, 3).field;
    };
    EXPECT_EQ(field(ErrorCode::refused, "escalate_to"), "requests[3].escalate_to");
    EXPECT_EQ(field(ErrorCode::refused, ""), "requests[3]");
    EXPECT_EQ(field(ErrorCode::unavailable, ""), "") << "the store's trouble is nobody's field";
    EXPECT_EQ(field(ErrorCode::internal, ""), "");
}

TEST_F(Requests, Q9_a_batch_is_stored_whole_or_not_at_all) {
    core::Proposal bad = proposal();
    bad.on_timeout = core::TimeoutAction::escalate;  // to nobody
    SubmitCall call = call_with({proposal(), bad, proposal()});
    call.batch = BatchId::fresh(start);
    const Result<Submitted> refused = submit_call(call);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().field, "requests[1].escalate_to");
    EXPECT_EQ(get([&](store::Transaction& tx) { return tx.pending_count(agent().id); }), 0);
    EXPECT_TRUE(get([&](store::Transaction& tx) { return tx.batch(*call.batch); }).empty());
}

TEST_F(Requests, T3_an_agent_cannot_escalate_to_somebody_who_does_not_exist) {
    for (const char* target : {"nobody", "group:nobody", "group:"}) {
        core::Proposal proposed = proposal();
        proposed.escalate_after_ms = 60'000;
        proposed.escalate_to = target;
        const Result<Submitted> refused = submit_call(call_with({proposed}));
        ASSERT_FALSE(refused) << target;
        EXPECT_EQ(refused.error().code, ErrorCode::refused) << target;
        EXPECT_EQ(refused.error().field, "escalate_to") << target;
    }
}

TEST_F(Requests, Q9_the_requests_of_a_batch_are_judged_one_by_one) {
    policy_.allow = {"read"};
    SubmitCall call = call_with({proposal(Kind::action, R"({"tool":"read"})"), proposal()});
    call.batch = BatchId::fresh(start);
    const Result<Submitted> answer = submit_call(call);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->requests[0]->outcome, Outcome::allowed);
    EXPECT_EQ(answer->requests[1]->state, State::pending);
}

TEST_F(Requests, D8_the_second_decision_gets_the_first_with_the_request) {
    const RequestId id = submitted()->id;
    const Result<Decided> first = decide_now(id, DecisionKind::approve, person("ann"));
    ASSERT_TRUE(first);
    EXPECT_FALSE(first->refusal);
    const Result<Decided> second = decide_now(id, DecisionKind::reject, person("ben"));
    ASSERT_TRUE(second);
    ASSERT_TRUE(second->refusal);
    EXPECT_EQ(second->refusal->code, ErrorCode::conflict);
    EXPECT_EQ(second->request->outcome, Outcome::approved);
    EXPECT_EQ(second->request->decision->by, "ann");
    EXPECT_EQ(event_count(id), 2u) << "the late one leaves no event";
}

TEST_F(Requests, D8_of_many_who_race_exactly_one_decides) {
    const RequestId id = submitted()->id;
    int answered = 0, won = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&, i] {
            const DecideCall call{id,
                                  command(i % 2 ? DecisionKind::approve : DecisionKind::reject),
                                  person("p" + std::to_string(i)),
                                  {},
                                  start + 1000};
            store_->run([call, policy = in_force()](
                            store::Transaction& tx) { return decide(tx, *policy, call); },
                        [&](Result<Decided> decided) {
                            ++answered;
                            if (decided && !decided->refusal) ++won;
                        });
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_TRUE(pump_until([&] { return answered == 4; }));
    EXPECT_EQ(won, 1);
    EXPECT_EQ(event_count(id), 2u);
}

TEST_F(Requests, D8_an_unknown_id_is_not_found) {
    const Result<Decided> answer =
        decide_now(RequestId::fresh(start), DecisionKind::approve, person("ann"));
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::not_found);
}

TEST_F(Requests, D8_a_late_decision_is_told_expired_and_the_expiry_is_recorded) {
    const RequestId id = submitted()->id;
    const Result<Decided> late =
        decide_now(id, DecisionKind::approve, person("ann"), start + 5 * minute);
    ASSERT_TRUE(late);
    ASSERT_TRUE(late->refusal);
    EXPECT_EQ(late->refusal->code, ErrorCode::expired);
    EXPECT_EQ(late->request->outcome, Outcome::expired);
    EXPECT_EQ(load(id)->outcome, Outcome::expired) << "the timer need not come any more";
    EXPECT_EQ(event_count(id), 2u);
    const Result<Decided> later =
        decide_now(id, DecisionKind::approve, person("ann"), start + 6 * minute);
    EXPECT_EQ(later->refusal->code, ErrorCode::expired);
}

TEST_F(Requests, D8_what_another_timeout_ended_is_a_conflict_while_its_own_deadline_is_ahead) {
    core::Proposal ending = proposal(), other = proposal();
    ending.session = other.session = "run";
    ending.on_timeout = core::TimeoutAction::abort;
    ending.timeout_ms = minute;
    submitted(ending);
    const RequestId id = submitted(other)->id;
    const Result<Decided> late =
        decide_now(id, DecisionKind::approve, person("ann"), start + 2 * minute);
    ASSERT_TRUE(late && late->refusal);
    EXPECT_EQ(late->refusal->code, ErrorCode::conflict);
    EXPECT_EQ(late->refusal->message,
              "already over: another request of this run was not decided in time, and that ended "
              "the run");
    EXPECT_EQ(late->request->outcome, Outcome::expired);
}

TEST_F(Requests, D8_one_millisecond_before_the_deadline_counts) {
    const RequestId id = submitted()->id;
    const Result<Decided> last =
        decide_now(id, DecisionKind::approve, person("ann"), start + 5 * minute + -1);
    EXPECT_FALSE(last->refusal);
    EXPECT_EQ(last->request->outcome, Outcome::approved);
}

TEST_F(Requests, a_decision_with_a_key_is_taken_once_and_answered_twice) {
    const RequestId id = submitted()->id;
    const DecideCall call{id, command(DecisionKind::approve), person("ann"), key("d1"), start + 10};
    EXPECT_FALSE(decide_call(call)->is_replay);
    const Result<Decided> replay = decide_call(call);
    ASSERT_TRUE(replay);
    EXPECT_TRUE(replay->is_replay);
    EXPECT_FALSE(replay->refusal) << "it did take effect";
    DecideCall other = call;
    other.idempotency = key("d1", 'y');
    EXPECT_EQ(decide_call(other).error().code, ErrorCode::refused);
}

TEST_F(Requests, a_refused_decision_leaves_its_key_free) {
    policy_.requirement.reason_required = true;
    const RequestId id = submitted()->id;
    DecideCall call{id, command(DecisionKind::reject), person("ann"), key("d1"), start + 10};
    call.command.reason.clear();
    EXPECT_EQ(decide_call(call)->refusal->code, ErrorCode::refused);
    call.command.reason = "why";
    EXPECT_FALSE(decide_call(call)->is_replay);
    EXPECT_EQ(load(id)->outcome, Outcome::rejected);
}

TEST_F(Requests, D5_an_escalation_must_reach_somebody_who_can_decide) {
    add_person("zoe", store::Role::approver, {"bosses"});
    add_person("audrey", store::Role::auditor, {"watchers"});
    const RequestId id = submitted()->id;
    core::DecisionCommand escalate = command(DecisionKind::escalate);
    for (const char* target : {"nobody", "group:nobody", "audrey", "group:watchers", "group:"}) {
        escalate.target = target;
        const Result<Decided> refused = decide_call({id, escalate, person("ann"), {}, start + 10});
        ASSERT_TRUE(refused);
        ASSERT_TRUE(refused->refusal) << target;
        EXPECT_EQ(refused->refusal->code, ErrorCode::refused) << target;
        EXPECT_EQ(refused->refusal->field, "to") << target;
    }
    escalate.target = "group:bosses";
    EXPECT_FALSE(decide_call({id, escalate, person("ann"), {}, start + 20})->refusal);
    escalate.target = "zoe";
    EXPECT_FALSE(decide_call({id, escalate, person("zoe", {"bosses"}), {}, start + 30})->refusal);
}

TEST_F(Requests, D6_abort_ends_everything_that_waits_in_the_same_run) {
    core::Proposal in_run = proposal();
    in_run.session = "run-1";
    core::Proposal elsewhere = proposal();
    elsewhere.session = "run-2";
    const RequestId first = submitted(in_run)->id;
    const RequestId sibling = submitted(in_run)->id;
    const RequestId done = submitted(in_run)->id;
    const RequestId other = submitted(elsewhere)->id;
    SubmitCall foreign = call_with({in_run});
    foreign.agent = agent("other-bot");
    ASSERT_TRUE(submit_call(foreign));
    ASSERT_FALSE(decide_now(done, DecisionKind::approve, person("ann"))->refusal);

    ASSERT_FALSE(decide_now(first, DecisionKind::abort, person("ben"), start + 2000)->refusal);
    EXPECT_EQ(load(first)->outcome, Outcome::aborted);
    EXPECT_EQ(load(sibling)->outcome, Outcome::aborted);
    EXPECT_EQ(load(sibling)->decision->by, "ben");
    EXPECT_EQ(load(done)->outcome, Outcome::approved) << "what was done stays done";
    EXPECT_EQ(load(other)->state, State::pending);
    EXPECT_EQ(load(foreign.ids[0])->state, State::pending) << "another agent's run";
}

TEST_F(Requests, D6_a_sibling_whose_deadline_has_passed_is_expired_not_aborted) {
    core::Proposal short_lived = proposal();
    short_lived.session = "run-1";
    short_lived.timeout_ms = 1000;
    core::Proposal in_run = proposal();
    in_run.session = "run-1";
    const RequestId sibling = submitted(short_lived)->id;
    const RequestId first = submitted(in_run)->id;
    ASSERT_FALSE(decide_now(first, DecisionKind::abort, person("ann"), start + 2000)->refusal);
    EXPECT_EQ(load(first)->outcome, Outcome::aborted);
    EXPECT_EQ(load(sibling)->outcome, Outcome::expired) << "nobody decides after the deadline";
}

TEST_F(Requests, D6_without_a_session_an_abort_ends_only_its_own_request) {
    const RequestId first = submitted()->id;
    const RequestId other = submitted()->id;
    ASSERT_FALSE(decide_now(first, DecisionKind::abort, person("ann"))->refusal);
    EXPECT_EQ(load(other)->state, State::pending);
}

TEST_F(Requests, T1_time_passes_for_what_is_due_in_portions) {
    std::vector<RequestId> ids;
    for (int i = 0; i < 5; ++i) ids.push_back(submitted(proposal(), start + i * 1000)->id);
    const auto pass = [&](Timestamp now, int limit) {
        return get([&](store::Transaction& tx) { return expire_due(tx, *in_force(), now, limit); });
    };
    Expired passed = pass(start + 5 * minute + -1, 10);
    EXPECT_EQ(passed.count, 0);
    EXPECT_EQ(passed.next, start + 5 * minute);
    passed = pass(start + 5 * minute + 4000, 2);
    EXPECT_EQ(passed.count, 2);
    EXPECT_EQ(passed.next, start + 5 * minute + 2000) << "more are due";
    passed = pass(start + 5 * minute + 4000, 10);
    EXPECT_EQ(passed.count, 3);
    EXPECT_FALSE(passed.next);
    for (const RequestId& id : ids) EXPECT_EQ(load(id)->outcome, Outcome::expired);
}

TEST_F(Requests, T1_one_request_that_cannot_be_read_stops_no_other_deadline) {
    const RequestId unreadable = submitted()->id;
    const RequestId half_readable = submitted()->id;
    get([&](store::Transaction& tx) -> Result<RequestPtr> {
        core::Step step;
        step.request = **tx.load(half_readable);
        step.request.version += 1;
        step.request.subject.text = "{";
        return tx.apply(std::move(step));
    });
    const RequestId whole = submitted()->id;
    damage(unreadable);
    const Timestamp now = start + 5 * minute;
    const auto pass = [&](Timestamp at) {
        return get([&](store::Transaction& tx) { return expire_due(tx, *in_force(), at, 10); });
    };
    const Expired passed = pass(now);
    EXPECT_EQ(passed.count, 1);
    EXPECT_EQ(load(whole)->outcome, Outcome::expired);
    ASSERT_TRUE(passed.next);
    EXPECT_EQ(*passed.next, now + 60 * minute) << "it is not looked at again and again";
    EXPECT_EQ(pass(now + 60 * minute).next, now + 120 * minute);
    const Result<RequestPtr> read =
        run([&](store::Transaction& tx) { return tx.load(unreadable); });
    ASSERT_FALSE(read);
    EXPECT_NE(read.error().message.find("--check-store"), std::string::npos);
}

TEST_F(Requests, T1_a_timeout_that_aborts_ends_the_run_also_where_one_cannot_be_read) {
    core::Proposal in_run = proposal();
    in_run.session = "run-1";
    core::Proposal stopping = in_run;
    stopping.timeout_ms = 1000;
    stopping.on_timeout = core::TimeoutAction::abort;
    const RequestId unreadable = submitted(in_run)->id;
    const RequestId sibling = submitted(in_run)->id;
    const RequestId stops = submitted(stopping)->id;
    const RequestId stops_too = submitted(stopping)->id;
    const RequestId elsewhere = submitted()->id;
    damage(unreadable);
    get([&](store::Transaction& tx) { return expire_due(tx, *in_force(), start + 1000, 10); });
    for (const RequestId& id : {stops, stops_too, sibling}) {
        EXPECT_EQ(load(id)->outcome, Outcome::expired);
        EXPECT_EQ(load(id)->timeout_taken, core::TimeoutAction::abort);
        EXPECT_EQ(event_count(id), 2u);
    }
    EXPECT_EQ(load(elsewhere)->state, State::pending);
}

TEST_F(Requests, agents_see_their_own_requests_only) {
    const RequestId id = submitted()->id;
    const auto read_as = [&](const core::Actor& actor) {
        return run([&](store::Transaction& tx) { return read(tx, id, actor); });
    };
    EXPECT_TRUE(read_as(agent()));
    EXPECT_TRUE(read_as(person("ann")));
    const Result<RequestPtr> stranger = read_as(agent("other-bot"));
    ASSERT_FALSE(stranger);
    EXPECT_EQ(stranger.error().code, ErrorCode::not_found);
    const Result<RequestPtr> unknown = run([&](store::Transaction& tx) {
        return read(tx, RequestId::fresh(start), agent("other-bot"));
    });
    EXPECT_EQ(unknown.error().code, stranger.error().code)
        << "another agent's request looks like none";
}

TEST_F(Requests, an_agent_cannot_cancel_or_report_for_another) {
    const RequestId id = submitted()->id;
    const core::Actor stranger = agent("other-bot");
    EXPECT_EQ(run([&](store::Transaction& tx) {
                  return cancel(tx, *in_force(), id, "", stranger, start);
              })
                  .error()
                  .code,
              ErrorCode::not_found);
    EXPECT_EQ(run([&](store::Transaction& tx) {
                  return report(tx, *in_force(), id, {}, {}, stranger, start);
              })
                  .error()
                  .code,
              ErrorCode::not_found);
    EXPECT_EQ(load(id)->state, State::pending);
}

TEST_F(Requests, cancel_extend_and_report_go_the_same_road) {
    const RequestId id = submitted()->id;
    const Result<Decided> extended = run([&](store::Transaction& tx) {
        return extend(tx, *in_force(), id, 10 * minute, person("ann"), start + 10);
    });
    ASSERT_TRUE(extended);
    EXPECT_EQ(extended->request->expires_at, start + 15 * minute);
    const Result<Decided> early = run([&](store::Transaction& tx) {
        return report(tx, *in_force(), id, {}, {}, agent(), start + 20);
    });
    EXPECT_EQ(early->refusal->code, ErrorCode::refused);
    const Result<Decided> cancelled = run([&](store::Transaction& tx) {
        return cancel(tx, *in_force(), id, "done otherwise", agent(), start + 30);
    });
    EXPECT_FALSE(cancelled->refusal);
    EXPECT_EQ(load(id)->outcome, Outcome::cancelled);
    for (int i = 0; i < 2; ++i) {
        const Result<Decided> reported = run([&](store::Transaction& tx) {
            return report(tx, *in_force(), id, {}, {}, agent(), start + 40);
        });
        EXPECT_FALSE(reported->refusal) << "the same report again is fine";
    }
    EXPECT_EQ(event_count(id), 4u) << "requested, extended, cancelled, reported once";
}

TEST_F(Requests, nobody_extends_or_cancels_what_has_expired) {
    const RequestId id = submitted()->id;
    const Timestamp late = start + 5 * minute;
    EXPECT_EQ(run([&](store::Transaction& tx) {
                  return extend(tx, *in_force(), id, minute, person("ann"), late);
              })->refusal->code,
              ErrorCode::conflict);
    EXPECT_EQ(load(id)->outcome, Outcome::expired);
    EXPECT_EQ(run([&](store::Transaction& tx) {
                  return cancel(tx, *in_force(), id, "", agent(), late);
              })->refusal->code,
              ErrorCode::conflict);
}

TEST_F(Requests, a_filter_in_memory_matches_what_the_store_lists) {
    core::Proposal one = proposal();
    one.session = "s1";
    one.user = "ulla";
    const RequestPtr request = submitted(one);
    const auto check = [&](auto change, bool is_match) {
        store::ListQuery query;
        change(query.filter);
        EXPECT_EQ(matches(query.filter, *request), is_match);
        EXPECT_EQ(get([&](store::Transaction& tx) { return tx.list(query); }).requests.size(),
                  is_match ? 1u : 0u);
    };
    check([](store::ListFilter&) {}, true);
    check([](store::ListFilter& f) { f.session = "s1"; }, true);
    check([](store::ListFilter& f) { f.session = "s2"; }, false);
    check([](store::ListFilter& f) { f.user = "ulla"; }, true);
    check([](store::ListFilter& f) { f.tool = "refund"; }, true);
    check([](store::ListFilter& f) { f.tool = "other"; }, false);
    check([](store::ListFilter& f) { f.state = State::pending; }, true);
    check([](store::ListFilter& f) { f.outcome = Outcome::approved; }, false);
    check([](store::ListFilter& f) { f.kind = Kind::plan; }, false);
    check([](store::ListFilter& f) { f.risk = core::RiskLevel::medium; }, true);
    check([](store::ListFilter& f) { f.since = start; }, true);
    check([](store::ListFilter& f) { f.since = start + 1; }, false);
    check([](store::ListFilter& f) { f.until = start; }, false);
    check([](store::ListFilter& f) { f.until = start + 1; }, true);
    check([](store::ListFilter& f) { f = visible_to(agent(), f); }, true);
    check([](store::ListFilter& f) { f = visible_to(agent("other-bot"), f); }, false);
    check([](store::ListFilter& f) { f = visible_to(person("ann"), f); }, true);
}

}  // namespace
}  // namespace holdpoint::service

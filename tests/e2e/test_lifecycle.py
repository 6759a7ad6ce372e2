"""The life of a request: kinds and decisions, quorum, batches, waiting, listing, numbers."""
import base64
import concurrent.futures
import json
import time
import unittest

from harness import SUBJECTS, Server, ServerTest, eventually, raw_exchange, raw_statuses
from test_time import seconds_between

FIELDS = ["id", "kind", "state", "outcome", "session", "thread", "task", "user", "agent", "owner", "batch", "SUBJECT", "proposed",
          "headline", "risk", "verdict", "requirement", "votes", "digest", "created_at", "expires_at", "settled_at",
          "on_timeout", "timed_out", "reminders", "escalation", "retries", "context", "suggested", "metadata", "decision",
          "release", "message_for_agent", "report", "url"]

# kind x decision -> outcome, or the status of a refusal
TABLE = {
    "action": {"approve": "approved", "reject": "rejected", "modify": "modified", "defer": "deferred", "escalate": "pending",
               "abort": "aborted", "answer": 422},
    "plan": {"approve": "approved", "reject": "rejected", "modify": "modified", "defer": "deferred", "escalate": "pending",
             "abort": "aborted", "answer": 422},
    "input": {"approve": 422, "reject": "rejected", "modify": 422, "defer": "deferred", "escalate": "pending",
              "abort": "aborted", "answer": "answered"},
    "confirmation": {"approve": "approved", "reject": "rejected", "modify": 422, "defer": "deferred", "escalate": "pending",
                     "abort": "aborted", "answer": 422},
    "response": {"approve": "approved", "reject": "rejected", "modify": "modified", "defer": "deferred",
                 "escalate": "pending", "abort": "aborted", "answer": 422},
}

REPLACEMENTS = {
    "action": {"arguments": {"orderId": "1234", "amount": 25000}},
    "plan": {"plan": {"title": "Clean up less", "steps": [{"action": "list"}]}},
    "response": {"response": {"text": "Nearly done.", "format": "markdown"}},
}


def body_of(kind, decision):
    more = {"reject": {"reason": "no"}, "defer": {"guidance": "try a voucher"}, "escalate": {"to": "bob"},
            "abort": {"reason": "stop"}, "answer": {"answer": "that one"},
            "modify": REPLACEMENTS.get(kind, REPLACEMENTS["action"])}.get(decision, {})
    return {"decision": decision, "note": "seen", **more}


class LifecycleTest(ServerTest):
    def ask(self, kind="action", **more):
        return self.agent.propose(kind=kind, **{kind: SUBJECTS[kind]}, **more)

    def decide(self, request, person=None, **body):
        return (person or self.ann).post(f"/v1/requests/{request['id']}/decision", body)

    def test_Q1_to_Q4_and_D1_to_D7_every_kind_with_every_decision(self):
        for kind, row in TABLE.items():
            for decision, wanted in row.items():
                with self.subTest(kind=kind, decision=decision):
                    request = self.ask(kind)
                    answer = self.decide(request, **body_of(kind, decision))
                    if isinstance(wanted, int):
                        self.assertStatus(answer, wanted, "refused")
                        self.assertEqual(self.ann.read(request), request, "refused, but changed")
                        continue
                    self.assertStatus(answer, 200)
                    self.check_decided(kind, decision, wanted, request, answer.json)
                    heard = self.agent.read(request, wait=0)
                    self.assertEqual(heard, answer.json, "the agent hears what the person was told")

    def check_decided(self, kind, decision, wanted, before, after):
        if wanted == "pending":
            self.assertEqual((after["state"], after["decision"], after["release"]), ("pending", None, None))
            self.assertEqual(after["requirement"]["lines"], [{"group": None, "people": ["bob"], "quorum": 1, "have": 0}])
            return
        self.assertEqual((after["state"], after["outcome"]), ("settled", wanted))
        self.assertEqual((after["decision"]["kind"], after["decision"]["by"], after["decision"]["note"]),
                         (decision, "ann", "seen"))
        self.assertIsNotNone(after["message_for_agent"])
        name = "arguments" if kind == "action" else kind
        if wanted in ("approved", "modified"):
            self.assertEqual(set(after["release"]), {name, "digest", "receipt"})
            self.assertEqual(after["release"]["digest"], after["digest"])
            subject = after["action"]["arguments"] if kind == "action" else after[kind]
            self.assertEqual(after["release"][name], subject)
        else:
            self.assertIsNone(after["release"])
        if wanted == "modified":
            was = before["action"]["arguments"] if kind == "action" else before[kind]
            self.assertEqual(after["proposed"], was)
            self.assertNotEqual(after["digest"], before["digest"], "another action has another digest")
            self.assertEqual(after["decision"]["arguments"], after["release"][name])
        else:
            self.assertIsNone(after["proposed"])
            self.assertEqual(after["digest"], before["digest"])
        for field in ("reason", "guidance"):
            words = body_of(kind, decision).get(field)
            self.assertEqual(after["decision"][field], words)
            if words:
                self.assertIn(words, after["message_for_agent"])

    def test_the_fields_come_in_the_order_of_the_contract(self):
        for kind in SUBJECTS:
            request = self.ask(kind)
            self.assertEqual(list(request), [kind if name == "SUBJECT" else name for name in FIELDS])

    def test_Q5_Q6_Q8_what_the_agent_says_is_kept_as_said(self):
        context = {"task_description": "handle refunds", "conversation_summary": "customer is angry",
                   "steps_completed": ["looked up order"], "current_reasoning": "amount matches",
                   "relevant_history": [{"at": "yesterday", "what": "asked"}], "user_prompt": "Refund order #1234",
                   "anything": {"else": [1, 2, {"deep": None}]}}
        request = self.agent.propose(
            action={"tool": "process_refund", "arguments": {"orderId": "1234", "amount": 50000}, "type": "tool_call",
                    "description": "Refunds.", "expected_outcome": "Money back.", "reversible": True, "estimated_cost": 12500.75},
            context=context, suggested=["approve", {"note": "ok"}], metadata={"trace": "t-1", "n": 1.5},
            session="s", thread="t", task="k", user="u", timeout_s=77)
        self.assertEqual(request["context"], context)
        self.assertEqual(request["suggested"], ["approve", {"note": "ok"}])
        self.assertEqual(request["metadata"], {"trace": "t-1", "n": 1.5})
        self.assertEqual((request["session"], request["thread"], request["task"], request["user"]), ("s", "t", "k", "u"))
        self.assertEqual(request["action"]["estimated_cost"], 12500.75)
        self.assertEqual(request["action"]["reversible"], True)
        self.assertAlmostEqual(seconds_between(request["created_at"], request["expires_at"]), 77, places=3)
        self.assertEqual(request["agent"], "billing-bot", "the name comes from the key, not from the body")

    def test_Q7_an_agent_can_only_raise_the_risk(self):
        self.assertEqual(self.ask(risk="low")["risk"]["level"], "medium")
        self.assertEqual(self.ask(risk="critical")["risk"]["level"], "critical")
        full = self.ask(risk={"level": "high", "factors": ["a"], "consequences": ["b"], "reversibility": "partially",
                              "confidence": 0.25})
        self.assertEqual(full["risk"]["level"], "high")
        claimed = {"factors": ["a"], "consequences": ["b"], "reversibility": "partially", "confidence": 0.25}
        self.assertEqual({**full["risk"]["claimed"], **claimed}, full["risk"]["claimed"])
        self.assertNotIn("a", full["risk"]["factors"], "the agent's words stay apart")

    def test_Q2_steps_of_a_plan_are_approved_in_part(self):
        request = self.ask("plan")
        self.assertStatus(self.decide(request, decision="approve", approved_steps=[1]), 422, "refused", "approved_steps")
        self.assertStatus(self.decide(request, decision="approve", approved_steps=[1, 2, 9]), 422, "refused", "approved_steps")
        self.assertStatus(self.decide(request, decision="approve", approved_steps=["1"]), 400, "invalid_argument", "approved_steps")
        answer = self.decide(request, decision="approve", approved_steps=[1, 2])
        self.assertStatus(answer, 200)
        self.assertEqual([step["order"] for step in answer["release"]["plan"]["steps"]], [1, 2])
        self.assertEqual(answer["outcome"], "modified", "less than the plan is not the plan")
        whole = self.ask("plan")
        self.assertEqual(self.decide(whole, decision="approve", approved_steps=[1, 2, 3])["outcome"], "approved")

    def test_Q2_a_plan_that_may_not_be_changed_is_not(self):
        request = self.agent.propose(kind="plan", plan={**SUBJECTS["plan"], "modifiable": False})
        self.assertStatus(self.decide(request, decision="modify", **REPLACEMENTS["plan"]), 422, "refused")

    def test_D3_modify_is_refused_where_the_requirement_forbids_it(self):
        request = self.ask(requirement={"modifiable": False})
        self.assertStatus(self.decide(request, decision="modify", arguments={}), 422, "refused", "decision")

    def test_D3_modifying_to_the_same_is_approving(self):
        request = self.ask()
        settled = self.decide(request, decision="modify", arguments=request["action"]["arguments"]).json
        self.assertEqual((settled["outcome"], settled["proposed"], settled["decision"]["kind"]), ("approved", None, "approve"))

    def test_D2_a_reason_is_required_where_asked(self):
        for decision in ("reject", "abort"):
            request = self.ask(requirement={"reason_required": True})
            self.assertStatus(self.decide(request, decision=decision), 422, "refused", "reason")
            self.assertStatus(self.decide(request, decision=decision, reason=""), 422, "refused", "reason")
            self.assertStatus(self.decide(request, decision=decision, reason="because"), 200)

    def test_D6_abort_stops_the_whole_run_and_leaves_others_alone(self):
        session = self.fresh("run")
        done = self.ask(session=session)
        self.ann.decide(done)
        waiting = [self.ask(session=session) for _ in range(3)]
        other_run = self.ask(session=self.fresh("run"))
        other_agent = self.other_agent.propose(session=session)
        self.assertStatus(self.decide(waiting[0], decision="abort", reason="enough"), 200)
        for request in waiting:
            now = self.agent.read(request, wait=5)
            self.assertEqual((now["outcome"], now["release"]), ("aborted", None))
            self.assertIn("enough", now["message_for_agent"])
        self.assertEqual(self.ann.read(done)["outcome"], "approved", "what was done stays done")
        for request in (other_run, other_agent):
            self.assertEqual(self.ann.read(request)["state"], "pending")

    def test_D7_Q3_answers_are_checked_by_their_type(self):
        file = {"name": "a.txt", "content_base64": base64.b64encode(b"hello").decode(), "media_type": "text/plain"}
        table = [
            ({"type": "text"}, ["x", "ä" * 100], [7, None, "", [], {}]),
            ({"type": "text", "required": False}, ["", None], [7]),
            ({"type": "text", "max_length": 3}, ["abc"], ["abcd"]),
            ({"type": "number", "min": 1, "max": 5}, [1, 5, 2.5], [0, 5.1, "3", True, None]),
            ({"type": "choice", "options": ["EUR", "USD"]}, ["EUR"], ["eur", "", 0, ["EUR"], None]),
            ({"type": "multi_choice", "options": ["a", "b"]}, [["a"], ["b", "a"]], [["a", "a"], ["c"], "a", [], None]),
            ({"type": "multi_choice", "options": ["a", "b"], "required": False}, [[]], [["c"]]),
            ({"type": "date"}, ["2026-11-15", "2028-02-29"], ["2026-02-29", "15.11.2026", "2026-11-15T00:00:00Z", 20261115]),
            ({"type": "file"}, [file], ["x", {"name": "a"}, {**file, "content_base64": "***"}, {**file, "extra": 1},
                                        {**file, "content_base64": "A" * 200_000}]),
        ]
        for question, good, bad in table:
            for answer in bad:
                with self.subTest(question=question, bad=str(answer)[:60]):
                    request = self.agent.propose(kind="input", input={"question": "?", **question})
                    refused = self.decide(request, decision="answer", answer=answer)
                    self.assertIn(refused.status, (400, 413, 422), refused)
                    self.assertEqual(self.ann.read(request)["state"], "pending")
            for answer in good:
                with self.subTest(question=question, good=str(answer)[:60]):
                    request = self.agent.propose(kind="input", input={"question": "?", **question})
                    accepted = self.decide(request, decision="answer", answer=answer)
                    self.assertStatus(accepted, 200)
                    self.assertEqual(accepted["decision"]["answer"], answer)

    def test_D10_a_quorum_needs_that_many_different_people(self):
        request = self.ask(requirement={"lines": [{"quorum": 2}]})
        first = self.ann.decide(request)
        self.assertEqual((first["state"], [(v["decision"], v["by"]) for v in first["votes"]]), ("pending", [("approve", "ann")]))
        self.assertEqual(first["requirement"]["lines"][0]["have"], 1)
        again = self.decide(request, decision="approve")
        self.assertStatus(again, 409, "conflict")
        self.assertEqual(again.error["request"]["state"], "pending")
        second = self.bob.decide(request)
        self.assertEqual((second["outcome"], second["requirement"]["lines"][0]["have"]), ("approved", 2))
        self.assertEqual(second["decision"]["by"], "bob")

    def test_D10_two_keys_of_one_person_are_one_person(self):
        request = self.ask(requirement={"lines": [{"quorum": 2}]})
        self.ann.decide(request)
        twin = self.server.client(self.server.new_key("approver", "ann")["key"])
        self.assertStatus(self.decide(request, twin, decision="approve"), 409)
        self.assertEqual(self.ann.read(request)["state"], "pending")

    def test_D10_groups_and_names_must_be_met(self):
        fin1 = self.server.actor("approver", "fin1", groups=["money"])
        fin2 = self.server.actor("approver", "fin2", groups=["money"])
        request = self.ask(requirement={"lines": [{"group": "money", "quorum": 2}, {"people": ["ann"]}]})
        self.assertEqual([(l["group"], l["people"], l["quorum"]) for l in request["requirement"]["lines"]],
                         [("money", None, 2), (None, ["ann"], 1)])
        self.assertStatus(self.decide(request, self.bob, decision="approve"), 403)
        for person in (fin1, self.ann):
            self.assertEqual(person.decide(request)["state"], "pending")
        settled = fin2.decide(request)
        self.assertEqual((settled["outcome"], [l["have"] for l in settled["requirement"]["lines"]]), ("approved", [2, 1]))

    def test_D10_any_reject_rejects(self):
        request = self.ask(requirement={"lines": [{"quorum": 3}]})
        self.ann.decide(request)
        rejected = self.bob.decide(request, "reject", reason="no")
        self.assertEqual((rejected["outcome"], rejected["release"]), ("rejected", None))

    def test_D10_a_change_needs_new_votes(self):
        """Nobody has approved what they have not seen."""
        request = self.ask(requirement={"lines": [{"quorum": 2}]})
        self.ann.decide(request)
        changed = self.bob.decide(request, "modify", arguments={"orderId": "1234", "amount": 1})
        self.assertEqual((changed["state"], [v["by"] for v in changed["votes"]]), ("pending", ["bob"]))
        stale = self.decide(request, decision="approve", digest=request["digest"])
        self.assertStatus(stale, 409, "conflict")
        for blind in ({"decision": "approve"}, {"decision": "modify", "arguments": {"orderId": "1234", "amount": 2}}):
            self.assertStatus(self.decide(request, **blind), 409, "conflict", "digest")
        self.assertEqual(self.ann.read(request)["state"], "pending", "what nobody says they saw releases nothing")
        settled = self.ann.decide(request, digest=changed["digest"])
        self.assertEqual((settled["outcome"], settled["release"]["arguments"]["amount"]), ("modified", 1))

    def test_D10_a_question_is_settled_by_one_answer_and_says_so(self):
        question = self.agent.propose(kind="input", input={"question": "Which?"}, requirement={"lines": [{"quorum": 2}]})
        self.assertEqual([line["quorum"] for line in question["requirement"]["lines"]], [1])
        self.assertEqual(self.ann.decide(question, "answer", answer="this one")["outcome"], "answered")

    def test_D9_what_the_agent_calls_critical_needs_the_code(self):
        request = self.ask(risk="critical")
        self.assertStatus(self.decide(request, decision="approve"), 422, "refused", "confirm")
        self.assertStatus(self.decide(request, decision="approve", confirm="000000x"), 422, "refused", "confirm")
        self.assertEqual(self.ann.read(request)["state"], "pending")
        self.assertEqual(self.ann.decide(request, confirm=request["requirement"]["confirm"])["outcome"], "approved")

    def test_a_headline_shows_no_secret_before_and_after_a_change(self):
        request = self.agent.propose("login", {"user": "eve", "password": "hunter2", "pin": {"api-key": 4711}})
        self.assertEqual(request["headline"], 'login(user: "eve", password: •••, pin: {…})')
        self.assertEqual(request["action"]["arguments"]["password"], "hunter2", "who decides sees all of it")
        changed = self.ann.decide(request, "modify", arguments={"user": "eve", "password": "correct horse"})
        self.assertEqual(changed["headline"], 'login(password: •••, user: "eve")')

    def test_Q9_a_batch_is_waited_for_as_a_whole(self):
        made = self.agent.post("/v1/batches", {"session": "b", "requests": [{"action": {"tool": t}} for t in "abc"]}).json
        self.assertEqual([r["action"]["tool"] for r in made["requests"]], ["a", "b", "c"])
        self.assertEqual({r["batch"] for r in made["requests"]}, {made["id"]})
        with concurrent.futures.ThreadPoolExecutor() as pool:
            client = self.server.client(self.agent.key)
            waiting = pool.submit(lambda: client.get(f"/v1/batches/{made['id']}", query={"wait": 20}))
            for request in made["requests"][:2]:
                self.ann.decide(request)
            time.sleep(0.2)
            self.assertFalse(waiting.done(), "one is still pending")
            self.ann.decide(made["requests"][2], "reject")
            self.assertEqual([r["outcome"] for r in waiting.result(20)["requests"]], ["approved", "approved", "rejected"])

    def test_Q9_many_decisions_are_judged_alone(self):
        requests = [self.ask() for _ in range(3)] + [self.ask(requirement={"reason_required": True})]
        self.ann.decide(requests[0])
        answer = self.ann.post("/v1/decisions", {"decisions": [
            {"id": requests[0]["id"], "decision": "approve"}, {"id": requests[1]["id"], "decision": "approve"},
            {"id": requests[2]["id"], "decision": "approve", "digest": "sha256:" + "0" * 64},
            {"id": requests[3]["id"], "decision": "reject"}]})
        self.assertStatus(answer, 200)
        self.assertEqual([(r["id"], r["status"]) for r in answer["results"]],
                         list(zip([r["id"] for r in requests], (409, 200, 409, 422))))

    def test_S1_a_wait_is_answered_before_after_and_across_a_restart(self):
        with Server() as server:
            agent, ann = server.actor("agent", "bot"), server.actor("approver", "ann")
            early, late, across = (agent.propose() for _ in range(3))
            with concurrent.futures.ThreadPoolExecutor() as pool:
                waiter = server.client(agent.key)
                waiting = pool.submit(lambda: waiter.read(early, wait=20))
                eventually(lambda: ann.get("/v1/stats")["waiters"] == 1, "the agent waits")
                ann.decide(early)
                self.assertEqual(waiting.result(20)["outcome"], "approved")
            ann.decide(late)
            started = time.monotonic()
            self.assertEqual(agent.read(late, wait=20)["outcome"], "approved")
            self.assertLess(time.monotonic() - started, 5)
            server.kill()
            server.start()
            self.assertEqual(agent.read(across)["state"], "pending")
            with concurrent.futures.ThreadPoolExecutor() as pool:
                waiter = server.client(agent.key)
                waiting = pool.submit(lambda: waiter.read(across, wait=20))
                eventually(lambda: ann.get("/v1/stats")["waiters"] == 1, "the agent waits again")
                ann.decide(across, "reject", reason="late but clear")
                self.assertEqual(waiting.result(20)["decision"]["reason"], "late but clear")

    def test_S1_a_graceful_stop_lets_waiters_come_back(self):
        with Server() as server:
            agent, ann = server.actor("agent", "bot"), server.actor("approver", "ann")
            request = agent.propose()
            with concurrent.futures.ThreadPoolExecutor() as pool:
                waiter = server.client(agent.key)
                waiting = pool.submit(lambda: waiter.get(f"/v1/requests/{request['id']}", query={"wait": 60}))
                eventually(lambda: ann.get("/v1/stats")["waiters"] == 1, "the agent waits")
                self.assertEqual(server.stop(), 0)
                answer = waiting.result(20)
                self.assertIn(answer.status, (200, 503), answer)
            server.start()
            ann.decide(request)
            self.assertEqual(agent.read(request, wait=5)["outcome"], "approved")

    def test_a_wait_ends_when_its_time_is_over(self):
        request = self.ask()
        started = time.monotonic()
        self.assertEqual(self.agent.read(request, wait=1)["state"], "pending")
        # The server's ticks are a tenth of a second; a wait may end by so much early, since its caller asks again anyway.
        took = time.monotonic() - started
        self.assertTrue(0.85 <= took < 3, took)

    def test_S2_filters_find_exactly_what_fits(self):
        run = self.fresh("list")
        made = {
            "plain": self.ask(session=run),
            "thread": self.ask(session=run, thread=f"{run}-t"),
            "task": self.ask(session=run, task=f"{run}-k"),
            "user": self.ask(session=run, user=f"{run}-u"),
            "high": self.ask(session=run, risk="high"),
            "tool": self.agent.propose("other_tool", session=run),
            "plan": self.ask("plan", session=run),
            "other": self.other_agent.propose(session=run),
        }
        batch = self.agent.post("/v1/batches", {"session": run, "requests": [{"action": {"tool": "t"}}]}).json
        made["batch"] = batch["requests"][0]
        self.ann.decide(made["plain"])
        self.ann.decide(made["thread"], "reject")
        everything = list(made)
        queries = {
            ("state", "pending"): [n for n in everything if n not in ("plain", "thread")],
            ("state", "settled"): ["plain", "thread"],
            ("outcome", "approved"): ["plain"], ("outcome", "rejected"): ["thread"], ("outcome", "expired"): [],
            ("thread", f"{run}-t"): ["thread"], ("task", f"{run}-k"): ["task"], ("user", f"{run}-u"): ["user"],
            ("risk", "high"): ["high"], ("tool", "other_tool"): ["tool"], ("kind", "plan"): ["plan"],
            ("agent", "mail-bot"): ["other"], ("batch", batch["id"]): ["batch"],
            ("since", made["tool"]["created_at"]): None, ("until", made["plain"]["created_at"]): [],
        }
        for (name, value), wanted in queries.items():
            with self.subTest(filter=name, value=value):
                found = [r["id"] for r in self.ann.list(session=run, **{name: value})]
                if wanted is None:
                    self.assertTrue(found)
                    continue
                self.assertEqual(found, [made[n]["id"] for n in everything if n in wanted][::-1], "newest first")
        both = self.ann.list(session=run, state="settled", outcome="rejected", thread=f"{run}-t")
        self.assertEqual([r["id"] for r in both], [made["thread"]["id"]])

    def test_S2_pages_are_complete_and_stable_while_new_ones_come(self):
        run = self.fresh("page")
        made = [self.agent.post("/v1/batches", {"session": run, "requests": [{"action": {"tool": "t"}}] * 25}).json
                for _ in range(5)]
        ids = [r["id"] for batch in made for r in batch["requests"]][::-1]
        for limit in (1, 7, 50, 100):
            with self.subTest(limit=limit):
                found, cursor, pages = [], None, 0
                while True:
                    page = self.ann.get("/v1/requests", query={"session": run, "limit": limit} | ({"cursor": cursor} if cursor else {}))
                    found += [r["id"] for r in page["requests"]]
                    pages += 1
                    cursor = page["next_cursor"]
                    if pages == 2:
                        late = self.ask(session=run)
                        ids.insert(0, late["id"])
                    if cursor is None or (limit == 1 and pages == 20):
                        break
                newer = ids.index(found[0])
                self.assertEqual(found, ids[newer:newer + len(found)])
                if limit > 1:
                    self.assertEqual(len(found), 125 + (len(ids) - 125) - newer)

    def test_S2_a_list_without_limit_has_fifty(self):
        run = self.fresh("fifty")
        self.agent.post("/v1/batches", {"session": run, "requests": [{"action": {"tool": "t"}}] * 60})
        self.assertEqual(len(self.ann.list(session=run)), 50)

    def test_S3_the_timeline_says_who_when_and_from_where(self):
        request = self.ask(requirement={"lines": [{"quorum": 2}]})
        self.ann.decide(request, note="fine")
        self.bob.post(f"/api/approvals/{request['id']}/approve")
        events = self.ann.timeline(request)
        self.assertEqual([(e["type"], e["actor"], e["via"], e["address"]) for e in events], [
            ("approval-required", "billing-bot", "key", "127.0.0.1"), ("decision-recorded", "ann", "key", "127.0.0.1"),
            ("request-settled", "bob", "alias", "127.0.0.1")])
        self.assertEqual(events[1]["detail"]["decision"], "approve")
        self.assertEqual(events[1]["detail"]["digest"], request["digest"])
        self.assertEqual([e["at"] for e in events], sorted(e["at"] for e in events))

    def test_S5_numbers_follow_what_happens(self):
        with Server() as server:
            agent, ann = server.actor("agent", "bot"), server.actor("approver", "ann")
            zero = ann.get("/v1/stats").json
            self.assertEqual((zero["pending"], zero["oldest_pending_at"], zero["decided"]), (0, None, 0))
            self.assertEqual(set(zero["outcomes"].values()), {0})
            requests = [agent.propose() for _ in range(5)]
            ann.decide(requests[0])
            ann.decide(requests[1], "reject")
            agent.post(f"/v1/requests/{requests[2]['id']}/cancel")
            agent.propose(timeout_s=1, wait=10)
            stats = ann.get("/v1/stats").json
            self.assertEqual((stats["pending"], stats["oldest_pending_at"]), (2, requests[3]["created_at"]))
            self.assertEqual({k: v for k, v in stats["outcomes"].items() if v},
                             {"approved": 1, "rejected": 1, "cancelled": 1, "expired": 1})
            self.assertEqual(stats["decided"], 2)
            self.assertGreaterEqual(stats["mean_decision_s"], 0)
            server.restart()
            again = ann.get("/v1/stats").json
            for name in ("pending", "outcomes", "decided", "oldest_pending_at"):
                self.assertEqual(again[name], stats[name], f"`{name}` after a restart")
            metrics = server.client().get("/metrics").body.decode()
            self.assertRegex(metrics, r"(?m)^holdpoint_\w*pending\w* 2(\.0)?$")

    def test_X2_the_digest_binds_the_action_and_not_the_prose(self):
        base = {"tool": "t", "arguments": {"a": 1, "b": "x"}}
        first = self.agent.propose(action=base)
        reordered = self.agent.propose(action={"arguments": {"b": "x", "a": 1}, "tool": "t"}, timeout_s=300)
        self.assertEqual(len({first["digest"], reordered["digest"]}), 1 if first["expires_at"] == reordered["expires_at"] else 2)
        for other in ({**base, "arguments": {"a": 2, "b": "x"}}, {**base, "tool": "u"}, {**base, "arguments": {"a": 1}}):
            self.assertNotEqual(self.agent.propose(action=other)["digest"], first["digest"])
        self.assertNotEqual(self.other_agent.propose(action=base)["digest"], first["digest"])

    def half_closed(self, data):
        """What a client gets that says all it has to say and then only reads."""
        started = time.monotonic()
        received = raw_exchange(self.server, data.encode())
        self.assertLess(time.monotonic() - started, 10, "nobody waits for somebody who may be gone")
        self.assertEqual(len(raw_statuses(received)), 1, received)
        return raw_statuses(received)[0], json.loads(received.split(b"\r\n\r\n", 1)[1])

    def test_who_only_reads_on_learns_what_was_proposed(self):
        body = json.dumps({"action": {"tool": "t", "arguments": {"a": 1}}})
        head = f"HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.agent.key}\r\nContent-Type: application/json\r\n"
        status, made = self.half_closed(f"POST /v1/requests?wait=60 {head}Content-Length: {len(body)}\r\n\r\n{body}")
        self.assertEqual((status, made["state"]), (201, "pending"))
        status, seen = self.half_closed(f"GET /v1/requests/{made['id']}?wait=60 {head}\r\n")
        self.assertEqual((status, seen["id"], seen["state"]), (200, made["id"], "pending"))
        many = json.dumps({"requests": [{"action": {"tool": "t"}}]})
        status, batch = self.half_closed(f"POST /v1/batches?wait=60 {head}Content-Length: {len(many)}\r\n\r\n{many}")
        self.assertEqual((status, len(batch["requests"])), (201, 1))
        eventually(lambda: self.admin.get("/v1/stats")["waiters"] == 0, "nobody waits any more")

    def test_the_same_extend_prolongs_once(self):
        request = self.agent.propose()
        key = {"Idempotency-Key": self.fresh("extend")}
        path = f"/v1/requests/{request['id']}/extend"
        first = self.ann.post(path, {"seconds": 60}, headers=key)
        again = self.ann.post(path, {"seconds": 60}, headers=key)
        self.assertEqual((first.status, again.status), (200, 200))
        self.assertEqual(first["expires_at"], again["expires_at"])
        self.assertNotEqual(first["expires_at"], request["expires_at"])
        self.assertNotIn("Idempotency-Replayed", first.headers)
        self.assertEqual(again.headers["Idempotency-Replayed"], "true")
        self.assertStatus(self.ann.post(path, {"seconds": 61}, headers=key), 422, "refused", "Idempotency-Key")
        self.assertNotEqual(self.ann.post(path, {"seconds": 60})["expires_at"], first["expires_at"], "without a key it is another")

    def test_the_same_decisions_count_once(self):
        two = {"lines": [{"quorum": 2}]}
        made = [self.agent.propose(requirement=two) for _ in range(3)]
        self.ann.decide(made[2], "reject")
        body = {"decisions": [{"id": request["id"], "decision": "approve"} for request in made]}
        key = {"Idempotency-Key": self.fresh("many")}
        first, again = (self.bob.post("/v1/decisions", body, headers=key) for _ in range(2))
        self.assertEqual([result["status"] for result in first["results"]], [200, 200, 409])
        self.assertEqual([result["status"] for result in again["results"]], [200, 200, 409])
        self.assertEqual(again.headers["Idempotency-Replayed"], "true")
        for request in made[:2]:
            self.assertEqual([event["type"] for event in self.ann.timeline(request)], ["approval-required", "decision-recorded"])
        body["decisions"].pop()
        self.assertStatus(self.bob.post("/v1/decisions", body, headers=key), 422, "refused", "Idempotency-Key")

    def test_a_key_is_refused_where_it_would_not_count(self):
        request = self.agent.propose()
        key = {"Idempotency-Key": self.fresh("ignored")}
        count = len(self.admin.get("/v1/keys")["keys"])
        for client, path, body in ((self.admin, "/v1/keys", {"role": "agent", "name": "twice"}),
                                   (self.admin, "/v1/links", {"user": "ann"}),
                                   (self.server.client(), "/v1/session", {"name": "ann", "password": "x"}),
                                   (self.ann, f"/v1/requests/{request['id']}/undo", None),
                                   (self.ann, f"/api/approvals/{request['id']}/approve", None)):
            with self.subTest(path=path):
                self.assertStatus(client.post(path, body, headers=key), 400, "invalid_argument", "Idempotency-Key")
        self.assertEqual(len(self.admin.get("/v1/keys")["keys"]), count)
        self.assertEqual(self.agent.read(request)["state"], "pending")


if __name__ == "__main__":
    unittest.main()

"""The life of a request: kinds and decisions, quorum, batches, waiting, listing, numbers, limits, switches, TLS."""
import base64
import concurrent.futures
import json
import pathlib
import subprocess
import tempfile
import threading
import time
import unittest

from harness import Server, ServerTest, binary, eventually, free_port
from test_time import seconds_between

SUBJECTS = {
    "action": {"tool": "process_refund", "arguments": {"orderId": "1234", "amount": 50000}},
    "plan": {"title": "Clean up", "steps": [{"action": "list"}, {"action": "delete"}, {"action": "tell", "optional": True}]},
    "input": {"question": "Which?", "type": "text"},
    "confirmation": {"message": "Publish the post?"},
    "response": {"text": "Done."},
}

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


class LimitTest(unittest.TestCase):
    def test_X4_too_many_pending_requests_are_429_until_some_are_settled(self):
        with Server("--pending-max", "5") as server:
            agent, other, ann = server.actor("agent", "a"), server.actor("agent", "b"), server.actor("approver", "ann")
            made = [agent.propose() for _ in range(5)]
            answer = agent.post("/v1/requests", {"action": {"tool": "t"}})
            self.assertEqual((answer.status, answer.error["code"]), (429, "rate_limited"))
            self.assertGreaterEqual(int(answer.headers["Retry-After"]), 1)
            self.assertEqual(agent.post("/v1/batches", {"requests": [{"action": {"tool": "t"}}]}).status, 429)
            other.propose()
            ann.decide(made[0])
            agent.propose()
            self.assertEqual(len(ann.list(agent="a", state="pending")), 5)

    def test_X4_calls_of_one_key_are_limited_and_others_are_not(self):
        with Server("--rate-per-key", "5") as server:
            agent, ann = server.actor("agent", "a"), server.actor("approver", "ann")
            statuses = [agent.post("/v1/requests", {"action": {"tool": "t"}}).status for _ in range(60)]
            self.assertIn(429, statuses)
            self.assertIn(201, statuses)
            self.assertEqual(ann.get("/v1/me").status, 200, "the limit is per key")
            eventually(lambda: agent.get("/v1/me").status == 200, "the limit passes", every_s=0.2)

    def test_X4_decisions_of_one_key_are_limited_and_everything_else_is_not(self):
        with Server("--decisions-per-key", "0.5") as server:
            agent, ann, bob = server.actor("agent", "a"), server.actor("approver", "ann"), server.actor("approver", "bob")
            made = [agent.propose() for _ in range(8)]
            answers = [ann.post(f"/v1/requests/{request['id']}/decision", {"decision": "approve"}) for request in made]
            self.assertEqual([answer.status for answer in answers[:5]], [200] * 5, "ten seconds' worth may come at once")
            refused = answers[-1]
            self.assertEqual((refused.status, refused.error["code"]), (429, "rate_limited"))
            self.assertGreaterEqual(int(refused.headers["Retry-After"]), 1)
            self.assertEqual(agent.read(made[-1])["state"], "pending", "what was refused was not decided")
            self.assertEqual(ann.get("/v1/requests").status, 200, "reading is not limited")
            self.assertEqual(bob.decide(made[-1])["outcome"], "approved", "the limit is per key")

    def test_X4_guesses_from_elsewhere_do_not_lock_a_person_out(self):
        with Server() as server:
            server.admin.post("/v1/users", {"name": "ann", "role": "approver", "password": "correct horse battery"})
            guesser = server.client()
            statuses = [guesser.post("/v1/session", {"name": "ann", "password": f"guess number {i}"}).status for i in range(8)]
            self.assertEqual(statuses, [401] * 5 + [429] * 3)
            server.sign_in("ann", "correct horse battery")  # from another address

    def test_X4_wrong_passwords_are_limited(self):
        with Server() as server:
            server.admin.post("/v1/users", {"name": "ann", "role": "approver", "password": "correct horse battery"})
            guesser = server.client()
            statuses = [guesser.post("/v1/session", {"name": "ann", "password": f"guess number {i}"}).status for i in range(30)]
            self.assertEqual(statuses[0], 401)
            self.assertIn(429, statuses)
            self.assertNotIn(201, statuses)


class SwitchTest(unittest.TestCase):
    def test_P9_approvals_disabled_lets_everything_pass_and_records_it(self):
        with Server("--approvals-disabled") as server:
            agent, ann = server.actor("agent", "bot"), server.actor("approver", "ann")
            for kind in ("action", "plan", "confirmation", "response"):
                request = agent.propose(kind=kind, **{kind: SUBJECTS[kind]})
                self.assertEqual((request["state"], request["outcome"], request["verdict"]["kind"]),
                                 ("settled", "allowed", "allow"))
                self.assertIsNotNone(request["release"])
                self.assertIsNone(request["decision"], "nobody decided this")
                self.assertEqual([e["type"] for e in ann.timeline(request)], ["request-settled"])
            question = agent.propose(kind="input", input=SUBJECTS["input"])
            self.assertEqual(question["state"], "pending", "only a person has the answer")
            self.assertEqual(ann.get("/v1/stats")["outcomes"]["allowed"], 4)
            self.assertIn("switched off", server.log(), "the switch is worth a warning")

    def test_P9_the_switch_stands_above_a_policy_file_and_whatever_replaces_it(self):
        held = "holdpoint: 1\npolicy: pages\ndefaults: {decision: require}\n"
        tested = held + "tests:\n  - {name: publishing waits, call: {tool: publish}, expect: {decision: require}}\n"
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "policy.yaml"
            path.write_text(tested)
            with Server("--approvals-disabled", "--policy", str(path)) as server:
                agent = server.actor("agent", "bot")
                self.assertEqual(agent.propose("publish")["outcome"], "allowed")
                self.assertIn("switched off", server.log())
                path.write_text(tested + "# again\n")
                self.assertEqual(server.admin.post("/v1/policy/reload").status, 200)
                self.assertEqual(agent.propose("publish")["outcome"], "allowed", "a file that is read again changes nothing")

    def test_P9_the_switch_stands_above_a_policy_from_the_store(self):
        held = "holdpoint: 1\npolicy: pages\ndefaults: {decision: require}\n"
        with Server() as server:
            agent = server.actor("agent", "bot")
            self.assertEqual(server.admin.call("PUT", "/v1/policy", {"text": held}).status, 200)
            self.assertEqual(agent.propose("publish")["state"], "pending")
            server.stop()
            server.flags = ["--approvals-disabled"]
            server.start()
            self.assertEqual(agent.propose("publish")["outcome"], "allowed")
            self.assertEqual(server.admin.call("PUT", "/v1/policy", {"text": held + "# again\n"}).status, 200)
            self.assertEqual(agent.propose("publish")["outcome"], "allowed")
            server.stop()
            server.flags = []
            server.start()
            self.assertEqual(agent.propose("publish")["state"], "pending", "without the flag the policy counts again")

    def test_P9_flags_that_a_stored_policy_overrules_are_named_in_the_log(self):
        with Server("--timeout", "1h") as server:
            self.assertNotIn("is ignored", server.log())
            held = "holdpoint: 1\npolicy: pages\ndefaults: {decision: require}\n"
            self.assertEqual(server.admin.call("PUT", "/v1/policy", {"text": held}).status, 200)
            server.stop()
            server.flags = ["--timeout", "1h", "--allow-tool", "read"]
            server.start()
            line, = [line for line in server.log(1000).splitlines() if "is ignored" in line]
            for word in ("--timeout", "--allow-tool", "policy apply", "--policy FILE"):
                self.assertIn(word, line)
            self.assertNotIn("--default-verdict", line, "only what was given is named")

    def test_P1_lists_of_tools_and_the_requiring_one_wins(self):
        with Server("--require-tool", "pay", "--require-tool", "both", "--allow-tool", "read", "--allow-tool", "both",
                    "--default-verdict", "allow") as server:
            agent = server.actor("agent", "bot")
            for tool, kind in (("pay", "hold"), ("both", "hold"), ("read", "allow"), ("other", "allow")):
                request = agent.propose(tool)
                self.assertEqual(request["verdict"]["kind"], kind, tool)
                self.assertEqual(request["state"], "pending" if kind == "hold" else "settled")
                self.assertTrue(request["verdict"]["because"])

    def test_P1_without_lists_every_tool_is_held(self):
        for flags in ((), ("--default-verdict", "hold"), ("--allow-tool", "read")):
            with Server(*flags) as server:
                self.assertEqual(server.actor("agent", "bot").propose("anything")["verdict"]["kind"], "hold")

    def test_P1_near_misses_of_an_allowed_name_are_held(self):
        with Server("--allow-tool", "read") as server:
            agent = server.actor("agent", "bot")
            for tool in ("Read", "read ", " read", "read\u200b", "rea", "readx", "re\u0430d", "read,pay", "*"):
                self.assertEqual(agent.propose(tool)["verdict"]["kind"], "hold", repr(tool))


class DoorTest(unittest.TestCase):
    def certificate(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        cert, key = folder / "cert.pem", folder / "key.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-keyout", key, "-out", cert, "-days", "2", "-subj", "/CN=localhost", "-addext",
                        "subjectAltName=IP:127.0.0.1,DNS:localhost"], check=True, capture_output=True)
        return str(cert), str(key)

    def test_X3_TLS_serves_and_the_cookie_is_bound_to_the_host(self):
        cert, key = self.certificate()
        with Server("--tls-cert", cert, "--tls-key", key) as server:
            agent, ann = server.actor("agent", "bot"), server.actor("approver", "ann")
            request = agent.propose()
            self.assertEqual(ann.decide(request)["outcome"], "approved")
            server.admin.post("/v1/users", {"name": "sid", "role": "approver", "password": "correct horse battery"})
            answer = server.client().post("/v1/session", {"name": "sid", "password": "correct horse battery"})
            cookie = answer.headers["Set-Cookie"]
            self.assertTrue(cookie.startswith("__Host-holdpoint_session="))
            for part in ("Secure", "HttpOnly", "SameSite=Strict", "Path=/"):
                self.assertIn(part, cookie)
            self.assertNotIn("Domain", cookie)
            session = server.client(cookie=cookie.split(";")[0], csrf=answer["csrf"])
            self.assertEqual(session.get("/v1/me")["name"], "sid")
            # Plain HTTP on the TLS port gets no answer that a client could take for one.
            import socket
            with socket.create_connection(("127.0.0.1", server.port), timeout=5) as sock:
                sock.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
                sock.settimeout(5)
                try:
                    self.assertNotIn(b"HTTP/1.1 200", sock.recv(1000))
                except OSError:
                    pass

    def test_X3_old_TLS_is_refused(self):
        cert, key = self.certificate()
        with Server("--tls-cert", cert, "--tls-key", key) as server:
            for version in ("-tls1", "-tls1_1"):
                out = subprocess.run(["openssl", "s_client", version, "-cipher", "ALL:@SECLEVEL=0", "-connect",
                                      f"127.0.0.1:{server.port}"], input=b"", capture_output=True, timeout=20)
                self.assertNotEqual(out.returncode, 0, version)
            for version in ("-tls1_2", "-tls1_3"):
                out = subprocess.run(["openssl", "s_client", version, "-connect", f"127.0.0.1:{server.port}"], input=b"",
                                     capture_output=True, timeout=20)
                self.assertEqual(out.returncode, 0, version)

    def run_and_fail(self, *flags):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([binary(), "serve", "--data", folder, *flags], capture_output=True, text=True, timeout=20)
        self.assertNotEqual(done.returncode, 0)
        self.assertTrue(done.stderr.strip(), "it must say why")
        return done.stderr

    def test_X3_a_public_address_needs_TLS_or_a_proxy(self):
        for address in ("0.0.0.0", "[::]", "192.0.2.7"):
            with self.subTest(address=address):
                words = self.run_and_fail("--listen", f"{address}:{free_port()}")
                self.assertIn("--behind-proxy", words)
                self.assertIn("--tls-cert", words)

    def test_bad_flags_say_so(self):
        for flags in (("--listen", "nonsense"), ("--listen", "127.0.0.1:99999"), ("--nonsense",),
                      ("--default-verdict", "maybe"), ("--tls-cert", "/nonexistent", "--tls-key", "/nonexistent",
                                                        "--listen", f"127.0.0.1:{free_port()}")):
            with self.subTest(flags=flags):
                self.run_and_fail(*flags)

    def test_P9_a_policy_file_and_flags_that_it_would_overrule_are_refused_together(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "policy.yaml"
            path.write_text("holdpoint: 1\npolicy: pages\ndefaults: {decision: require}\n")
            for flags in (("--require-tool", "pay"), ("--default-verdict", "allow"), ("--quorum", "2"), ("--timeout", "5m"),
                          ("--on-timeout", "approve"), ("--not-modifiable",)):
                with self.subTest(flags=flags):
                    words = self.run_and_fail("--policy", str(path), *flags)
                    self.assertIn(flags[0], words)
                    self.assertIn("--policy", words)
            config = pathlib.Path(folder) / "config.toml"
            config.write_text("[serve]\ntimeout = \"1h\"\n")
            self.assertIn("--timeout", self.run_and_fail("--policy", str(path), "--config", str(config)), "a config file is no other way")

    def test_a_port_in_use_is_said(self):
        with Server() as server:
            words = self.run_and_fail("--listen", f"127.0.0.1:{server.port}")
            self.assertIn(str(server.port), words)

    def test_X3_plain_http_cookies_are_for_this_host_too(self):
        with Server() as server:
            server.admin.post("/v1/users", {"name": "sid", "role": "approver", "password": "correct horse battery"})
            cookie = server.client().post("/v1/session", {"name": "sid", "password": "correct horse battery"}).headers["Set-Cookie"]
            self.assertTrue(cookie.startswith("holdpoint_session="))
            for part in ("HttpOnly", "SameSite=Strict", "Path=/"):
                self.assertIn(part, cookie)

    def test_the_pages_run_nothing_that_is_not_ours(self):
        with Server() as server:
            for path in ("/", "/sign-in", "/r/req_00000000000000000000000000"):
                headers = server.client().get(path).headers
                self.assertIn("default-src", headers["Content-Security-Policy"])
                self.assertNotIn("unsafe-inline", headers["Content-Security-Policy"])
                self.assertIn("frame-ancestors 'none'", headers["Content-Security-Policy"])
                self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
                self.assertEqual(headers["Referrer-Policy"], "no-referrer")


if __name__ == "__main__":
    unittest.main()

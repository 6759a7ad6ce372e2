"""The routes of older integrations keep working (W2): exact paths, exact field names, exact status codes."""
import json
import unittest

from harness import FastClient, Server, ServerTest, SPEC

PROMPT = "Refund order #1234"


class AliasTest(ServerTest):
    def refund(self, **more):
        """The agent's side of the example: refund 50,000 for order 1234."""
        return self.agent.propose("process_refund", {"orderId": "1234", "amount": 50000},
                                  context={"user_prompt": PROMPT}, **more)

    def test_W2_the_list_shows_pending_actions_oldest_first(self):
        session = self.fresh("session")
        first = self.refund(session=session)
        second = self.refund(session=session)
        answer = self.ann.get("/api/approvals")
        self.assertStatus(answer, 200)
        mine = [entry for entry in answer.json if entry["sessionId"] == session]
        self.assertEqual([entry["id"] for entry in mine], [first["id"], second["id"]])
        self.assertEqual(list(mine[0]), ["id", "toolName", "arguments", "requestedAt", "sessionId", "userPrompt"])
        self.assertEqual(mine[0], {"id": first["id"], "toolName": "process_refund",
                                   "arguments": {"orderId": "1234", "amount": 50000},
                                   "requestedAt": first["created_at"], "sessionId": session, "userPrompt": PROMPT})

    def test_W2_the_list_has_neither_settled_nor_other_kinds(self):
        session = self.fresh("session")
        settled = self.refund(session=session)
        self.ann.decide(settled)
        self.agent.propose(kind="confirmation", confirmation={"message": "Go on?"}, session=session)
        self.assertEqual([e for e in self.ann.get("/api/approvals").json if e["sessionId"] == session], [])

    def test_W2_approve_without_a_body_releases_the_original_arguments(self):
        request = self.refund()
        answer = self.ann.post(f"/api/approvals/{request['id']}/approve")
        self.assertStatus(answer, 200)
        self.assertEqual(list(answer.json), ["success", "message", "request"])
        self.assertIs(answer["success"], True)
        self.assertEqual(answer["request"]["outcome"], "approved")
        self.assertEqual(answer["request"]["release"]["arguments"], {"orderId": "1234", "amount": 50000})
        self.assertEqual(answer["request"]["decision"]["via"], "alias")
        self.assertEqual(answer["request"]["decision"]["by"], "ann")

    def test_W2_D8_a_browser_decides_where_it_can_say_what_it_saw(self):
        browser = self.server.person_with_session(self.fresh("cleo"))
        request = self.refund()
        for path, body in ((f"/api/approvals/{request['id']}/approve", {}), (f"/api/approvals/{request['id']}/reject", {"reason": "no"}),
                           ("/api/agent/approve", {"approvalId": request["id"], "approved": True})):
            answer = browser.post(path, body)
            self.assertStatus(answer, 403, "permission_denied")
            self.assertIn("/decision", answer.error["message"])
        self.assertEqual(self.agent.read(request)["state"], "pending")
        self.assertStatus(browser.get("/api/approvals"), 200)

    def test_W2_approve_with_an_empty_body_object_is_the_same(self):
        request = self.refund()
        self.assertEqual(self.ann.post(f"/api/approvals/{request['id']}/approve", {})["request"]["outcome"], "approved")

    def test_W2_approve_with_modified_arguments_runs_those(self):
        request = self.refund()
        answer = self.ann.post(f"/api/approvals/{request['id']}/approve",
                               {"modifiedArguments": {"orderId": "1234", "amount": 25000}})
        self.assertStatus(answer, 200)
        self.assertIs(answer["success"], True)
        heard = self.agent.read(request, wait=5)
        self.assertEqual(heard["outcome"], "modified")
        self.assertEqual(heard["release"]["arguments"], {"orderId": "1234", "amount": 25000})
        self.assertEqual(heard["proposed"], {"orderId": "1234", "amount": 50000})

    def test_W2_reject_with_the_reason_in_the_body(self):
        request = self.refund()
        answer = self.ann.post(f"/api/approvals/{request['id']}/reject", {"reason": "This order was already refunded"})
        self.assertStatus(answer, 200)
        self.assertIs(answer["success"], True)
        heard = self.agent.read(request, wait=5)
        self.assertEqual(heard["outcome"], "rejected")
        self.assertIn("This order was already refunded", heard["message_for_agent"])
        self.assertIsNone(heard["release"])

    def test_W2_reject_with_the_reason_in_the_query(self):
        request = self.refund()
        answer = self.ann.post(f"/api/approvals/{request['id']}/reject?reason=Duplicate%20refund")
        self.assertStatus(answer, 200)
        self.assertEqual(answer["request"]["decision"]["reason"], "Duplicate refund")
        plus = self.refund()
        answer = self.ann.post(f"/api/approvals/{plus['id']}/reject", query={"reason": "Duplicate refund"})
        self.assertEqual(answer["request"]["decision"]["reason"], "Duplicate refund")

    def test_W2_a_reason_in_both_places_is_refused(self):
        request = self.refund()
        answer = self.ann.post(f"/api/approvals/{request['id']}/reject?reason=a", {"reason": "b"})
        self.assertStatus(answer, 400, "invalid_argument", "reason")
        self.assertEqual(self.ann.read(request)["state"], "pending")

    def test_W2_agent_approve_takes_the_flag(self):
        for approved, outcome in ((True, "approved"), (False, "rejected")):
            request = self.refund()
            answer = self.ann.post("/api/agent/approve",
                                   {"approvalId": request["id"], "approved": approved, "reason": "because"})
            self.assertStatus(answer, 200)
            self.assertIs(answer["success"], True)
            self.assertEqual(answer["request"]["outcome"], outcome)
            self.assertEqual(answer["request"]["decision"]["via"], "alias")

    def test_W2_a_flag_that_is_no_boolean_decides_nothing(self):
        request = self.refund()
        for flag in ("true", 1, 0, None, [], {}):
            answer = self.ann.post("/api/agent/approve", {"approvalId": request["id"], "approved": flag})
            self.assertStatus(answer, 400, "invalid_argument", "approved")
        self.assertEqual(self.ann.read(request)["state"], "pending")

    def test_W2_pending_lists_with_the_names_of_the_store(self):
        thread, user = self.fresh("thread"), self.fresh("user")
        request = self.refund(thread=thread, user=user, metadata={"tool_call_id": "call-42"})
        answer = self.ann.get("/api/approvals/pending")  # the token is sent as a Bearer header
        entry, = [e for e in answer.json if e["threadId"] == thread]
        self.assertEqual(list(entry), ["approvalId", "threadId", "eventIdToWaitFor", "toolName", "toolInput", "toolCallId",
                                       "status", "createdAt", "expiresAt"])
        self.assertEqual(entry, {"approvalId": request["id"], "threadId": thread,
                                 "eventIdToWaitFor": f"approval-{request['id']}", "toolName": "process_refund",
                                 "toolInput": {"orderId": "1234", "amount": 50000}, "toolCallId": "call-42",
                                 "status": "pending", "createdAt": request["created_at"],
                                 "expiresAt": request["expires_at"]})

    def test_W2_pending_filters_by_thread_user_and_status(self):
        thread, user = self.fresh("thread"), self.fresh("user")
        ids = {"pending": self.refund(thread=thread, user=user)["id"]}
        for status, decision in (("approved", "approve"), ("denied", "reject")):
            ids[status] = self.refund(thread=thread, user=user)["id"]
            self.ann.decide(ids[status], decision)
        self.refund(thread=self.fresh("thread"))
        for status, id in ids.items():
            with self.subTest(status=status):
                for query in ({"threadId": thread, "status": status}, {"userId": user, "status": status}):
                    found = self.ann.get("/api/approvals/pending", query=query).json
                    self.assertEqual([(e["approvalId"], e["status"]) for e in found], [(id, status)])
        found = self.ann.get("/api/approvals/pending", query={"threadId": thread}).json
        self.assertEqual([e["approvalId"] for e in found], [ids["pending"]], "without a status: pending ones")

    def test_W2_of_too_many_that_wait_the_oldest_come_first_and_the_rest_follows(self):
        with Server("--decisions-per-key", "0") as server:
            agent, ann = server.actor("agent", "bot"), server.actor("approver", "ann")
            client = FastClient(server.host, server.port, agent.key)
            body = {"action": {"tool": "t", "arguments": {}}}
            made = [json.loads(text)["id"] for _, text in client.many([("POST", "/v1/requests", body, "")] * 1005)]
            client.close()
            self.assertEqual([entry["id"] for entry in ann.get("/api/approvals").json], made[:1000])
            for id in made[:10]:
                ann.decide(id)
            self.assertEqual([entry["approvalId"] for entry in ann.get("/api/approvals/pending").json], made[10:])

    def test_W2_a_few_that_were_denied_are_found_behind_many_that_were_approved(self):
        with Server("--default-verdict", "allow", "--require-tool", "held") as server:
            agent, ann = server.actor("agent", "bot"), server.actor("approver", "ann")
            denied = [agent.propose("held")["id"] for _ in range(2)]
            for id in denied:
                ann.decide(id, "reject")
            client = FastClient(server.host, server.port, agent.key)
            client.many([("POST", "/v1/requests", {"action": {"tool": "t", "arguments": {}}}, "")] * 1005)
            client.close()
            found = ann.get("/api/approvals/pending", query={"status": "denied"}).json
            self.assertEqual([entry["approvalId"] for entry in found], denied)
            self.assertEqual(len(ann.get("/api/approvals/pending", query={"status": "approved"}).json), 1000)

    def test_W2_the_list_is_bounded_in_bytes(self):
        with Server() as server:
            agent, ann = server.actor("agent", "bot"), server.actor("approver", "ann")
            large = {f"part{i}": "x" * 60000 for i in range(4)}
            made = [agent.propose("t", large)["id"] for _ in range(25)]
            answer = ann.get("/api/approvals")
            self.assertLess(len(answer.body), 5 << 20)
            found = [entry["id"] for entry in answer.json]
            self.assertTrue(10 <= len(found) < 25, len(found))
            self.assertEqual(found, made[:len(found)])

    def test_W2_agents_see_their_own_only(self):
        thread = self.fresh("thread")
        self.refund(thread=thread, session=thread)
        self.assertEqual(len(self.agent.get("/api/approvals/pending", query={"threadId": thread}).json), 1)
        self.assertEqual(self.other_agent.get("/api/approvals/pending", query={"threadId": thread}).json, [])
        self.assertNotIn(thread, [e["sessionId"] for e in self.other_agent.get("/api/approvals").json])

    def test_W2_second_decision_conflicts_with_the_one_that_stands(self):
        request = self.refund()
        self.assertStatus(self.ann.post(f"/api/approvals/{request['id']}/approve"), 200)
        for path, body in ((f"/api/approvals/{request['id']}/approve", None),
                           (f"/api/approvals/{request['id']}/reject", None),
                           ("/api/agent/approve", {"approvalId": request["id"], "approved": False})):
            answer = self.bob.post(path, body)
            self.assertStatus(answer, 409, "conflict")
            self.assertEqual(answer.error["request"]["decision"]["by"], "ann")

    def test_X1_an_agent_key_decides_nothing_here(self):
        request = self.refund()
        for path, body in ((f"/api/approvals/{request['id']}/approve", None),
                           (f"/api/approvals/{request['id']}/reject", None),
                           ("/api/agent/approve", {"approvalId": request["id"], "approved": True})):
            self.assertStatus(self.agent.post(path, body), 403, "permission_denied")
            self.assertStatus(self.server.client().post(path, body), 401, "unauthenticated")
        self.assertEqual(self.ann.read(request)["state"], "pending")

    def test_an_unknown_id_is_404(self):
        for path, body in (("/api/approvals/abc-123/approve", None), ("/api/approvals/abc-123/reject", None),
                           ("/api/agent/approve", {"approvalId": "abc-123", "approved": True})):
            self.assertStatus(self.ann.post(path, body), 404, "not_found")


if __name__ == "__main__":
    unittest.main()

"""What the inbox needs besides deciding: sessions, undo, who else looks, what can wait, what came before."""
import json
import subprocess
import threading
import time
import unittest

from harness import binary, EventReader, Server, ServerTest, eventually


def in_seconds(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(time.time() + seconds))


class SessionTest(ServerTest):
    def test_X1_sessions_are_listed_without_secrets_and_ended_at_once(self):
        first = self.server.person_with_session(self.fresh("ses"))
        name = first.get("/v1/me")["name"]
        second = self.server.sign_in(name, "correct horse battery")
        answer = first.get("/v1/sessions")
        sessions = answer["sessions"]
        self.assertEqual([s["name"] for s in sessions], [name, name])
        self.assertEqual([s["current"] for s in sessions], [False, True], "the newest comes first")
        for secret in (first.csrf, second.csrf, first.cookie.split("=")[1]):
            self.assertNotIn(secret.encode(), answer.body)
        reader = EventReader(second)
        ended = first.post(f"/v1/sessions/{sessions[0]['id']}/revoke")
        self.assertStatus(ended, 200)
        self.assertStatus(second.get("/v1/me"), 401)
        self.assertTrue(reader.closed.wait(10), "its stream is closed")
        self.assertStatus(first.get("/v1/me"), 200)
        self.assertStatus(first.post(f"/v1/sessions/{sessions[0]['id']}/revoke"), 404)
        self.assertStatus(first.post(f"/v1/sessions/{sessions[1]['id']}/revoke"), 200)
        self.assertStatus(first.get("/v1/me"), 401)

    def test_X1_a_session_that_was_ended_does_not_hear_what_it_waited_for(self):
        first = self.server.person_with_session(self.fresh("waits"))
        second = self.server.sign_in(first.get("/v1/me")["name"], "correct horse battery")
        request = self.agent.propose()
        answers = []
        waiter = threading.Thread(target=lambda: answers.append(second.get(f"/v1/requests/{request['id']}", query={"wait": 60})))
        before = self.admin.get("/v1/stats")["waiters"]
        waiter.start()
        eventually(lambda: self.admin.get("/v1/stats")["waiters"] == before + 1, "it waits")
        self.assertStatus(first.post(f"/v1/sessions/{first.get('/v1/sessions')['sessions'][0]['id']}/revoke"), 200)
        waiter.join(30)
        self.assertStatus(answers[0], 503)
        self.assertStatus(second.get("/v1/me"), 401)

    def test_X1_a_session_lasts_as_long_as_the_operator_says(self):
        with Server("--session-time", "2h") as server:
            name = server.person_with_session("ann").get("/v1/me")["name"]
            again = server.client(wanders=True).post("/v1/session", {"name": name, "password": "correct horse battery"})
            self.assertIn("Max-Age=7200", again.headers["Set-Cookie"])
        for wrong in ("4m", "31d", "soon"):
            refused = subprocess.run([binary(), "serve", "--data", "nowhere", "--session-time", wrong], capture_output=True, text=True, timeout=30)
            self.assertEqual(refused.returncode, 2)
            self.assertIn("--session-time", refused.stderr)

    def test_others_sessions_are_an_admins_business(self):
        person = self.server.person_with_session(self.fresh("own"))
        name = person.get("/v1/me")["name"]
        other = self.server.person_with_session(self.fresh("other"))
        id = person.get("/v1/sessions")["sessions"][0]["id"]
        self.assertStatus(other.get("/v1/sessions", query={"user": name}), 403)
        self.assertStatus(other.post(f"/v1/sessions/{id}/revoke"), 404)
        listed = self.admin.get("/v1/sessions", query={"user": name})["sessions"]
        self.assertEqual([s["id"] for s in listed], [id])
        self.assertEqual(self.admin.get("/v1/sessions")["sessions"], [], "a key is no session")
        self.assertStatus(self.admin.get("/v1/sessions", query={"user": "nobody"}), 404)
        self.assertStatus(self.admin.post(f"/v1/sessions/{id}/revoke"), 200)
        self.assertStatus(person.get("/v1/me"), 401)

    def test_a_link_that_nobody_used_is_no_session(self):
        person = self.server.person_with_session(self.fresh("link"))
        name = person.get("/v1/me")["name"]
        self.assertStatus(self.admin.post("/v1/links", {"name": name}), 201)
        self.assertEqual(len(person.get("/v1/sessions")["sessions"]), 1)

    def test_the_browser_is_named(self):
        self.admin.post("/v1/users", {"name": "uma", "role": "approver", "password": "correct horse battery"})
        answer = self.server.client().post("/v1/session", {"name": "uma", "password": "correct horse battery"},
                                           headers={"User-Agent": "Browser 1.0 (" + "x" * 400 + ")"})
        cookie = answer.headers["Set-Cookie"].split(";")[0]
        listed = self.server.client(cookie=cookie).get("/v1/sessions")["sessions"]
        self.assertTrue(listed[0]["user_agent"].startswith("Browser 1.0 (xxx"), listed)
        self.assertLessEqual(len(listed[0]["user_agent"].encode()), 300)


class UndoTest(ServerTest):
    def hold(self, person, request, decision="approve", undo_s=3, **more):
        answer = person.post(f"/v1/requests/{request['id']}/decision",
                             {"decision": decision, "digest": request["digest"], "undo_s": undo_s, **more})
        self.assertStatus(answer, 200)
        return answer.json

    def undo(self, person, request):
        return person.post(f"/v1/requests/{request['id']}/undo")

    def test_D8_a_held_decision_takes_effect_by_itself_and_wakes_who_waits(self):
        request = self.agent.propose()
        held = self.hold(self.ann, request, undo_s=1)
        self.assertEqual(held["state"], "pending")
        self.assertIsNone(held["release"])
        self.assertEqual([(h["decision"], h["by"]) for h in held["held"]], [("approve", "ann")])
        self.assertEqual(self.bob.get(f"/v1/requests/{request['id']}")["held"][0]["by"], "ann")
        settled = self.agent.read(request, wait=10)
        self.assertEqual(settled["outcome"], "approved")
        self.assertNotIn("held", settled)
        names = [event["type"] for event in self.admin.timeline(request)]
        self.assertEqual(names, ["approval-required", "decision-held", "request-settled"])

    def test_it_is_taken_back_by_its_author(self):
        request = self.agent.propose()
        reader = EventReader(self.bob)
        self.hold(self.ann, request, undo_s=30)
        self.assertStatus(self.undo(self.bob, request), 409)
        self.assertStatus(self.undo(self.agent, request), 403)
        taken = self.undo(self.ann, request)
        self.assertStatus(taken, 200)
        self.assertNotIn("held", taken.json)
        self.assertStatus(self.undo(self.ann, request), 409)
        reader.until("decision-held", request["id"])
        reader.until("decision-undone", request["id"])
        reader.close()
        self.assertEqual(reader.problems, [])
        self.assertEqual(self.bob.decide(request)["outcome"], "approved")

    def test_a_second_person_stops_it_meanwhile(self):
        request = self.agent.propose()
        self.hold(self.ann, request, undo_s=30)
        self.assertEqual(self.bob.decide(request, "reject", reason="no")["outcome"], "rejected")
        conflict = self.undo(self.ann, request)
        self.assertStatus(conflict, 409)
        self.assertEqual(conflict.error["request"]["decision"]["by"], "bob")

    def test_the_same_twice_is_a_conflict_and_without_undo_it_is_now(self):
        request = self.agent.propose()
        self.hold(self.ann, request, undo_s=30)
        again = self.ann.post(f"/v1/requests/{request['id']}/decision", {"decision": "approve", "undo_s": 30})
        self.assertStatus(again, 409)
        self.assertEqual(self.ann.decide(request)["outcome"], "approved")

    def test_limits(self):
        request = self.agent.propose()
        path = f"/v1/requests/{request['id']}/decision"
        for wrong in (0, 31, 1.5, "5", -1):
            self.assertStatus(self.ann.post(path, {"decision": "approve", "undo_s": wrong}), 400, "invalid_argument", "undo_s")
        for most_s in (3, 0):
            with Server("--undo-max", f"{most_s}s") as server:
                agent, ann = server.actor("agent", "bot"), server.actor("approver", "ann")
                held = agent.propose()
                answer = ann.post(f"/v1/requests/{held['id']}/decision", {"decision": "approve", "undo_s": 4})
                self.assertStatus(answer, 422, "refused", "undo_s")
                browser = server.person_with_session("cleo")
                self.assertEqual(browser.get("/v1/session")["undo_max_s"], most_s, "a page can ask for what is held")
                if most_s:
                    self.hold(browser, held, undo_s=most_s)

    def test_many_at_once_are_held_each_alone(self):
        requests = [self.agent.propose() for _ in range(3)]
        answer = self.ann.post("/v1/decisions", {"decisions": [
            {"id": r["id"], "decision": "approve", "undo_s": 30} for r in requests]})
        self.assertEqual([r["request"]["state"] for r in answer["results"]], ["pending"] * 3)
        self.assertStatus(self.undo(self.ann, requests[1]), 200)
        self.assertNotIn("held", self.admin.read(requests[1]))
        self.assertIn("held", self.admin.read(requests[0]))

    def test_too_close_to_the_deadline_it_is_not_held(self):
        request = self.agent.propose(timeout_s=2)
        self.assertEqual(self.hold(self.ann, request, undo_s=30)["outcome"], "approved")

    def test_S1_it_takes_effect_after_a_restart_and_after_a_kill(self):
        with Server() as server:
            agent, ann = server.actor("agent", "bot"), server.actor("approver", "ann")
            for end in (server.stop, server.kill):
                request = agent.propose()
                self.hold(ann, request, undo_s=3)
                end()
                server.start()
                self.assertEqual(agent.read(request, wait=15)["outcome"], "approved")
            request = agent.propose()
            self.hold(ann, request, undo_s=30)
            server.kill()
            server.start()
            self.assertStatus(self.undo(ann, request), 200)
            self.assertEqual(agent.read(request)["state"], "pending")

    def test_T4_an_approval_that_the_server_slept_over_releases_nothing(self):
        with Server() as server:
            agent, ann = server.actor("agent", "bot"), server.actor("approver", "ann")
            approved, rejected = agent.propose(timeout_s=5), agent.propose(timeout_s=5)
            self.hold(ann, approved, undo_s=2)
            self.hold(ann, rejected, "reject", undo_s=2, reason="no")
            server.kill()
            time.sleep(5.5)
            server.start()
            self.assertEqual(agent.read(approved, wait=5)["outcome"], "expired")
            self.assertEqual(agent.read(rejected, wait=5)["outcome"], "rejected")


class LookTest(ServerTest):
    def test_people_see_who_else_looks_and_agents_do_not(self):
        request = self.agent.propose(session=self.fresh("look"))
        path = f"/v1/requests/{request['id']}"
        people, agent = EventReader(self.bob, checked=False), EventReader(self.agent, checked=False)
        seen = self.ann.post(path + "/presence")
        self.assertStatus(seen, 200)
        self.assertEqual([v["name"] for v in seen["viewers"]], ["ann"])
        told = people.next()
        while told["event"] != "presence":
            told = people.next()
        self.assertIsNone(told["id"])
        self.assertEqual(told["data"]["request"], request["id"])
        self.assertEqual([v["name"] for v in self.bob.get(path)["viewers"]], ["ann"])
        listed = next(r for r in self.bob.list(session=request["session"]) if r["id"] == request["id"])
        self.assertEqual([v["name"] for v in listed["viewers"]], ["ann"])
        self.assertNotIn("viewers", self.agent.read(request))
        self.assertEqual(self.ann.post(path + "/presence", {"looking": False})["viewers"], [])
        self.assertNotIn("viewers", self.bob.get(path).json)
        self.assertStatus(self.agent.post(path + "/presence"), 403)
        people.close()
        agent.close()
        self.assertNotIn("presence", [e["event"] for e in agent.events])

    def test_who_is_not_heard_of_is_forgotten(self):
        request = self.agent.propose()
        path = f"/v1/requests/{request['id']}"
        reader = EventReader(self.bob, checked=False)
        self.ann.post(path + "/presence")
        eventually(lambda: "viewers" not in self.bob.get(path).json, "forgotten after twenty seconds", timeout_s=40, every_s=0.5)
        eventually(lambda: [e for e in reader.events if e["event"] == "presence" and e["data"]["viewers"] == []],
                   "and others were told", timeout_s=10)
        reader.close()

    def test_what_one_person_puts_off_others_still_see(self):
        session = self.fresh("snooze")
        first, second = self.agent.propose(session=session), self.agent.propose(session=session)
        later = in_seconds(3600)
        put_off = self.ann.post(f"/v1/requests/{first['id']}/snooze", {"until": later})
        self.assertStatus(put_off, 200)
        self.assertEqual(put_off["snoozed_until"], later)
        ids = lambda who, **more: [r["id"] for r in who.list(session=session, **more)]
        self.assertEqual(ids(self.ann, snoozed="false"), [second["id"]])
        self.assertEqual(ids(self.ann, snoozed="true"), [first["id"]])
        self.assertEqual(ids(self.ann), [second["id"], first["id"]])
        self.assertEqual(ids(self.ann, snoozed="false", state="pending"), [second["id"]])
        self.assertEqual(ids(self.ann, snoozed="true", state="settled"), [])
        self.assertEqual(ids(self.bob, snoozed="false"), [second["id"], first["id"]])
        self.assertEqual(self.ann.read(first)["snoozed_until"], later)
        self.assertNotIn("snoozed_until", self.bob.read(first))
        self.assertEqual(self.admin.read(first)["expires_at"], first["expires_at"])
        self.assertStatus(self.ann.post(f"/v1/requests/{first['id']}/snooze", {"until": None}), 200)
        self.assertEqual(ids(self.ann, snoozed="true"), [])
        self.assertStatus(self.agent.get("/v1/requests", query={"snoozed": "true"}), 400, "invalid_argument", "snoozed")

    def test_a_snooze_ends_by_itself_and_outlives_a_restart(self):
        with Server() as server:
            agent, ann = server.actor("agent", "bot"), server.actor("approver", "ann")
            soon, later = agent.propose(), agent.propose()
            self.assertStatus(ann.post(f"/v1/requests/{soon['id']}/snooze", {"until": in_seconds(3)}), 200)
            self.assertStatus(ann.post(f"/v1/requests/{later['id']}/snooze", {"until": in_seconds(600)}), 200)
            server.restart()
            self.assertIn("snoozed_until", ann.read(later))
            eventually(lambda: [r["id"] for r in ann.list(snoozed="false")] == [soon["id"]], "it came back")

    def test_what_is_no_snooze_is_refused(self):
        request = self.agent.propose()
        path = f"/v1/requests/{request['id']}/snooze"
        self.assertStatus(self.ann.post(path, {"until": in_seconds(-5)}), 422, "refused", "until")
        self.assertStatus(self.ann.post(path, {"until": in_seconds(40 * 86400)}), 422, "refused", "until")
        for wrong in ("tomorrow", 5, True):
            self.assertStatus(self.ann.post(path, {"until": wrong}), 400, "invalid_argument", "until")
        self.assertStatus(self.ann.post(path, {}), 400, "invalid_argument", "until")
        self.ann.decide(request)
        self.assertStatus(self.ann.post(path, {"until": in_seconds(60)}), 409)

    def test_U1_what_the_agent_asked_before_is_shown_with_its_end(self):
        tool = self.fresh("tool")
        first = self.agent.propose(tool=tool, arguments={"amount": 1})
        self.ann.decide(first)
        second = self.agent.propose(tool=tool, arguments={"amount": 2})
        self.ann.decide(second, "reject", reason="no")
        self.other_agent.propose(tool=tool, arguments={"amount": 3})
        self.agent.propose(tool=self.fresh("other"))
        now = self.agent.propose(tool=tool, arguments={"amount": 4})
        similar = self.ann.get(f"/v1/requests/{now['id']}/similar")["similar"]
        self.assertEqual([(s["id"], s["outcome"], s["by"], s["arguments"]) for s in similar],
                         [(second["id"], "rejected", "ann", {"amount": 2}), (first["id"], "approved", "ann", {"amount": 1})])
        self.assertEqual(self.ann.get(f"/v1/requests/{first['id']}/similar")["similar"], [])
        self.assertStatus(self.agent.get(f"/v1/requests/{now['id']}/similar"), 403)


if __name__ == "__main__":
    unittest.main()

"""Limits on callers, the master switch, and the lists of tools that flags name."""
import pathlib
import tempfile
import unittest

from harness import SUBJECTS, Server, eventually


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

    def test_X4_every_decision_of_a_call_with_many_is_counted(self):
        with Server("--decisions-per-key", "0.5") as server:
            agent, ann = server.actor("agent", "a"), server.actor("approver", "ann")
            made = [agent.propose() for _ in range(12)]
            many = [{"id": request["id"], "decision": "approve"} for request in made[:10]]
            answer = ann.post("/v1/decisions", {"decisions": many})
            self.assertEqual([result["status"] for result in answer["results"]], [200] * 10, "a call is taken as a whole")
            refused = ann.post("/v1/decisions", {"decisions": [{"id": made[-1]["id"], "decision": "approve"}]})
            self.assertEqual((refused.status, refused.error["code"]), (429, "rate_limited"))
            self.assertGreaterEqual(int(refused.headers["Retry-After"]), 5, "ten were made where five may come at once")
            self.assertEqual(agent.read(made[-1])["state"], "pending")

    def test_X4_guesses_at_messages_count_for_the_whole_network_they_come_from(self):
        with Server("--behind-proxy") as server:
            def guess(address):
                return server.client().post("/v1/push/decision", {"token": "x", "decision": "approve"},
                                            headers={"X-Forwarded-For": address, "X-Forwarded-Proto": "https"}).status
            statuses = [guess(f"2001:db8:1:2::{i}") for i in range(1, 31)]
            self.assertEqual((statuses[0], statuses[-1]), (403, 429), "one guesser has more addresses than can be counted")
            self.assertEqual(guess("2001:db8:1:3::1"), 403, "another network is not blocked")

    def test_X4_whoever_guesses_at_sign_in_gets_no_challenge_either_from_their_network(self):
        with Server("--behind-proxy", "--base-url", "https://holdpoint.example.com") as server:
            def send(path, address, body=None):
                headers = {"X-Forwarded-For": address, "X-Forwarded-Proto": "https"}
                return server.client().post(path, body, headers=headers).status
            statuses = [send("/v1/session", f"2001:db8:1:2::{i}", {"link": "wrong"}) for i in range(1, 31)]
            self.assertEqual((statuses[0], statuses[-1]), (401, 429))
            self.assertEqual(send("/v1/session/options", "2001:db8:1:2::77"), 429)
            self.assertEqual(send("/v1/session/options", "2001:db8:1:3::1"), 200, "another network is not blocked")

    def test_X4_a_port_behind_the_address_makes_no_other_address(self):
        with Server("--behind-proxy") as server:
            def wrong(address):
                return server.client("hp_agent_" + "A" * 43).get("/v1/me", headers={"X-Forwarded-For": address}).status
            statuses = [wrong(f"198.51.100.7:{1000 + i}") for i in range(40)]
            self.assertEqual((statuses[0], statuses[-1]), (401, 429))
            self.assertEqual(wrong("198.51.100.7"), 429)
            statuses = [wrong(f"[2001:db8::7]:{1000 + i}") for i in range(40)]
            self.assertEqual((statuses[0], statuses[-1]), (401, 429))
            self.assertEqual(wrong("198.51.100.8:1"), 401, "another address is another")

    def test_X4_calls_without_a_credential_count_for_their_address(self):
        calls = {"options": ("POST", "/v1/session/options"), "spec": ("GET", "/openapi.json"), "nowhere": ("GET", "/v1/nothing"),
                 "method": ("DELETE", "/v1/me"), "sign in": ("POST", "/v1/session"), "query": ("GET", "/v1/requests?a=%zz"),
                 "useless key": ("POST", "/v1/requests/x/undo", None, {"Idempotency-Key": "k"})}
        for name, call in calls.items():
            with self.subTest(name), Server("--rate-per-address", "5") as server:
                client = server.client(checked=False)
                statuses = [client.call(*call).status for _ in range(30)]
                self.assertNotEqual(statuses[0], 429)
                self.assertIn(429, statuses)
                for free in ("/healthz", "/readyz", "/metrics", "/", *server.assets()):
                    self.assertEqual([client.get(free).status for _ in range(3)], [200] * 3, free)

    def test_X4_what_a_page_asks_while_a_person_reads_does_not_use_up_their_decisions(self):
        with Server() as server:
            agent = server.actor("agent", "bot")
            ann = server.person_with_session("ann")
            request = agent.propose()
            for _ in range(100):
                self.assertEqual(ann.post("/v1/policy/explain", {"call": {"tool": "t"}}).status, 200)
                self.assertEqual(ann.post(f"/v1/requests/{request['id']}/presence", {"looking": True}).status, 200)
            self.assertEqual(ann.decide(request, digest=request["digest"])["outcome"], "approved")
            for _ in range(1000):
                later = agent.propose()
                answer = ann.post(f"/v1/requests/{later['id']}/decision", {"decision": "approve", "digest": later["digest"]})
                if answer.status != 200:
                    break
            self.assertEqual(answer.status, 429, "nobody decides that fast by hand")
            self.assertEqual(agent.read(later)["state"], "pending")

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


if __name__ == "__main__":
    unittest.main()

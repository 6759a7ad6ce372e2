"""Server-sent events (H7): order, filters, resuming, heartbeat, who sees what."""
import json
import pathlib
import socket
import tempfile
import threading
import time
import unittest

from harness import EventReader, FastClient, Server, ServerTest, eventually


class EventTest(ServerTest):
    def follow(self, client=None, query=None, **more):
        reader = EventReader(client or self.ann, query, **more)
        self.addCleanup(reader.close)
        return reader

    def test_H7_a_life_is_told_in_order(self):
        session = self.fresh("life")
        reader = self.follow(query={"session": session})
        request = self.agent.propose(session=session, requirement={"lines": [{"quorum": 2}]})
        self.ann.post(f"/v1/requests/{request['id']}/extend", {"seconds": 5})
        self.ann.decide(request)
        self.bob.decide(request)
        self.agent.post(f"/v1/requests/{request['id']}/report", {"success": True, "result": {"refundId": "r-77"}})
        events = reader.until("tool-result")
        self.assertEqual([e["event"] for e in events],
                         ["approval-required", "request-extended", "decision-recorded", "request-settled", "tool-result"])
        self.assertEqual([e["data"]["actor"] for e in events], ["billing-bot", "ann", "ann", "bob", "billing-bot"])
        sequence = [int(e["id"]) for e in events]
        self.assertEqual(sequence, sorted(set(sequence)))
        timeline = self.ann.timeline(request)
        self.assertEqual([(e["seq"], e["type"]) for e in timeline], [(int(e["id"]), e["event"]) for e in events])
        self.assertEqual(timeline, [{name: e["data"][name] for name in timeline[0]} for e in events],
                         "the stream tells as much of each as the timeline")
        self.assertEqual(reader.retry, 2000)

    def test_H7_approval_required_carries_the_older_names(self):
        session = self.fresh("older")
        reader = self.follow(query={"session": session})
        request = self.agent.propose("publishPost", {"id": 7}, session=session)
        data = reader.next()["data"]
        self.assertEqual(data["approvalId"], request["id"])
        self.assertEqual(data["toolName"], "publishPost")
        self.assertEqual(data["input"], {"id": 7})
        self.assertEqual(data["message"], request["headline"])
        self.assertEqual(data["request"], request)
        self.ann.decide(request)
        self.agent.post(f"/v1/requests/{request['id']}/report", {"success": False, "error": "no such post"})
        result = reader.until("tool-result")[-1]["data"]
        self.assertEqual(result["toolName"], "publishPost")
        self.assertIs(result["result"]["success"], False)
        self.assertEqual(result["result"]["error"], "no such post")

    def test_H7_without_a_last_id_only_what_is_new(self):
        session = self.fresh("new")
        self.agent.propose(session=session)
        reader = self.follow(query={"session": session})
        second = self.agent.propose(session=session)
        self.assertEqual(reader.next()["data"]["request"]["id"], second["id"])

    def test_H7_filters_let_through_only_what_fits(self):
        session = self.fresh("filter")
        readers = {name: self.follow(query={"session": session, **query}) for name, query in {
            "tool": {"tool": "b"}, "risk": {"risk": "high"}, "kind": {"kind": "input"}, "agent": {"agent": "mail-bot"},
            "thread": {"thread": "t2"}, "user": {"user": "u2"}, "all": {}}.items()}
        made = {
            "tool": self.agent.propose("b", session=session),
            "risk": self.agent.propose("a", session=session, risk="high"),
            "kind": self.agent.propose(session=session, kind="input", input={"question": "?", "type": "text"}),
            "agent": self.other_agent.propose("a", session=session),
            "thread": self.agent.propose("a", session=session, thread="t2"),
            "user": self.agent.propose("a", session=session, user="u2"),
        }
        last = self.agent.propose("b", session=session, risk="high", thread="t2", user="u2")
        for name, request in made.items():
            with self.subTest(filter=name):
                self.assertEqual(readers[name].next()["data"]["request"]["id"], request["id"])
        for name in ("tool", "risk", "thread", "user"):
            self.assertEqual(readers[name].next()["data"]["request"]["id"], last["id"])
        self.assertEqual([readers["all"].next()["data"]["request"]["id"] for _ in range(7)],
                         [r["id"] for r in made.values()] + [last["id"]])
        for name in ("kind", "agent"):
            self.assertEqual(len(readers[name].events), 1)

    def test_H7_since_and_until_count_from_when_it_was_asked(self):
        session = self.fresh("time")
        old = self.agent.propose(session=session)
        start = self.ann.timeline(old)[0]["seq"] - 1
        time.sleep(0.002)  # times are of milliseconds
        new = self.agent.propose(session=session)
        since = self.follow(query={"session": session, "since": new["created_at"]}, last_event_id=start)
        until = self.follow(query={"session": session, "until": new["created_at"]}, last_event_id=start)
        for request in (old, new):
            self.ann.decide(request)
        self.assertEqual([since.next()["data"]["request"]["id"] for _ in range(2)], [new["id"]] * 2)
        self.assertEqual([until.next()["data"]["request"]["id"] for _ in range(2)], [old["id"]] * 2)
        answer = self.ann.get("/v1/events", query={"since": "yesterday"})
        self.assertStatus(answer, 400, "invalid_argument", "since")

    def test_X1_agents_see_their_own_requests_only(self):
        session = self.fresh("own")
        mine, others = self.follow(self.agent, {"session": session}), self.follow(self.other_agent, {"session": session})
        a = self.agent.propose(session=session)
        b = self.other_agent.propose(session=session)
        self.assertEqual(mine.next()["data"]["request"]["id"], a["id"])
        self.assertEqual(others.next()["data"]["request"]["id"], b["id"])
        for decided in (a, b):
            self.ann.decide(decided)
        self.assertEqual(mine.next()["data"]["request"]["id"], a["id"])
        self.assertEqual(others.next()["data"]["request"]["id"], b["id"])
        self.assertEqual((len(mine.events), len(others.events)), (2, 2))

    def test_X1_an_agent_that_resumes_from_a_foreign_id_sees_its_own_only(self):
        session = self.fresh("foreign")
        self.other_agent.propose(session=session)
        a = self.agent.propose(session=session)
        reader = self.follow(self.agent, last_event_id=0)
        seen = reader.until("approval-required", a["id"])
        self.assertEqual({e["data"]["request"]["agent"] for e in seen}, {"billing-bot"})

    def test_H7_header_and_query_resume_alike(self):
        session = self.fresh("resume")
        ids = [self.agent.propose(session=session)["id"] for _ in range(5)]
        first = self.ann.timeline(ids[0])[0]["seq"]
        by_header = self.follow(query={"session": session}, last_event_id=first)
        by_query = self.follow(query={"session": session, "last_event_id": first})
        for reader in (by_header, by_query):
            self.assertEqual([reader.next()["data"]["request"]["id"] for _ in range(4)], ids[1:])

    def test_H7_resuming_far_back_while_new_events_come_loses_and_doubles_nothing(self):
        session = self.fresh("catch-up")
        client = FastClient(self.server.host, self.server.port, self.agent.key)
        body = {"action": {"tool": "t"}, "session": session}
        made = [json.loads(b)["id"] for _, b in client.many([("POST", "/v1/requests", body, "")] * 1000)]
        start = self.ann.timeline(made[0])[0]["seq"] - 1
        stop = threading.Event()
        later = []

        def propose_on():
            while not stop.is_set():
                later.append(json.loads(client.call("POST", "/v1/requests", body)[1])["id"])

        thread = threading.Thread(target=propose_on)
        thread.start()
        try:
            reader = self.follow(query={"session": session}, last_event_id=start)
            eventually(lambda: len(reader.events) >= 1200, "caught up and went on", timeout_s=60)
        finally:
            stop.set()
            thread.join()
        wanted = made + later
        eventually(lambda: len(reader.events) >= len(wanted), "the last ones")
        self.assertEqual([e["data"]["request"]["id"] for e in reader.events], wanted)
        self.assertEqual(reader.problems, [])

    def test_a_last_id_from_the_future_or_no_number_is_refused_or_waits(self):
        for bad in ("abc", "-1", "1.5", "99999999999999999999999", "1 2"):
            with self.subTest(id=bad):
                self.assertStatus(self.ann.get("/v1/events", headers={"Last-Event-ID": bad}), 400, "invalid_argument")

    def test_a_last_id_that_is_sent_twice_is_refused(self):
        with socket.create_connection((self.server.host, self.server.port), 10) as sock:
            sock.sendall(f"GET /v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.ann.key}\r\n"
                         "Last-Event-ID: 1\r\nLast-Event-ID: 2\r\n\r\n".encode())
            told = sock.recv(65536)
        self.assertIn(b"400", told.splitlines()[0])
        self.assertIn(b'"field":"Last-Event-ID"', told)

    def test_the_header_counts_where_the_address_says_another_event(self):
        """A browser that reconnects by itself repeats the address it began with."""
        session = self.fresh("both")
        agent_events = self.agent.propose(session=session)
        seqs = [event["seq"] for event in self.ann.timeline(agent_events)]
        reader = self.follow(query={"session": session, "last_event_id": 0}, last_event_id=seqs[0])
        self.ann.decide(agent_events)
        self.assertGreater(int(reader.next()["id"]), seqs[0])

    def test_H7_a_stream_of_a_revoked_key_ends(self):
        key = self.server.new_key("approver", self.fresh("revoked"))
        reader = self.follow(self.server.client(key["key"]))
        self.admin.post(f"/v1/keys/{key['id']}/revoke")
        self.assertTrue(reader.closed.wait(10), "the stream is still open")

    def test_a_slow_reader_holds_nobody_up_and_is_cut_off(self):
        session = self.fresh("slow")
        eventually(lambda: self.admin.get("/v1/stats")["streams"] == 0, "those of other tests are gone")
        sock = socket.create_connection((self.server.host, self.server.port))
        self.addCleanup(sock.close)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.sendall(f"GET /v1/events?session={session} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.ann.key}\r\n\r\n".encode())
        self.assertIn(b"200", sock.recv(200))
        quick = self.follow(query={"session": session}, checked=False)
        client = FastClient(self.server.host, self.server.port, self.agent.key)
        body = {"action": {"tool": "t", "arguments": {"pad": "x" * 30000}}, "session": session}
        count = 300  # three times 30 kB each: far beyond what the server may keep for one reader
        answers = client.many([("POST", "/v1/requests", body, "")] * count)
        self.assertEqual({status for status, _ in answers}, {201})
        eventually(lambda: len(quick.events) >= count, "the quick reader has everything", timeout_s=60)

        # Not by reading to the end: through that small a window it would take minutes.
        eventually(lambda: self.admin.get("/v1/stats")["streams"] == 1, "the slow reader is cut off", timeout_s=60)
        self.assertStatus(self.server.client().get("/healthz"), 200)

    def test_H7_S1_whoever_was_away_gets_more_than_the_server_keeps_for_a_reader_piece_by_piece(self):
        session = self.fresh("large")
        seen = self.ann.timeline(self.agent.propose(session=session))[-1]["seq"]
        # They stand twice in an event: 7 MB in all, where 1 MiB may wait for a reader.
        pad = {f"pad{i}": "x" * 60_000 for i in range(3)}
        made = [self.agent.propose(arguments={**pad, "n": i}, session=session)["id"] for i in range(20)]
        reader = self.follow(query={"session": session}, last_event_id=seen)
        late = self.agent.propose(arguments=pad, session=session)
        self.assertEqual([reader.next()["data"]["request"]["id"] for _ in range(21)], [*made, late["id"]])
        eventually(lambda: reader.beats, "it is told that this was all", timeout_s=10)

        # One event that is larger than what may wait: the arguments stand in it five times.
        self.ann.decide(late, "modify", arguments={name: "y" * 60_000 for name in [*pad, "more"]})
        self.assertEqual(reader.next()["event"], "request-settled")
        self.assertFalse(reader.closed.is_set())

        # And as the last one of what was missed, for somebody who takes it slowly.
        before = self.ann.timeline(late)[-2]["seq"]
        sock = socket.socket()
        self.addCleanup(sock.close)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.connect((self.server.host, self.server.port))
        sock.settimeout(30)
        sock.sendall(f"GET /v1/events?session={session} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.ann.key}\r\n"
                     f"Last-Event-ID: {before}\r\n\r\n".encode())
        time.sleep(0.5)  # the server has sent what the small window takes
        told = b""
        while b"event: beat" not in told[-200:]:
            part = sock.recv(65536)
            self.assertTrue(part, f"cut off after {len(told)} bytes")
            told += part
        self.assertIn(b"event: request-settled", told)
        self.assertGreater(len(told), 1 << 20)

    def test_S5_streams_are_counted_and_forgotten(self):
        eventually(lambda: self.admin.get("/v1/stats")["streams"] == 0, "those of other tests are gone")
        readers = [EventReader(self.ann) for _ in range(5)]
        eventually(lambda: self.admin.get("/v1/stats")["streams"] == 5, "five more streams")
        for reader in readers:
            reader.close()
        eventually(lambda: self.admin.get("/v1/stats")["streams"] == 0, "the streams are forgotten")


# What a person changes can raise the risk.
RAISING = """holdpoint: 1
policy: pages
defaults: {decision: require}
tools: {publish: {risk: low}}
rules:
  - {id: wide, tools: [publish], when: "args.n > 10", then: require, risk: high}
"""


class FilteredReplayTest(unittest.TestCase):
    def test_H7_a_filter_gives_the_same_events_live_and_later(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "policy.yaml"
            path.write_text(RAISING)
            with Server("--policy", str(path)) as server:
                self.check(server)

    def check(self, server):
        agent, ann, bob = server.actor("agent", "bot"), server.actor("approver", "ann"), server.actor("approver", "bob")
        filters = [{}, {"state": "pending"}, {"state": "settled"}, {"state": "pending", "outcome": "approved"}, {"tool": "publish"},
                   *({"outcome": word} for word in ("approved", "modified", "rejected", "cancelled", "denied")),
                   *({"risk": word} for word in ("low", "medium", "high", "critical")),
                   {"state": "pending", "risk": "low"}, {"outcome": "modified", "risk": "high"}]
        live = [EventReader(ann, query) for query in filters]
        two = {"lines": [{"quorum": 2}]}
        approved, rejected, cancelled = (agent.propose("publish", {"n": n}, requirement=two) for n in (1, 2, 30))
        raised = agent.propose("publish", {"n": 3}, requirement=two)
        self.assertEqual(raised["risk"]["level"], "low")
        for person in (ann, bob):
            person.decide(approved)
        agent.post(f"/v1/requests/{approved['id']}/report", {"success": True})
        ann.decide(rejected, "reject")
        agent.post(f"/v1/requests/{cancelled['id']}/cancel")
        changed = ann.decide(raised, "modify", arguments={"n": 40})
        self.assertEqual(changed["risk"]["level"], "high")
        self.assertEqual(bob.decide(raised, digest=changed["digest"])["outcome"], "modified")
        last = live[0].until("request-settled", raised["id"])[-1]

        told = {}
        for query, reader in zip(filters, live):
            with self.subTest(filter=query):
                later = EventReader(ann, query, last_event_id=0)
                eventually(lambda: later.beats, "everything has been told")
                ids = [event["id"] for event in later.events]
                # Its own last one has come, so the others before it have.
                eventually(lambda: len(reader.events) >= len(ids), "what was told live")
                self.assertEqual([event["id"] for event in reader.events], ids)
                told[json.dumps(query)] = [(event["event"], event["data"]["request"]["id"]) for event in later.events]
                for one in (later, reader):
                    one.close()
        self.assertIn(("approval-required", rejected["id"]), told['{"state": "pending"}'], "it was pending then")
        self.assertEqual(told['{"outcome": "rejected"}'], [("request-settled", rejected["id"])])
        self.assertEqual(told['{"outcome": "approved"}'], [("request-settled", approved["id"]), ("tool-result", approved["id"])])
        self.assertEqual(told['{"state": "pending", "outcome": "approved"}'], [])
        self.assertIn(("approval-required", raised["id"]), told['{"risk": "low"}'])
        self.assertEqual(told['{"outcome": "modified", "risk": "high"}'], [("request-settled", raised["id"])])
        self.assertEqual(told["{}"][-1], (last["event"], raised["id"]))


class StreamLifeTest(unittest.TestCase):
    def test_H7_a_heartbeat_comes_within_its_time(self):
        with Server() as server:
            reader = EventReader(server.actor("approver", "ann"))
            started = time.monotonic()
            eventually(lambda: reader.beats, "a beat", timeout_s=25)
            self.assertLess(time.monotonic() - started, 20)
            reader.close()

    def test_H7_a_beat_says_that_everything_before_has_been_told(self):
        with Server() as server:
            agent, ann = server.actor("agent", "bot"), server.actor("approver", "ann")
            for _ in range(300):  # more than one page of the store
                agent.propose()
            reader = EventReader(ann, last_event_id=0)
            eventually(lambda: reader.beats, "the beat behind what is stored", timeout_s=10)
            self.assertEqual(reader.beats, [300])
            later = agent.propose()
            self.assertEqual(reader.until("approval-required", later["id"])[-1]["id"], "301")
            reader.close()

    def test_H7_a_graceful_stop_says_reconnect(self):
        with Server() as server:
            reader = EventReader(server.actor("approver", "ann"))
            agent = server.actor("agent", "bot")
            request = agent.propose()
            reader.until("approval-required", request["id"])
            self.assertEqual(server.stop(), 0)
            self.assertTrue(reader.closed.wait(5))
            self.assertEqual(reader.events[-1]["event"], "reconnect")
            self.assertEqual(reader.events[-1]["data"], {})
            reader.close()

    def test_H7_nothing_is_lost_or_doubled_across_restarts(self):
        """A reader that reconnects with its last id sees every event once, whether the server stopped or was killed."""
        with Server() as server:
            agent_key, ann_key = server.actor("agent", "bot").key, server.actor("approver", "ann").key
            done = threading.Event()
            made = []

            def work():
                client = FastClient(server.host, server.port, agent_key, timeout_s=5)
                person = FastClient(server.host, server.port, ann_key, timeout_s=5)
                n = 0
                while not done.is_set():
                    n += 1
                    try:
                        status, body = client.call("POST", "/v1/requests", {"action": {"tool": "t"}},
                                                   f"Idempotency-Key: k{n}\r\n")
                        assert status in (200, 201), body
                        id = json.loads(body)["id"]
                        status, body = person.call("POST", f"/v1/requests/{id}/decision", {"decision": "approve"},
                                                   f"Idempotency-Key: d{n}\r\n")
                        assert status == 200, body
                        made.append(id)
                    except OSError:
                        client.close()
                        person.close()
                        n -= 1  # the same key again: it may have been done already
                        time.sleep(0.01)

            thread = threading.Thread(target=work)
            thread.start()
            events = []
            try:
                for cycle in range(6):
                    last = events[-1]["id"] if events else "0"
                    reader = EventReader(server.client(ann_key), last_event_id=last)
                    eventually(lambda: len(reader.events) >= 40, "some events")
                    if cycle % 2:
                        server.kill()
                    else:
                        server.stop()
                    reader.closed.wait(10)
                    events += [e for e in reader.events if e["event"] != "reconnect"]
                    reader.close()
                    server.start()
            finally:
                done.set()
                thread.join()
            reader = EventReader(server.client(ann_key), last_event_id=events[-1]["id"])
            eventually(lambda: [e for e in reader.events + events if e["data"]["request"]["id"] == made[-1]
                                and e["event"] == "request-settled"], "the last settlement")
            events += reader.events
            reader.close()
            sequence = [int(e["id"]) for e in events]
            self.assertEqual(sequence, list(range(sequence[0], sequence[0] + len(sequence))), "a gap or a double")
            for name in ("approval-required", "request-settled"):
                told = [e["data"]["request"]["id"] for e in events if e["event"] == name]
                self.assertEqual(len(told), len(set(told)))
                self.assertLessEqual(set(made), set(told))

    def test_S2_calls_that_come_while_it_starts_do_no_harm(self):
        """Agents that never stop asking are served from the first moment, or not yet; a start survives them."""
        with Server() as server:
            agent_key = server.actor("agent", "bot").key
            done = threading.Event()

            def work():
                client = FastClient(server.host, server.port, agent_key, timeout_s=5)
                while not done.is_set():
                    try:
                        client.call("POST", "/v1/requests", {"action": {"tool": "t"}})
                    except OSError:
                        client.close()
                        time.sleep(0.002)

            threads = [threading.Thread(target=work) for _ in range(3)]
            for thread in threads:
                thread.start()
            try:
                for _ in range(60):
                    server.kill()
                    server.start()
            finally:
                done.set()
                for thread in threads:
                    thread.join()


if __name__ == "__main__":
    unittest.main()

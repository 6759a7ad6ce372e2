"""Exactly one decision takes effect, whoever races (D8)."""
import collections
import json
import multiprocessing
import random
import threading
import time
import unittest

from harness import FastClient, ServerTest, eventually

CLIENTS = 50
PROCESSES = 5
REQUESTS = 1000


ROUND = 50


def race(host, port, work, ids, barrier, results):
    """One process with several clients, each a thread with its own key. All of them meet before every round and then
    decide the same requests, each in its own order, eight at a time on one connection."""
    found = []
    lock = threading.Lock()

    def one(name, key, seed):
        client = FastClient(host, port, key, timeout_s=120)
        client.connect()
        order = random.Random(seed)
        mine = []
        for start in range(0, len(ids), ROUND):
            part = ids[start:start + ROUND]
            order.shuffle(part)
            calls = [("POST", f"/v1/requests/{id}/decision",
                      {"decision": order.choice(("approve", "reject")), "note": name}, "") for id in part]
            barrier.wait(120)
            for id, call, (status, body) in zip(part, calls, client.many(calls, window=8)):
                value = json.loads(body)
                standing = value if status == 200 else value.get("error", {}).get("request") or {}
                decision = standing.get("decision") or {}
                mine.append((id, name, call[2]["decision"], status, decision.get("by"), decision.get("kind"),
                             decision.get("note"), value.get("error", {}).get("code")))
        client.close()
        with lock:
            found.extend(mine)

    threads = [threading.Thread(target=one, args=arguments) for arguments in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    results.put(found)


class RaceTest(ServerTest):
    flags = ("--decisions-per-key", "0")

    def propose_many(self, count, session, **more):
        client = FastClient(self.server.host, self.server.port, self.agent.key)
        body = {"action": {"tool": "t", "arguments": {"n": 1}}, "session": session, **more}
        answers = client.many([("POST", "/v1/requests", body, "") for _ in range(count)])
        client.close()
        self.assertEqual({status for status, _ in answers}, {201})
        return [json.loads(body)["id"] for _, body in answers]

    def test_D8_fifty_people_race_for_a_thousand_requests_and_each_has_one_decision(self):
        ids = self.propose_many(REQUESTS, self.fresh("race"))
        people = [(f"racer-{i}", self.server.new_key("approver", f"racer-{i}")["key"]) for i in range(CLIENTS)]
        results = multiprocessing.Queue()
        barrier = multiprocessing.Barrier(CLIENTS)
        share = CLIENTS // PROCESSES
        processes = []
        for p in range(PROCESSES):
            work = [(*people[i], i) for i in range(p * share, (p + 1) * share)]
            processes.append(multiprocessing.Process(
                target=race, args=(self.server.host, self.server.port, work, ids, barrier, results)))
        for process in processes:
            process.start()
        found = [entry for _ in processes for entry in results.get(timeout=300)]
        for process in processes:
            process.join()

        self.assertEqual(len(found), CLIENTS * REQUESTS)
        by_id = collections.defaultdict(list)
        for entry in found:
            by_id[entry[0]].append(entry)
        winners_by_name = collections.Counter()
        for id in ids:
            winners = [entry for entry in by_id[id] if entry[3] == 200]
            self.assertEqual(len(winners), 1, f"{id}: {winners}")
            _, name, kind, _, by, decided, note, _ = winners[0]
            self.assertEqual((by, decided, note), (name, kind, name))
            winners_by_name[name] += 1
            for entry in by_id[id]:
                if entry[3] != 200:
                    self.assertEqual(entry[3:], (409, name, kind, name, "conflict"), entry)
        self.assertGreater(len(winners_by_name), CLIENTS // 4, "one client won nearly all: that was no race")

        # What is stored says the same, once.
        for id in random.Random(1).sample(ids, 50):
            events = [event["type"] for event in self.ann.timeline(id)]
            self.assertEqual(events, ["approval-required", "request-settled"])
        stats = self.admin.get("/v1/stats").json
        self.assertEqual(stats["outcomes"]["approved"] + stats["outcomes"]["rejected"], stats["decided"])

    def run_pairs(self, ids, left, right):
        """Runs left(id) and right(id) at the same moment for each id; returns their answers."""
        answers = []
        barrier = threading.Barrier(2)

        def worker(call, results, client):
            for id in ids:
                barrier.wait(60)
                results.append(call(client, id))

        results = ([], [])
        clients = [FastClient(self.server.host, self.server.port, key) for key in (left[0], right[0])]
        threads = [threading.Thread(target=worker, args=(side[1], results[i], clients[i]))
                   for i, side in enumerate((left, right))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for client in clients:
            client.close()
        return list(zip(ids, *results))

    def test_D8_approve_and_cancel_at_once_never_both(self):
        ids = self.propose_many(300, self.fresh("cancel"))
        approve = lambda c, id: c.call("POST", f"/v1/requests/{id}/decision", {"decision": "approve"})
        cancel = lambda c, id: c.call("POST", f"/v1/requests/{id}/cancel", {})
        seen = collections.Counter()
        for id, (a, _), (b, _) in self.run_pairs(ids, (self.ann.key, approve), (self.agent.key, cancel)):
            self.assertIn((a, b), ((200, 409), (409, 200)), id)
            request = self.ann.read(id)
            self.assertEqual(request["outcome"], "approved" if a == 200 else "cancelled")
            self.assertEqual(request["release"] is not None, a == 200)
            seen[request["outcome"]] += 1
        self.assertEqual(len(seen), 2, f"one side always won: {seen}")

    def test_D8_approve_and_expiry_at_once_never_both(self):
        ids = self.propose_many(60, self.fresh("expiry"), timeout_s=1)
        first = self.ann.read(ids[0])
        outcomes = collections.Counter()
        results = {}
        client = FastClient(self.server.host, self.server.port, self.ann.key)
        # All deadlines fall within some milliseconds around one second from now; decide through that moment.
        end = time.monotonic() + 1.4
        pending = list(ids)
        random.Random(2).shuffle(pending)
        pause = 1.35 / len(ids)
        for id in pending:
            results[id] = client.call("POST", f"/v1/requests/{id}/decision", {"decision": "approve"})
            time.sleep(pause)
        for id, (status, body) in results.items():
            self.assertIn(status, (200, 410), body)
            request = self.ann.read(id, wait=5)
            self.assertEqual(request["outcome"], "approved" if status == 200 else "expired", id)
            self.assertEqual(request["release"] is not None, status == 200)
            if status == 200:
                self.assertLess(request["decision"]["at"], request["expires_at"])
            settled = [e for e in self.ann.timeline(id) if e["type"] == "request-settled"]
            self.assertEqual(len(settled), 1)
            outcomes[request["outcome"]] += 1
        self.assertEqual(len(outcomes), 2, f"the deadline was not met on both sides: {outcomes}, {first['expires_at']}")

    def test_D8_votes_of_a_quorum_at_once_settle_it_once(self):
        ids = self.propose_many(100, self.fresh("quorum"), requirement={"lines": [{"quorum": 2}]})
        approve = lambda c, id: c.call("POST", f"/v1/requests/{id}/decision", {"decision": "approve"})
        for id, (a, _), (b, _) in self.run_pairs(ids, (self.ann.key, approve), (self.bob.key, approve)):
            self.assertEqual((a, b), (200, 200))
            request = self.ann.read(id)
            self.assertEqual(request["outcome"], "approved")
            self.assertEqual({vote["by"] for vote in request["votes"]}, {"ann", "bob"})
            self.assertEqual([e["type"] for e in self.ann.timeline(id)],
                             ["approval-required", "decision-recorded", "request-settled"])

    def test_X2_identical_idempotency_keys_at_once_make_one_request(self):
        session = self.fresh("same-key")
        keys = [f"{session}-{i}" for i in range(200)]
        body = {"action": {"tool": "t"}, "session": session}
        propose = lambda c, key: c.call("POST", "/v1/requests", body, f"Idempotency-Key: {key}\r\n")
        made = set()
        for key, (a, body_a), (b, body_b) in self.run_pairs(keys, (self.agent.key, propose), (self.agent.key, propose)):
            self.assertEqual(sorted((a, b)), [200, 201])
            self.assertEqual(json.loads(body_a)["id"], json.loads(body_b)["id"])
            made.add(json.loads(body_a)["id"])
        self.assertEqual(len(made), len(keys))
        listed = 0
        cursor = None
        while True:
            page = self.ann.get("/v1/requests", query={"session": session, "limit": 100} | ({"cursor": cursor} if cursor else {}))
            listed += len(page["requests"])
            cursor = page["next_cursor"]
            if cursor is None:
                break
        self.assertEqual(listed, len(keys))

    def test_S1_a_wait_and_its_decision_at_once_is_never_missed(self):
        ids = self.propose_many(200, self.fresh("wait"))
        wait = lambda c, id: c.call("GET", f"/v1/requests/{id}?wait=30")
        approve = lambda c, id: c.call("POST", f"/v1/requests/{id}/decision", {"decision": "approve"})
        started = time.monotonic()
        for id, (a, body), (b, _) in self.run_pairs(ids, (self.agent.key, wait), (self.ann.key, approve)):
            self.assertEqual((a, b), (200, 200))
            self.assertEqual(json.loads(body)["outcome"], "approved")
        self.assertLess(time.monotonic() - started, 25, "some wait was not woken by its decision")

    def test_everything_still_answers_afterwards(self):
        eventually(lambda: self.admin.get("/v1/stats")["waiters"] == 0, "no waiter is left behind")


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""Kills the server again and again under load and checks that nothing acknowledged is lost, doubled or changed (S1, X2).

    crash_test.py --cycles 200            the test run
    crash_test.py --expect-failure        proves that this harness finds lost acknowledgements: the server's file layer
                                          answers syncs without doing them, and that must be reported

    HOLDPOINT_CRASH_BIN     a build of the server whose file layer keeps unsynced writes in memory, so that SIGKILL is
                            what a power cut is (default: build/holdpoint_crash); if there is none, or it is set to
                            nothing, the plain binary is used, and only the process dies
    HOLDPOINT_TEST_FAULTS   what that file layer does; `volatile` unless set
    HOLDPOINT_BIN           the plain binary

Agents propose, approvers decide, agents cancel and wait, all with idempotency keys. Each keeps a ledger of what it sent
and what was acknowledged. After every kill the ledger is compared with the server: see `Checker`. Beside them small scenes are
played, each in a session of its own, of what takes several people, batches and time: see `Scene`.
"""
import argparse
import collections
import datetime
import json
import os
import pathlib
import queue
import random
import shutil
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "e2e"))

from harness import FastClient, Server, binary  # noqa: E402

ACKS_PER_CYCLE_MIN = 20
SKIPPED = 77
WAIT_S = 60  # of one wait; longer than anything below, so that the end of its time is never mistaken for an answer
DRAIN_S_MAX = 30  # for people to answer what is left after the last restart
HEAR_S_MAX = 10  # from then on until the last one who waits has heard


def crash_binary():
    """The build that forgets unsynced writes, or None."""
    path = os.environ.get("HOLDPOINT_CRASH_BIN", str(ROOT / "build" / "holdpoint_crash"))
    return path if path and os.path.exists(path) else None


class Ledger:
    """What was sent and what was acknowledged. Written to a file and synced every cycle, before anything is checked, so
    that a run that dies can be looked into; the checks themselves read the memory."""

    def __init__(self, path):
        self.file = open(path, "a", encoding="utf-8")
        self.lock = threading.Lock()
        self.proposals = {}  # idempotency key -> {session, id, digest}; id is None until acknowledged
        self.by_session = collections.defaultdict(list)  # session -> keys
        self.attempts = collections.defaultdict(dict)  # request id -> {note: {by, kind, arguments, is_acked}}
        self.heard = {}  # request id -> (outcome, settled_at) that a waiter was told
        self.settled = {}  # request id -> what it was when last checked; must never change
        self.settled_ids = []  # its keys, to draw from
        self.unchecked = set()  # keys acknowledged since the last check
        self.acks = collections.Counter()

    def write(self, **entry):
        self.file.write(json.dumps(entry) + "\n")  # buffered; sync() is before every check

    def sync(self):
        with self.lock:
            self.file.flush()
            os.fsync(self.file.fileno())

    def sent_proposal(self, key, session):
        with self.lock:
            self.proposals[key] = {"session": session, "id": None, "digest": None}
            self.by_session[session].append(key)
            self.write(sent="proposal", key=key, session=session)

    def acked_proposal(self, key, request):
        with self.lock:
            known = self.proposals[key]
            if known["id"] not in (None, request["id"]):
                raise Broken("doubled", f"key {key} made {known['id']} and {request['id']}")
            known.update(id=request["id"], digest=request["digest"])
            self.unchecked.add(key)
            self.acks["proposals"] += 1
            self.write(acked="proposal", key=key, id=request["id"])

    def sent_decision(self, id, note, by, kind, arguments=None):
        with self.lock:
            self.attempts[id].setdefault(note, {"by": by, "kind": kind, "arguments": arguments, "is_acked": False})
            self.write(sent=kind, id=id, note=note)

    def acked_decision(self, id, note):
        with self.lock:
            self.attempts[id][note]["is_acked"] = True
            self.acks["decisions"] += 1
            self.write(acked="decision", id=id, note=note)

    def heard_outcome(self, request):
        with self.lock:
            self.heard[request["id"]] = (request["outcome"], request["settled_at"])
            self.acks["waits"] += 1


class Broken(Exception):
    """A promise is broken. `kind` is `lost`, `doubled`, `changed`, `ungated`, `inconsistent` or `recovery`."""

    def __init__(self, kind, words):
        super().__init__(f"{kind}: {words}")
        self.kind = kind


class Gate:
    """Lets the workers work while the server serves, and tells when all of them have stopped."""

    def __init__(self):
        self.condition = threading.Condition()
        self.generation = 0
        self.is_open = False
        self.is_over = False
        self.active = 0

    def open(self):
        with self.condition:
            self.generation += 1
            self.is_open = True
            self.condition.notify_all()

    def close(self):
        with self.condition:
            self.is_open = False

    def end(self):
        with self.condition:
            self.is_over = True
            self.condition.notify_all()

    def enter(self):
        """Blocks until work may begin; False when there is none any more."""
        with self.condition:
            while not self.is_open and not self.is_over:
                self.condition.wait()
            if self.is_over:
                return False
            self.active += 1
            return True

    def leave(self):
        with self.condition:
            self.active -= 1
            self.condition.notify_all()

    def wait_idle(self, timeout_s):
        with self.condition:
            if not self.condition.wait_for(lambda: self.active == 0, timeout_s):
                raise Broken("recovery", "a client still waits for an answer of a dead server")


class Worker(threading.Thread):
    """One client with one key. `step` makes one call; a call that breaks off is remembered by the subclass and repeated
    with the same idempotency key when the server is back."""

    def __init__(self, run, key, seed, timeout_s=20):
        super().__init__(daemon=True)
        self.run_state = run
        self.ledger = run.ledger
        self.random = random.Random(seed)
        self.client = FastClient("127.0.0.1", run.server.port, key, timeout_s=timeout_s)

    def run(self):
        gate = self.run_state.gate
        while gate.enter():
            try:
                while gate.is_open:
                    self.step()
            except OSError:
                self.client.close()
                # The coordinator closes the gate around a kill; until it has, do not spin on a dead port.
                time.sleep(0.002)
            except Broken as broken:
                self.run_state.problems.append(broken)
            except Exception as error:  # a bug of this harness must not look like a quiet worker
                self.run_state.problems.append(Broken("inconsistent", f"{type(self).__name__}: {error!r}"))
            finally:
                gate.leave()
        self.client.close()


class Agent(Worker):
    count = 0

    def __init__(self, run, key, seed, number):
        super().__init__(run, key, seed)
        self.number = number
        self.open_call = None
        self.to_hear = queue.Queue()

    def step(self):
        if self.open_call is None:
            if self.run_state.is_draining:
                return time.sleep(0.005)
            Agent.count += 1
            key = f"a{self.number}-{Agent.count}-{self.random.getrandbits(32):x}"
            session = f"cycle-{self.run_state.cycle}"
            # A run of thousands of cycles on a busy machine outlives the default deadline.
            body = {"session": session, "metadata": {"key": key}, "timeout_s": 86400,
                    "action": {"tool": "process_refund", "arguments": {"orderId": key, "amount": 50000}}}
            self.open_call = (key, body)
            self.ledger.sent_proposal(key, session)
        key, body = self.open_call
        status, text = self.client.call("POST", "/v1/requests", body, f"Idempotency-Key: {key}\r\n")
        if status == 503:
            return time.sleep(0.005)
        if status not in (200, 201):
            raise Broken("lost", f"proposing answered {status}: {text[:200]}")
        request = json.loads(text)
        self.ledger.acked_proposal(key, request)
        self.open_call = None
        chance = self.random.random()
        if chance < 0.06:
            self.cancel(request["id"])
        elif chance < 0.80:
            self.run_state.to_decide.put((request["id"], request["digest"]))
            if chance < 0.10:  # two people on the same one: one of them must lose
                self.run_state.to_decide.put((request["id"], request["digest"]))
            if chance < 0.30:
                self.to_hear.put(request["id"])

    def cancel(self, id):
        # A cancellation has no idempotency key; whether a broken-off one took effect is seen from the request.
        self.ledger.sent_decision(id, "cancel", self.number, "cancel")
        status, text = self.client.call("POST", f"/v1/requests/{id}/cancel", {})
        if status == 200:
            self.ledger.acked_decision(id, "cancel")
        elif status != 503:
            raise Broken("lost", f"cancelling {id} answered {status}: {text[:200]}")


class Approver(Worker):
    count = 0

    def __init__(self, run, key, seed, name):
        super().__init__(run, key, seed)
        self.name_of_person = name
        self.open_call = None

    def step(self):
        if self.open_call is None:
            try:
                id, digest = self.run_state.to_decide.get(timeout=0.005)
            except queue.Empty:
                return
            Approver.count += 1
            note = f"{self.name_of_person}-{Approver.count}"
            kind = self.random.choice(("approve", "approve", "reject", "modify"))
            body = {"decision": kind, "note": note, "digest": digest}
            if kind == "modify":
                body["arguments"] = {"orderId": note, "amount": 25000}
            self.open_call = (id, note, body)
            self.ledger.sent_decision(id, note, self.name_of_person, kind, body.get("arguments"))
        id, note, body = self.open_call
        status, text = self.client.call("POST", f"/v1/requests/{id}/decision", body, f"Idempotency-Key: {note}\r\n")
        if status == 503:
            return time.sleep(0.005)
        answer = json.loads(text)
        if status == 200:
            if answer["decision"] is None or answer["decision"]["note"] != note:
                raise Broken("changed", f"{id}: {note} was acknowledged, but the decision is {answer['decision']}")
            self.ledger.acked_decision(id, note)
        elif status == 409:
            standing = answer["error"]["request"]["decision"]
            if standing is None or standing["note"] == note:
                raise Broken("inconsistent", f"{id}: {note} lost against {standing}")
            self.run_state.counts["conflicts"] += 1
        else:
            raise Broken("lost", f"deciding {id} answered {status}: {text[:200]}")
        self.open_call = None


class Waiter(Worker):
    """An agent's second connection: waits for outcomes, and goes on waiting after the server came back."""

    def __init__(self, run, key, seed, to_hear):
        super().__init__(run, key, seed, timeout_s=WAIT_S + 10)
        self.to_hear = to_hear
        self.id = None

    def step(self):
        if self.id is None:
            try:
                self.id = self.to_hear.get(timeout=0.005)
            except queue.Empty:
                return
        status, text = self.client.call("GET", f"/v1/requests/{self.id}?wait={WAIT_S}")
        if status == 503:
            return
        if status != 200:
            raise Broken("lost", f"waiting for {self.id} answered {status}: {text[:200]}")
        request = json.loads(text)
        if request["state"] == "settled":
            self.ledger.heard_outcome(request)
            self.id = None

    def has_heard_all(self):
        return self.to_hear.empty() and self.id is None


def seconds_since(text):
    then = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    return (datetime.datetime.now(datetime.timezone.utc) - then).total_seconds()


class Scene:
    """A batch of one to three requests in a session of its own, and what people do with it, call after call. What a call
    promised stands in `acked`; after every restart check() asks whether it was kept."""

    KINDS = ("quorum", "held", "held abort", "abort", "deadline")
    LATE_S_MAX = 3  # a held decision may take effect so late, on a machine that does much else

    def __init__(self, number, kind):
        self.kind = kind
        self.session = f"scene-{number}"
        self.ids = None  # known once the batch was acknowledged
        self.acked = {}  # note -> until when it is held, or None
        self.sent = set()  # notes
        self.seen = {}  # id -> (outcome, settled_at), which never changes
        self.calls = {  # (which request, who, what)
            "quorum": [(0, 0, {"decision": "approve"}), (0, 1, {"decision": "approve"})],
            "held": [(0, 0, {"decision": "approve", "undo_s": 1})],
            "held abort": [(0, 0, {"decision": "abort", "undo_s": 1}), (1, 1, {"decision": "approve", "undo_s": 2})],
            "abort": [(0, 0, {"decision": "approve", "undo_s": 1}), (1, 1, {"decision": "abort"})],
            "deadline": [(1, 0, {"decision": "approve", "undo_s": 3})],
        }[kind]
        self.calls = [(at, who, {**body, "note": f"{self.session}-{i}"}) for i, (at, who, body) in enumerate(self.calls)]
        self.next = 0

    def proposal(self):
        one = {"timeout_s": 86400, "action": {"tool": "process_refund", "arguments": {"orderId": self.session}}}
        if self.kind in ("quorum", "held"):
            return [{**one, "requirement": {"lines": [{"quorum": 2 if self.kind == "quorum" else 1}]}}]
        if self.kind == "deadline":
            return [{**one, "timeout_s": 1, "on_timeout": "abort"}, one]
        return [one, one, one]

    def is_played(self):
        return self.ids is not None and self.next == len(self.calls)

    def check(self, requests, timelines):
        """Raises Broken; true when nothing can happen any more."""
        count = len(self.proposal())
        if self.ids is None:
            if len(requests) not in (0, count):
                raise Broken("inconsistent", f"{self.session}: {len(requests)} of a batch of {count}")
            return False
        by_id = {request["id"]: request for request in requests}
        if not set(self.ids) <= set(by_id):
            raise Broken("lost", f"{self.session}: an acknowledged batch is not there")
        if len(requests) != count:
            raise Broken("doubled", f"{self.session}: {len(requests)} requests of a batch of {count}")
        self.check_promises(by_id)
        self.check_run(requests, timelines)
        for request, events in zip(requests, timelines):
            self.check_one(request, events)
        return self.is_played() and all(request["state"] == "settled" for request in requests)

    def check_promises(self, by_id):
        for at, who, body in self.calls:
            request, note = by_id[self.ids[at]], body["note"]
            if note not in self.acked or request["state"] == "settled":
                continue
            until = self.acked[note]
            if until is None and f"person-{who}" not in [vote["by"] for vote in request["votes"]]:
                raise Broken("lost", f"{request['id']}: the acknowledged vote {note} is not there")
            if until is None:
                continue
            if f"person-{who}" not in [held["by"] for held in request.get("held", [])]:
                raise Broken("lost", f"{request['id']}: the acknowledged held decision {note} is not there")
            if seconds_since(until) > self.LATE_S_MAX:
                raise Broken("lost", f"{request['id']}: {note} was held until {until} and has not taken effect")

    def check_run(self, requests, timelines):
        """Nothing of a run is released, or waits, once it was aborted. The order is that of the record: two that came within
        the same milliseconds may carry the times at which they came."""
        settled = [next((event["seq"] for event in events if event["type"] == "request-settled"), None) for events in timelines]
        ended = [seq for request, seq in zip(requests, settled)
                 if request["outcome"] == "aborted" or request["timed_out"] == "abort"]
        for request, seq in zip(requests, settled):
            if ended and request["state"] == "pending":
                raise Broken("inconsistent", f"{request['id']} waits in a run that was aborted")
            if ended and request["release"] is not None and seq > min(ended):
                raise Broken("ungated", f"{request['id']} was released after its run was aborted")
        ends = self.ends_at(requests)
        for at, _, body in self.calls:
            request, until = requests_by_id(requests)[self.ids[at]], self.acked.get(body["note"])
            if body["decision"] == "approve" and ends and until and until > ends and request["release"] is not None:
                raise Broken("ungated", f"{request['id']} was released; its run was to end at {ends}, before {until}")

    def ends_at(self, requests):
        """When the run was promised to end."""
        if self.kind == "deadline":
            return requests_by_id(requests)[self.ids[0]]["expires_at"]
        if self.kind == "held abort":
            return self.acked.get(self.calls[0][2]["note"])
        return None

    def check_one(self, request, events):
        id = request["id"]
        names = collections.Counter(event["type"] for event in events)
        sent = sum(1 for at, _, body in self.calls if body["note"] in self.sent and self.ids[at] == id)
        if names["request-settled"] != (request["state"] == "settled") or names["approval-required"] != 1:
            raise Broken("inconsistent", f"{id} is {request['state']} with events {dict(names)}")
        if names["decision-held"] + names["decision-recorded"] > sent:
            raise Broken("doubled", f"{id}: {sent} decisions were sent, and it has {dict(names)}")
        people = [vote["by"] for vote in request["votes"]]
        if len(people) != len(set(people)):
            raise Broken("doubled", f"{id}: votes of {people}")
        if request["release"] is not None:
            self.check_release(request)
        if request["state"] == "settled":
            now = (request["outcome"], request["settled_at"])
            if self.seen.setdefault(id, now) != now:
                raise Broken("changed", f"{id} was {self.seen[id]}, is {now}")

    def check_release(self, request):
        mine = [body for at, _, body in self.calls if self.ids[at] == request["id"] and body["decision"] == "approve"]
        needed = 2 if self.kind == "quorum" else 1
        if len([body for body in mine if body["note"] in self.sent]) < needed or request["outcome"] != "approved":
            raise Broken("ungated", f"{request['id']} is {request['outcome']} and released after {sorted(self.sent)}")
        until = self.acked.get(mine[-1]["note"])
        if until and request["settled_at"] < until:
            raise Broken("changed", f"{request['id']} was released at {request['settled_at']}, held until {until}")


def requests_by_id(requests):
    return {request["id"]: request for request in requests}


class Clients:
    """Several keys, one of which breaks off with all."""

    def __init__(self, clients):
        self.clients = clients

    def close(self):
        for client in self.clients:
            client.close()


class Players(Worker):
    """Plays scenes, a few at a time."""

    OPEN_MAX = 10

    def __init__(self, run, agent, people, seed):
        super().__init__(run, agent, seed)
        self.agent = self.client
        self.people = [FastClient("127.0.0.1", run.server.port, key, timeout_s=20) for key in people]
        self.client = Clients([self.agent, *self.people])
        self.scene = None
        self.open = []  # guarded by the gate: looked at while nobody plays
        self.count = 0

    def step(self):
        if self.scene is None:
            if self.run_state.is_draining or len(self.open) >= self.OPEN_MAX:
                return time.sleep(0.005)
            self.count += 1
            self.scene = Scene(self.count, self.random.choice(Scene.KINDS))
            self.open.append(self.scene)
        scene = self.scene
        if scene.ids is None:
            self.propose(scene)
        elif scene.next < len(scene.calls):
            self.decide(scene, *scene.calls[scene.next])
        if scene.is_played():
            self.scene = None

    def propose(self, scene):
        body = {"session": scene.session, "requests": scene.proposal()}
        status, text = self.agent.call("POST", "/v1/batches", body, f"Idempotency-Key: {scene.session}\r\n")
        if status == 503:
            return time.sleep(0.005)
        if status not in (200, 201):
            raise Broken("lost", f"proposing {scene.session} answered {status}: {text[:200]}")
        scene.ids = [request["id"] for request in json.loads(text)["requests"]]
        self.ledger.acks["batches"] += 1

    def decide(self, scene, at, who, body):
        note = body["note"]
        scene.sent.add(note)
        status, text = self.people[who].call("POST", f"/v1/requests/{scene.ids[at]}/decision", body, f"Idempotency-Key: {note}\r\n")
        if status == 503:
            return time.sleep(0.005)
        if status not in (200, 409, 410):
            raise Broken("lost", f"deciding {scene.ids[at]} answered {status}: {text[:200]}")
        if status == 200:
            mine = [held["until"] for held in json.loads(text).get("held", []) if held["by"] == f"person-{who}"]
            scene.acked[note] = mine[0] if mine else None
            self.ledger.acks["scene decisions"] += 1
        scene.next += 1


class Checker:
    """Compares the ledger with what the server says after a restart."""

    RELEASING = {"approved", "modified"}

    def __init__(self, run, key):
        self.run = run
        self.ledger = run.ledger
        self.client = FastClient("127.0.0.1", run.server.port, key, timeout_s=30)
        self.random = random.Random(1)

    def get(self, targets):
        answers = self.client.many([("GET", target, None, "") for target in targets])
        found = []
        for target, (status, text) in zip(targets, answers):
            if status != 200:
                raise Broken("lost", f"GET {target} answered {status}: {text[:200]}")
            found.append(json.loads(text))
        return found

    def list_session(self, session):
        found, cursor = [], ""
        while True:
            page, = self.get([f"/v1/requests?session={session}&limit=100{cursor}"])
            found += page["requests"]
            if page["next_cursor"] is None:
                return found
            cursor = f"&cursor={page['next_cursor']}"

    def check(self, sessions):
        self.client.close()
        for session in sorted(sessions):
            requests = self.list_session(session)
            self.check_session(session, requests)
            timelines = self.get([f"/v1/requests/{request['id']}/events" for request in requests])
            for request, timeline in zip(requests, timelines):
                self.check_request(request)
                self.check_timeline(request, timeline["events"])
        self.check_old_ones()

    def check_scenes(self, players):
        for scene in list(players.open):
            if scene.check(*self.read_at_rest(scene.session)):
                players.open.remove(scene)
                self.run.counts[f"scenes of {scene.kind}"] += 1

    def read_at_rest(self, session):
        """The requests of a session and their events. Time may settle one between two calls: then both are read again."""
        for _ in range(50):
            requests = self.list_session(session)
            timelines = self.get([f"/v1/requests/{request['id']}/events" for request in requests])
            if self.list_session(session) == requests:
                return requests, [timeline["events"] for timeline in timelines]
        raise Broken("inconsistent", f"{session} does not come to rest")

    def check_session(self, session, requests):
        by_key = {}
        for request in requests:
            key = request["metadata"]["key"]
            if key in by_key:
                raise Broken("doubled", f"key {key} made {by_key[key]['id']} and {request['id']}")
            by_key[key] = request
            sent = self.ledger.proposals.get(key)
            if sent is None or sent["session"] != session:
                raise Broken("inconsistent", f"{request['id']} was never proposed")
        for key in self.ledger.by_session[session]:
            sent = self.ledger.proposals[key]
            if sent["id"] is not None:
                request = by_key.get(key)
                if request is None:
                    raise Broken("lost", f"acknowledged request {sent['id']} is not there")
                if request["id"] != sent["id"]:
                    raise Broken("changed", f"{sent['id']} is {request['id']} now")

    def check_request(self, request):
        id = request["id"]
        attempts = self.ledger.attempts.get(id, {})
        acked = [note for note, attempt in attempts.items() if attempt["is_acked"]]
        if len(acked) > 1:
            raise Broken("doubled", f"{id}: {acked} were all acknowledged")
        if request["state"] == "pending":
            if acked:
                raise Broken("lost", f"{id}: acknowledged decision {acked[0]} is not there")
            if id in self.ledger.heard:
                raise Broken("lost", f"{id}: a waiter heard {self.ledger.heard[id]}, and it is pending")
            if request["release"] is not None:
                raise Broken("ungated", f"{id} is released while pending")
        else:
            self.check_settled(request, attempts, acked)
        sent = self.ledger.proposals[request["metadata"]["key"]]
        if sent["digest"] and request["outcome"] != "modified" and request["digest"] != sent["digest"]:
            raise Broken("changed", f"{id} has another digest")

    def check_settled(self, request, attempts, acked):
        id, decision = request["id"], request["decision"]
        if request["outcome"] == "cancelled":
            note = "cancel"
        elif decision is None:
            raise Broken("ungated", f"{id} is {request['outcome']} without a decision")
        else:
            note = decision["note"]
        attempt = attempts.get(note)
        if attempt is None:
            raise Broken("ungated", f"{id} was decided by nobody we know: {decision}")
        if acked and acked[0] != note:
            raise Broken("changed", f"{id}: {acked[0]} was acknowledged, {note} stands")
        if decision and (decision["by"] != attempt["by"] or decision["kind"] != attempt["kind"]):
            raise Broken("changed", f"{id}: {attempt} was sent, {decision} stands")
        wanted = {"approve": "approved", "reject": "rejected", "modify": "modified", "cancel": "cancelled"}[attempt["kind"]]
        if request["outcome"] != wanted:
            raise Broken("changed", f"{id} is {request['outcome']} after {attempt['kind']}")
        if (request["release"] is not None) != (request["outcome"] in self.RELEASING):
            raise Broken("ungated", f"{id} is {request['outcome']}, released: {request['release']}")
        if attempt["kind"] == "modify" and request["release"]["arguments"] != attempt["arguments"]:
            raise Broken("ungated", f"{id} would run {request['release']['arguments']}")
        heard = self.ledger.heard.get(id)
        if heard and heard != (request["outcome"], request["settled_at"]):
            raise Broken("changed", f"{id}: a waiter heard {heard}")
        now = (request["outcome"], request["settled_at"], note)
        if self.ledger.settled.setdefault(id, now) != now:
            raise Broken("changed", f"{id} was {self.ledger.settled[id]}, is {now}")
        self.ledger.settled_ids.append(id)

    def check_timeline(self, request, events):
        names = [event["type"] for event in events]
        wanted = ["approval-required"] + (["request-settled"] if request["state"] == "settled" else [])
        if names != wanted:
            raise Broken("inconsistent", f"{request['id']} is {request['state']} with events {names}")
        if events[-1]["seq"] <= 0 or [e["seq"] for e in events] != sorted({e["seq"] for e in events}):
            raise Broken("inconsistent", f"{request['id']}: events {[e['seq'] for e in events]}")
        if request["state"] == "settled" and events[-1]["at"] != request["settled_at"]:
            raise Broken("inconsistent", f"{request['id']}: settled at {request['settled_at']}, event at {events[-1]['at']}")

    def check_old_ones(self, count=10):
        """What was settled once stays as it is for ever: some of them, every time."""
        ids = self.random.sample(self.ledger.settled_ids, min(count, len(self.ledger.settled_ids)))
        for id, request in zip(ids, self.get([f"/v1/requests/{id}" for id in ids])):
            note = "cancel" if request["outcome"] == "cancelled" else request["decision"]["note"]
            if (request["outcome"], request["settled_at"], note) != self.ledger.settled[id]:
                raise Broken("changed", f"{id} was {self.ledger.settled[id]}")

    def check_everything(self):
        self.check(set(self.ledger.by_session))


class Run:
    def __init__(self, options, environment):
        self.options = options
        self.random = random.Random(options.seed)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="holdpoint-crash-"))
        self.ledger = Ledger(self.folder / "ledger.jsonl")
        self.environment = environment
        # People answer four of five; in a long run more wait than any agent may have by default.
        self.server = Server("--pending-max", "1000000", "--decisions-per-key", "0", data=self.folder / "data", binary_path=crash_binary() or binary(),
                             env={"HOLDPOINT_TEST_FAULTS": "", **environment})
        self.server.env = {k: v for k, v in self.server.env.items() if v}
        self.gate = Gate()
        self.problems = []
        self.counts = collections.Counter()
        self.to_decide = queue.Queue()
        self.cycle = 0
        self.is_draining = False  # agents propose nothing new
        self.recovery_s = []

    def set_up(self):
        """Keys are made by a faithful server: what is tested is the work, not the preparation."""
        faults = {name: self.server.env.pop(name) for name in list(self.server.env)}
        kept = os.environ.pop("HOLDPOINT_TEST_FAULTS", None)
        self.server.start()
        agents = [self.server.new_key("agent", f"agent-{i}")["key"] for i in range(self.options.agents)]
        people = {f"person-{i}": self.server.new_key("approver", f"person-{i}")["key"] for i in range(self.options.approvers)}
        auditor = self.server.new_key("auditor", "checker")["key"]
        self.server.stop()
        self.server.env = faults
        if kept is not None:
            os.environ["HOLDPOINT_TEST_FAULTS"] = kept
        seed = self.options.seed * 1000
        self.checker = Checker(self, auditor)
        self.workers = [Agent(self, key, seed + i, i) for i, key in enumerate(agents)]
        self.workers += [Approver(self, key, seed + 100 + i, name) for i, (name, key) in enumerate(people.items())]
        self.workers += [Waiter(self, key, seed + 200 + i, self.workers[i].to_hear) for i, key in enumerate(agents)]
        self.players = Players(self, agents[0], list(people.values())[:2], seed + 300)
        self.workers.append(self.players)
        for worker in self.workers:
            worker.start()

    def start_server(self):
        """Starts it, sometimes killing it on the way up: recovery must survive being interrupted."""
        while self.random.random() < 0.15:
            self.server.spawn()
            time.sleep(self.random.random() * self.options.start_kill_ms / 1000)
            self.server.kill()
            self.counts["kills during start"] += 1
        started = time.monotonic()
        try:
            self.server.start(timeout_s=30)
        except AssertionError as error:
            raise Broken("recovery", str(error))
        self.recovery_s.append(time.monotonic() - started)

    def one_cycle(self):
        self.cycle += 1
        self.start_server()
        self.ledger.sync()
        with self.ledger.lock:
            touched = {self.ledger.proposals[key]["session"] for key in self.ledger.unchecked}
            self.ledger.unchecked.clear()
        # The last two cycles: calls that broke off are repeated and end up in the session they began in.
        touched |= {f"cycle-{self.cycle - 1}", f"cycle-{self.cycle - 2}"} & set(self.ledger.by_session)
        self.checker.check(touched)
        self.checker.check_scenes(self.players)
        self.gate.open()
        time.sleep(self.random.uniform(0.3, 1.7) * self.options.load_ms / 1000)
        self.server.kill()
        self.gate.close()
        self.counts["kills"] += 1
        self.gate.wait_idle(30)
        if self.problems:
            raise self.problems[0]

    def finish(self):
        """The last restart: everything that was ever acknowledged, and every wait, must come out right."""
        self.start_server()
        self.checker.check_everything()
        self.checker.check_scenes(self.players)
        self.gate.open()
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline and not self.to_decide.empty():
            time.sleep(0.01)
        self.server.kill()
        self.gate.close()
        self.gate.wait_idle(30)
        self.start_server()
        self.checker.check_everything()
        self.checker.check_scenes(self.players)
        self.hear_the_rest()
        self.checker.check_everything()
        self.checker.check_scenes(self.players)
        if self.problems:
            raise self.problems[0]

    def hear_the_rest(self):
        """Everybody who waits must hear: comparing only what was heard would be content with a server that never answers a
        wait. Agents propose for a moment, so that some wait before they are answered; then people answer what is left, and
        whatever somebody waits for is settled."""
        approvers = [worker for worker in self.workers if isinstance(worker, Approver)]
        waiters = [worker for worker in self.workers if isinstance(worker, Waiter)]
        self.gate.open()
        time.sleep(0.2)
        self.is_draining = True
        agents = [worker for worker in self.workers if isinstance(worker, Agent)]
        self.wait_for("people have not answered what is left", DRAIN_S_MAX, lambda: self.to_decide.empty() and all(
            worker.open_call is None for worker in agents + approvers))
        self.wait_for("somebody waits for what is settled and does not hear", HEAR_S_MAX,
                      lambda: all(waiter.has_heard_all() for waiter in waiters))
        self.gate.close()
        self.gate.wait_idle(30)
        if self.ledger.acks["waits"] == 0:
            raise Broken("lost", "nobody who waited ever heard an outcome")

    def wait_for(self, words, timeout_s, is_done):
        deadline = time.monotonic() + timeout_s
        while not is_done() and not self.problems:
            if time.monotonic() > deadline:
                raise Broken("lost", words)
            time.sleep(0.01)

    def close(self, keep):
        self.gate.end()
        self.server.kill()
        if keep:
            print(f"kept: {self.folder}\n--- the server's log ---\n{self.server.log()}", file=sys.stderr)
        else:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.server.close()

    def go(self):
        started = time.monotonic()
        broken = None
        try:
            self.set_up()
            for _ in range(self.options.cycles):
                self.one_cycle()
                if self.cycle % (50 if self.options.verbose else 500) == 0:
                    print(f"cycle {self.cycle}: {dict(self.ledger.acks)}", file=sys.stderr, flush=True)
            self.finish()
        except Broken as problem:
            broken = problem
        took = time.monotonic() - started
        self.close(keep=broken is not None and not self.options.expect_failure)
        acks = sum(self.ledger.acks.values())
        recovery = sorted(self.recovery_s) or [0]
        summary = {
            "cycles": self.cycle, "seconds": round(took, 1), "cycles_per_s": round(self.cycle / took, 2),
            "acknowledged": dict(self.ledger.acks), "acks_per_cycle": round(acks / max(1, self.cycle), 1), **self.counts,
            "recovery_ms_p50": round(recovery[len(recovery) // 2] * 1000), "recovery_ms_max": round(recovery[-1] * 1000),
            "faults": self.environment.get("HOLDPOINT_TEST_FAULTS") or "none: only the process dies",
            "seed": self.options.seed, "problem": str(broken) if broken else None,
        }
        print(json.dumps(summary))
        return broken, acks


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cycles", type=int, default=None)
    parser.add_argument("--agents", type=int, default=4)
    parser.add_argument("--approvers", type=int, default=3)
    parser.add_argument("--load-ms", type=float, default=40, help="mean time under load before each kill")
    parser.add_argument("--start-kill-ms", type=float, default=30, help="a server killed while starting lives at most so long")
    parser.add_argument("--seed", type=int, default=int(time.time()) % 1_000_000)
    parser.add_argument("--expect-failure", action="store_true", help="succeed only if lost acknowledgements are found")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    has_faults = crash_binary() is not None
    if options.expect_failure and not has_faults:
        print("skipped: there is no build with a file layer that can lie")
        return SKIPPED
    options.cycles = options.cycles or (20 if options.expect_failure else 200)
    environment = {}
    if options.expect_failure:
        environment["HOLDPOINT_TEST_FAULTS"] = "nosync"
    elif has_faults:
        environment["HOLDPOINT_TEST_FAULTS"] = os.environ.get("HOLDPOINT_TEST_FAULTS", "volatile")
    broken, acks = Run(options, environment).go()
    if options.expect_failure:
        if broken is None or broken.kind != "lost":
            print(f"the harness did not notice that nothing was synced: {broken}", file=sys.stderr)
            return 1
        print(f"found as it should be: {broken}")
        return 0
    if broken:
        print(f"BROKEN {broken}", file=sys.stderr)
        return 1
    if acks < ACKS_PER_CYCLE_MIN * options.cycles:
        print(f"only {acks} acknowledgements in {options.cycles} cycles: that proves nothing", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""A small stand-in for the server: one process, everything in memory, no policy.

It speaks enough of the wire contract for the command line to be tested alone, and it can misbehave
on purpose (see `faults`), which a real server cannot be asked to do.
"""

import hashlib
import json
import queue
import re
import secrets
import sys
import threading
import time
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, unquote, urlsplit

KEYS = {
    "hp_agent_test": {"id": "prn_agent", "name": "billing-bot", "role": "agent", "groups": [], "owner": None},
    "hp_approver_test": {"id": "prn_ann", "name": "ann", "role": "approver", "groups": ["finance"], "owner": None},
    "hp_approver_bob": {"id": "prn_bob", "name": "bob", "role": "approver", "groups": [], "owner": None},
    "hp_auditor_test": {"id": "prn_aud", "name": "audrey", "role": "auditor", "groups": [], "owner": None},
    "hp_admin_test": {"id": "prn_adm", "name": "root", "role": "admin", "groups": [], "owner": None},
}
STATUS = {
    "invalid_argument": 400, "unauthenticated": 401, "permission_denied": 403, "not_found": 404,
    "method_not_allowed": 405, "conflict": 409, "expired": 410, "too_large": 413, "refused": 422,
    "rate_limited": 429, "internal": 500, "unavailable": 503,
}
NAMES = {
    "requested": "approval-required", "voted": "decision-recorded", "settled": "request-settled",
    "escalated": "request-escalated", "extended": "request-extended", "reported": "tool-result",
}
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def large_and_deep():
    """Arguments that one body may hold, and that are more than a body once an event holds them."""
    deep = []
    for _ in range(29):
        deep = [deep]
    return {"deep": deep, "large": ["x" * 60_000] * 4}


class Refusal(Exception):
    def __init__(self, code, message, field=None, request=None, retry_after=None):
        super().__init__(message)
        self.code, self.message, self.field = code, message, field
        self.request, self.retry_after = request, retry_after


def now_ms():
    return int(time.time() * 1000)


def rfc3339(ms):
    moment = datetime.fromtimestamp(ms / 1000, timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{ms % 1000:03d}Z"


def ulid():
    return "".join(ALPHABET[(now_ms() >> s) & 31] for s in range(45, -1, -5)) + "".join(
        secrets.choice(ALPHABET) for _ in range(16))


class State:
    def __init__(self):
        self.lock = threading.RLock()
        self.changed = threading.Condition(self.lock)
        self.requests = {}  # id -> resource, in order of creation
        self.events = {}  # id -> timeline
        self.log = []  # (seq, name, data)
        self.streams = []
        self.idempotent = {}
        self.users = {}
        self.keys = {}
        self.connections = set()
        self.seen = []  # (method, path, headers, body) of every call
        self.faults = []  # each: {"path": regex, "times": n, ...}; see Handler.misbehave

    def record(self, request, kind, actor, detail=None):
        seq = len(self.log) + 1
        at = rfc3339(now_ms())
        self.events[request["id"]].append(
            {"seq": seq, "type": kind, "at": at, "actor": actor, "via": "api", "address": "127.0.0.1",
             "detail": detail})
        data = {"seq": seq, "type": NAMES[kind], "at": at, "actor": actor, "request": dict(request)}
        self.log.append((seq, NAMES[kind], data))
        for stream in list(self.streams):
            stream.put(self.log[-1])
        self.changed.notify_all()

    def settle(self, request, outcome, actor, decision=None, message=None):
        request["state"], request["outcome"] = "settled", outcome
        request["settled_at"] = rfc3339(now_ms())
        request["decision"] = decision
        kind = request["kind"]
        if outcome in ("allowed", "approved", "modified"):
            subject = request[kind]
            value = {"action": subject.get("arguments"), "plan": subject, "response": subject,
                     "confirmation": {"confirmed": True}}.get(kind)
            name = "arguments" if kind == "action" else kind
            request["release"] = {name: value, "digest": request["digest"], "receipt": None}
        request["message_for_agent"] = message or f"The request was {outcome}."
        self.record(request, "settled", actor, {"outcome": outcome})

    def expire_due(self):
        for request in self.requests.values():
            if request["state"] == "pending" and request["_expires_ms"] <= now_ms():
                request["timed_out"] = {"action": request["on_timeout"]}
                outcome = "skipped" if request["on_timeout"] == "skip" else "expired"
                self.settle(request, outcome, None, message="Nobody decided in time.")

    def propose(self, body, caller):
        kind = body.get("kind", "action")
        subject = dict(body.get(kind) or {})
        if kind == "action":
            if not subject.get("tool"):
                raise Refusal("invalid_argument", "an action needs a tool", "action.tool")
            subject.setdefault("arguments", {})
        if kind == "plan":
            for order, step in enumerate(subject["steps"], 1):
                step.setdefault("order", order)
                step.setdefault("optional", False)
        if kind == "input":
            subject.setdefault("required", True)
        if kind == "confirmation":
            subject.setdefault("confirm_label", "Confirm")
            subject.setdefault("cancel_label", "Cancel")
        risk = body.get("risk") or "medium"
        if isinstance(risk, str):
            risk = {"level": risk}
        words = {"action": lambda: f"Run {subject['tool']}", "plan": lambda: subject["title"],
                 "input": lambda: subject["question"], "confirmation": lambda: subject["message"],
                 "response": lambda: "Send an answer"}
        created = now_ms()
        ident = "req_" + ulid()
        expires = created + int(body.get("timeout_s", 300) * 1000)
        lines = (body.get("requirement") or {}).get("lines") or [{}]
        request = {
            "id": ident, "kind": kind, "state": "pending", "outcome": None,
            "session": body.get("session"), "thread": body.get("thread"), "task": body.get("task"),
            "user": body.get("user"), "agent": caller["name"], "batch": None, kind: subject, "proposed": None,
            "headline": (body.get("metadata") or {}).get("headline") or words[kind](),
            "risk": {"level": risk["level"], "factors": risk.get("factors", []),
                     "consequences": risk.get("consequences", []),
                     "reversibility": risk.get("reversibility"), "confidence": risk.get("confidence")},
            "verdict": {"kind": "hold", "rule": "default", "gate": "all", "because": "every tool is held"},
            "requirement": {"lines": [{"group": line.get("group"), "people": None,
                                       "quorum": line.get("quorum", 1), "have": 0} for line in lines],
                            "reject_threshold": 1,
                            "reason_required": (body.get("requirement") or {}).get("reason_required", False),
                            "modifiable": (body.get("requirement") or {}).get("modifiable", True),
                            "exclude_requester": False, "confirm": None},
            "votes": [],
            "digest": "sha256:" + hashlib.sha256(json.dumps([caller["name"], subject]).encode()).hexdigest(),
            "created_at": rfc3339(created), "expires_at": rfc3339(expires), "settled_at": None,
            "on_timeout": body.get("on_timeout", "reject"), "timed_out": None,
            "reminders": {"every_s": None, "max": 3, "sent": 0},
            "escalation": {"after_s": None, "to": None, "done": False}, "retries": {"max": 1, "done": 0},
            "context": body.get("context"), "suggested": None, "metadata": body.get("metadata"),
            "decision": None, "release": None, "message_for_agent": None, "report": None,
            "url": "/r/" + ident, "_expires_ms": expires,
        }
        self.requests[ident] = request
        self.events[ident] = []
        self.record(request, "requested", caller["name"])
        if subject.get("tool") == "read_only":
            self.settle(request, "allowed", "policy")
        if subject.get("tool") == "forbidden":
            self.settle(request, "denied", "policy", message="Policy forbids this tool.")
        return request

    def decide(self, request, body, caller):
        if caller["role"] not in ("approver", "admin"):
            raise Refusal("permission_denied", "only people decide")
        if request["state"] != "pending":
            code = "expired" if request["outcome"] == "expired" else "conflict"
            raise Refusal(code, "the request is already settled", request=request)
        if body.get("digest") not in (None, request["digest"]):
            raise Refusal("conflict", "the request changed since it was shown", request=request)
        kind, who = body["decision"], caller["name"]
        decision = {key: body.get(key) for key in ("note", "reason", "guidance", "arguments", "answer")}
        decision.update(kind=kind, by=who, via="api", at=rfc3339(now_ms()), target=body.get("to"))
        if kind in ("reject", "abort") and request["requirement"]["reason_required"] and not body.get("reason"):
            raise Refusal("refused", "a reason is required", "reason")
        if kind == "escalate":
            request["escalation"].update(to=body["to"], done=True)
            self.record(request, "escalated", who, {"to": body["to"]})
            return request
        if kind in ("approve", "modify"):
            if any(vote["by"] == who for vote in request["votes"]):
                raise Refusal("conflict", "you have already voted", request=request)
            request["votes"].append({"decision": kind, "by": who, "at": decision["at"]})
            for line in request["requirement"]["lines"]:
                if line["have"] < line["quorum"]:
                    line["have"] += 1
                    break
            if any(line["have"] < line["quorum"] for line in request["requirement"]["lines"]):
                self.record(request, "voted", who)
                return request
        if kind == "modify":
            subject = request["kind"]
            if subject == "action":
                request["proposed"] = request["action"]["arguments"]
                request["action"] = dict(request["action"], arguments=body["arguments"])
            else:
                request["proposed"] = request[subject]
                request[subject] = body[subject]
        outcome = {"approve": "approved", "reject": "rejected", "modify": "modified", "defer": "deferred",
                   "abort": "aborted", "answer": "answered"}[kind]
        message = f"The request was {outcome} by {who}."
        if body.get("reason") or body.get("guidance"):
            message += " " + (body.get("reason") or body.get("guidance"))
        self.settle(request, outcome, who, decision, message)
        return request


def shown(request):
    return {key: value for key, value in request.items() if not key.startswith("_")}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    state: State

    def log_message(self, *args):
        pass

    def setup(self):
        super().setup()
        with self.state.lock:
            self.state.connections.add(self.connection)

    def finish(self):
        with self.state.lock:
            self.state.connections.discard(self.connection)
        super().finish()

    def answer(self, status, body, headers=()):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def misbehave(self, path):
        """Takes the first fault whose path matches; True when the call was answered (or dropped) by it."""
        with self.state.lock:
            fault = next((f for f in self.state.faults
                          if f["times"] > 0 and re.search(f["path"], path)), None)
            if fault is None:
                return False
            fault["times"] -= 1
        what = fault["do"]
        if what == "drop":  # after the work was done, if asked so
            if fault.get("after"):
                self.route(path, drop=True)
            self.close_connection = True
            self.connection.shutdown(2)
            return True
        if what == "raw":
            self.wfile.write(fault["bytes"])
            self.close_connection = True
            return True
        self.answer(fault["status"], fault["body"], fault.get("headers", ()))
        return True

    def handle_call(self):
        length = int(self.headers.get("Content-Length") or 0)
        self.raw = self.rfile.read(length) if length else b""
        path = self.path
        with self.state.lock:
            self.state.seen.append((self.command, path, dict(self.headers), self.raw.decode()))
        if not self.misbehave(self.command + " " + path):
            self.route(path)

    do_GET = do_POST = do_DELETE = handle_call

    def route(self, path, drop=False):
        try:
            result = self.dispatch(path)
            if result is not None and not drop:
                self.answer(*result)
        except Refusal as refusal:
            error = {"code": refusal.code, "message": refusal.message}
            if refusal.field:
                error["field"] = refusal.field
            if refusal.request:
                error["request"] = shown(refusal.request)
            headers = [("Retry-After", str(refusal.retry_after))] if refusal.retry_after else []
            if not drop:
                self.answer(STATUS[refusal.code], {"error": error}, headers)

    def caller(self):
        header = self.headers.get("Authorization", "")
        who = KEYS.get(header.removeprefix("Bearer "))
        if who is None:
            raise Refusal("unauthenticated", "no valid credential")
        return who

    def dispatch(self, target):
        parts = urlsplit(target)
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        path = [unquote(part) for part in parts.path.split("/")[1:]]
        if path == ["readyz"]:
            return 200, {"status": "ready"}
        caller = self.caller()
        body = json.loads(self.raw) if self.raw else {}
        if self.raw and self.headers.get("Content-Type") != "application/json":
            raise Refusal("invalid_argument", "wrong media type")
        if path[0] == "v1":
            path = path[1:]
        match self.command, path:
            case "GET", ["me"]:
                return 200, caller
            case "GET", ["stats"]:
                return self.stats()
            case "GET", ["events"]:
                return self.stream(query)
            case "GET", ["requests"]:
                return self.list(query)
            case "POST", ["requests"]:
                return self.propose(body, caller, query)
            case "GET", ["requests", ident]:
                return self.wait(self.find(ident), query)
            case "GET", ["requests", ident, "events"]:
                return 200, {"events": self.state.events[self.find(ident)["id"]]}
            case "POST", ["requests", ident, verb]:
                return self.change(self.find(ident), verb, body, caller)
        return self.identity(path, body, caller)

    def find(self, ident):
        with self.state.lock:
            self.state.expire_due()
            if ident not in self.state.requests:
                raise Refusal("not_found", f"request `{ident}` not found")
            return self.state.requests[ident]

    def wait(self, request, query, status=200, headers=()):
        deadline = time.monotonic() + float(query.get("wait", 0))
        with self.state.changed:
            while True:
                self.state.expire_due()
                left = deadline - time.monotonic()
                if request["state"] != "pending" or left <= 0:
                    return status, shown(request), headers
                self.state.changed.wait(min(left, 0.1))

    def propose(self, body, caller, query):
        if caller["role"] != "agent":
            raise Refusal("permission_denied", "only agents propose")
        key = self.headers.get("Idempotency-Key")
        with self.state.lock:
            known = self.state.idempotent.get(key) if key else None
            if known is not None:
                if known[0] != body:
                    raise Refusal("refused", "this idempotency key was used for another body")
                return self.wait(known[1], query, 200, [("Idempotency-Replayed", "true")])
            request = self.state.propose(body, caller)
            if key:
                self.state.idempotent[key] = (body, request)
        return self.wait(request, query, 201, [("Location", "/v1/requests/" + request["id"])])

    def change(self, request, verb, body, caller):
        with self.state.lock:
            self.state.expire_due()
            if verb == "decision":
                key = (self.headers.get("Idempotency-Key"), request["id"])
                if key not in self.state.idempotent:
                    self.state.decide(request, body, caller)
                    self.state.idempotent[key] = True
            elif verb == "cancel":
                if request["state"] != "pending":
                    raise Refusal("conflict", "the request is already settled", request=request)
                self.state.settle(request, "cancelled", caller["name"])
            elif verb == "extend":
                request["_expires_ms"] += body["seconds"] * 1000
                request["expires_at"] = rfc3339(request["_expires_ms"])
                self.state.record(request, "extended", caller["name"])
            else:
                raise Refusal("not_found", "no such route")
            return 200, shown(request)

    def list(self, query):
        with self.state.lock:
            self.state.expire_due()
            found = []
            for request in reversed(self.state.requests.values()):
                tool = (request.get("action") or {}).get("tool")
                facts = dict(request, tool=tool, risk=request["risk"]["level"])
                if all(facts.get(name) == value for name, value in query.items()
                       if name not in ("limit", "cursor", "since", "until")):
                    found.append(shown(request))
        start, limit = int(query.get("cursor", 0)), int(query.get("limit", 50))
        end = start + limit
        return 200, {"requests": found[start:end], "next_cursor": str(end) if end < len(found) else None}

    def stats(self):
        with self.state.lock:
            requests = list(self.state.requests.values())
        outcomes = {}
        for request in requests:
            if request["outcome"]:
                outcomes[request["outcome"]] = outcomes.get(request["outcome"], 0) + 1
        pending = [r["created_at"] for r in requests if r["state"] == "pending"]
        return 200, {"pending": len(pending), "oldest_pending_at": min(pending, default=None),
                     "outcomes": outcomes, "decided": sum(outcomes.values()), "mean_decision_s": 12.5,
                     "waiters": 0, "streams": len(self.state.streams), "uptime_s": 3700, "version": "0.1.0"}

    def stream(self, query):
        mine = queue.Queue()
        last = int(self.headers.get("Last-Event-ID") or query.get("last_event_id") or -1)
        with self.state.lock:
            if last >= 0:
                for entry in self.state.log[last:]:
                    mine.put(entry)
            self.state.streams.append(mine)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            self.wfile.write(b"retry: 200\n\n")
            while True:
                try:
                    entry = mine.get(timeout=1)
                except queue.Empty:
                    self.wfile.write(b"event: beat\ndata: {}\n\n")
                    continue
                if entry is None:
                    self.wfile.write(b"event: reconnect\ndata: {}\n\n")
                    return None
                seq, name, data = entry
                data = dict(data, request=shown(data["request"]))
                self.wfile.write(f"id: {seq}\nevent: {name}\ndata: {json.dumps(data)}\n\n".encode())
        except OSError:
            return None
        finally:
            with self.state.lock:
                self.state.streams.remove(mine)

    def identity(self, path, body, caller):
        if caller["role"] != "admin":
            raise Refusal("permission_denied", "only admins manage keys and people")
        state = self.state
        with state.lock:
            match self.command, path:
                case "POST", ["keys"]:
                    key = {"id": "key_" + ulid(), "role": body["role"], "name": body["name"],
                           "key": f"hp_{body['role']}_" + secrets.token_urlsafe(32)}
                    state.keys[key["id"]] = dict(key, hint=key["key"][-4:], created_at=rfc3339(now_ms()),
                                                 expires_at=None, revoked_at=None)
                    return 201, key
                case "GET", ["keys"]:
                    return 200, {"keys": [{k: v for k, v in key.items() if k != "key"}
                                          for key in state.keys.values()]}
                case "POST", ["keys", ident, "revoke"]:
                    if ident not in state.keys:
                        raise Refusal("not_found", f"key `{ident}` not found")
                    state.keys[ident]["revoked_at"] = rfc3339(now_ms())
                    return 200, {"id": ident}
                case "POST", ["users"]:
                    if body["name"] in state.users:
                        raise Refusal("conflict", f"`{body['name']}` exists")
                    state.users[body["name"]] = {
                        "id": "prn_" + ulid(), "name": body["name"], "role": body["role"],
                        "groups": body.get("groups", []), "owner": None, "has_password": "password" in body,
                        "disabled": False, "created_at": rfc3339(now_ms())}
                    return 201, state.users[body["name"]]
                case "GET", ["users"]:
                    return 200, {"users": list(state.users.values())}
                case "POST", ["users", name, verb]:
                    if name not in state.users:
                        raise Refusal("not_found", f"`{name}` not found")
                    user = state.users[name]
                    if verb == "groups":
                        user["groups"] = body["groups"]
                    if verb in ("disable", "enable"):
                        user["disabled"] = verb == "disable"
                    return 200, user
                case "POST", ["links"]:
                    return 201, {"url": "http://127.0.0.1/sign-in#token", "expires_at": rfc3339(now_ms())}
        raise Refusal("not_found", "no such route")


class Quiet(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """Clients that leave early are part of the tests."""


class FakeServer:
    """Runs in a thread. `state` is open to the tests."""

    def __init__(self, port=0):
        self.state = State()
        self.start(port)

    def start(self, port):
        handler = type("BoundHandler", (Handler,), {"state": self.state})
        self.httpd = Quiet(("127.0.0.1", port), handler)
        self.port = self.httpd.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self.httpd.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def stop(self):
        self.httpd.shutdown()
        self.httpd.server_close()
        # Only now: whoever is sent away would otherwise come back before the door is shut.
        with self.state.lock:
            for stream in list(self.state.streams):
                stream.put(None)
            connections = list(self.state.connections)
        for connection in connections:
            try:
                connection.shutdown(2)
            except OSError:
                pass  # it was faster

    def propose(self, **body):
        with self.state.lock:
            return self.state.propose(body, KEYS["hp_agent_test"])

    def decide(self, ident, key="hp_approver_bob", **body):
        with self.state.lock:
            return self.state.decide(self.state.requests[ident], body, KEYS[key])

    def fail(self, path, do="answer", times=1, **fault):
        with self.state.lock:
            self.state.faults.append({"path": path, "do": do, "times": times, **fault})


if __name__ == "__main__":
    server = FakeServer(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    print(server.url, flush=True)
    threading.Event().wait()

"""The server keeps the contract (W1): every operation and every documented status of spec/openapi.yaml is really produced,
and every answer is as documented. What data alone can provoke is in spec/cases/; the rest is provoked here."""
import gzip
import json
import pathlib
import re
import signal
import socket
import sys
import tempfile
import time
import unittest

import cases
import disk
import inbox_contract
from harness import PATIENCE_S, SEEN, SPEC, Client, EventReader, Server, ServerTest, eventually, raw_exchange, raw_statuses

NOBODY = {"id": "req_00000000000000000000000000", "name": "nobody"}

# A limit so low that a handful of calls meets it.
MINIMAL = "holdpoint: 1\npolicy: minimal\n"
RATE_FLAGS = ("--rate-per-key", "2")


def needs_credential(operation):
    return operation["security"] != [] and {} not in operation["security"]


def some_path(operation):
    """The operation's path with ids that lead nowhere."""
    path = operation["path"].replace("{name}", "nobody").replace("{page}", "history").replace("{file}", "none.js")
    prefix = "bat_" if "/batches/" in path else "key_" if "/keys/" in path else "req_"
    return path.replace("{id}", prefix + "0" * 26)


def non_loopback_address():
    """An address of this machine that is not loopback, or None. Nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
            address = probe.getsockname()[0]
        except OSError:
            return None
    return None if address.startswith("127.") else address


class ContractTest(ServerTest):
    # Pairs that were not asked for in this run, with the reason.
    excused = {}

    def test_W1_every_case_goes_as_written(self):
        player = cases.Player(self.server)
        for file, case in cases.load_all():
            with self.subTest(file=file, case=case["name"]):
                player.play(case)

    def test_W1_the_embedded_document_is_the_one_in_the_repository(self):
        answer = self.server.client().get("/openapi.json")
        self.assertEqual(answer.json, SPEC.document)

    def test_no_credential_is_401_on_every_closed_route(self):
        nobody = self.server.client()
        for name, operation in SPEC.operations.items():
            if needs_credential(operation):
                with self.subTest(operation=name):
                    body = {} if "requestBody" in operation else None
                    answer = nobody.call(operation["method"], some_path(operation), body)
                    self.assertStatus(answer, 401, "unauthenticated")

    def test_two_credentials_at_once_are_400_on_every_closed_route(self):
        session = self.server.person_with_session(self.fresh("both"))
        session.wanders = True  # such calls count as wrong credentials of their address
        for name, operation in SPEC.operations.items():
            if needs_credential(operation) or name == "getMetrics":
                with self.subTest(operation=name):
                    body = {} if "requestBody" in operation else None
                    answer = session.call(operation["method"], some_path(operation), body,
                                          headers={"Authorization": f"Bearer {self.server.admin_key}"})
                    self.assertStatus(answer, 400, "invalid_argument")

    def test_a_body_beyond_the_limit_is_413_on_every_route_with_a_body(self):
        too_much = json.dumps({"pad": "x" * 300_000}).encode()
        for name, operation in SPEC.operations.items():
            if "requestBody" in operation:
                with self.subTest(operation=name):
                    answer = self.server.admin.call(operation["method"], some_path(operation), raw=too_much,
                                                    headers={"Content-Type": "application/json"})
                    self.assertStatus(answer, 413, "too_large")

    def test_another_media_type_is_415_on_every_route_with_a_body(self):
        for name, operation in SPEC.operations.items():
            if "requestBody" in operation:
                for media in ("text/plain", "application/x-www-form-urlencoded", "application/jsonx"):
                    with self.subTest(operation=name, media=media):
                        is_for_agents = operation["security"] == [{"bearer": []}] and operation["tags"] != ["aliases"]
                        caller = self.agent if is_for_agents else self.server.admin
                        answer = caller.call(operation["method"], some_path(operation), raw=b"{}",
                                             headers={"Content-Type": media})
                        self.assertStatus(answer, 415, "unsupported_media_type")

    def test_pages_and_their_files_are_cached_by_their_etag(self):
        assets = self.server.assets()
        if not assets:
            type(self).excused.update({(name, status): "built without the inbox" for name in ("getPage", "getAsset") for status in ("200", "304")})
        browser = self.server.client()
        for path in ["/", "/sign-in", f"/r/{NOBODY['id']}"] + (["/history", "/icon.svg", "/manifest.webmanifest", *assets] if assets else []):
            with self.subTest(path=path):
                answer = browser.get(path)
                self.assertStatus(answer, 200)
                self.assertEqual(browser.get(path, headers={"If-None-Match": answer.headers["ETag"]}).status, 304)
                self.assertEqual(browser.get(path, headers={"If-None-Match": '"other"'}).body, answer.body)
                is_hashed = path.startswith("/assets/")
                self.assertEqual("immutable" in answer.headers["Cache-Control"], is_hashed)
        for path in ("/none", "/assets/none.js"):
            self.assertStatus(browser.get(path), 404, "not_found")

    def test_H6_an_address_that_is_no_page_shows_people_the_page_and_programs_the_error(self):
        if not self.server.assets():
            self.skipTest("built without the inbox")
        page = self.server.client().get("/")
        kept = ("Content-Type", "Content-Security-Policy", "X-Content-Type-Options", "Referrer-Policy", "Cross-Origin-Opener-Policy",
                "Cross-Origin-Resource-Policy", "Permissions-Policy")
        for path in ("/nonsense", "/assets/none.js", "/history/", "/r/a/b"):
            with self.subTest(path=path):
                # The document names what is right below the root; deeper down it speaks of no page at all.
                client = self.server.client(checked=path not in ("/history/", "/r/a/b"))
                lost = client.get(path, headers={"Accept": "text/html,*/*;q=0.8", "If-None-Match": page.headers["ETag"]})
                self.assertStatus(lost, 404)
                self.assertEqual(lost.body, page.body)
                self.assertEqual([lost.headers[name] for name in kept], [page.headers[name] for name in kept])
                self.assertEqual(lost.headers["Cache-Control"], "no-store")
                self.assertNotIn("ETag", lost.headers)
                for accept in ("*/*", "application/json"):
                    self.assertStatus(client.get(path, headers={"Accept": accept}), 404, "not_found")
        for path in ("/v1/nonsense", "/api/nonsense"):
            self.assertStatus(self.server.client().get(path, headers={"Accept": "text/html"}), 404, "not_found")

    def test_W1_a_long_list_says_the_same_packed_and_plain(self):
        for i in range(30):
            self.agent.propose(session="packed", action={"tool": "refund", "arguments": {"order": i, "note": "n" * 300}})
        # What the document says is about the body as it is once unpacked.
        client = self.server.client(key=self.ann.key, checked=False)

        def read(accept):
            answer = client.get("/v1/requests", query={"session": "packed", "limit": 30}, headers={"Accept-Encoding": accept})
            self.assertStatus(answer, 200)
            self.assertEqual((answer.headers["Content-Type"], answer.headers["Vary"]), ("application/json", "Accept-Encoding"))
            return answer

        plain = read("identity")
        self.assertEqual(len(plain["requests"]), 30)
        packed = read("gzip, deflate, br")
        self.assertEqual(packed.headers["Content-Encoding"], "gzip")
        self.assertLess(len(packed.body) * 3, len(plain.body))
        self.assertEqual(json.loads(gzip.decompress(packed.body)), plain.json)
        for accept in ("gzip;q=0", "gzip; q=0.0, *", "br", "identity"):
            with self.subTest(accept=accept):
                answer = read(accept)
                self.assertNotIn("Content-Encoding", answer.headers)
                self.assertEqual(answer.json, plain.json)

    def test_a_token_from_the_link_signs_in_once(self):
        link = self.admin.post("/v1/links", {"name": "ann"})["url"]
        token = link.split("#", 1)[1]
        first = self.server.client().post("/v1/session", {"link": token})
        self.assertStatus(first, 201)
        self.assertEqual(first["name"], "ann")
        self.assertStatus(self.server.client().post("/v1/session", {"link": token}), 401)

    def test_W1_the_stream_is_as_documented(self):
        reader = EventReader(self.ann, {"session": "contract-stream"})
        request = self.agent.propose(session="contract-stream")
        reader.until("approval-required", request["id"])
        self.assertEqual(reader.retry, 2000)
        reader.close()
        self.assertEqual(reader.problems, [])

    def test_too_many_calls_are_429_on_every_closed_route(self):
        with Server(*RATE_FLAGS) as server:
            key = server.admin_key
            session = None
            for name, operation in SPEC.operations.items():
                if "429" not in operation["responses"]:
                    continue
                with self.subTest(operation=name):
                    if name == "createSession":
                        caller, body = server.client(), {"name": "nobody", "password": "wrong horse battery"}
                    elif name in ("passkeyGetOptions", "decidePushed"):
                        inbox_contract.guess(server)
                        caller, body = server.client(), {"token": "x", "decision": "approve"} if name == "decidePushed" else None
                    else:
                        caller, body = server.client(key), ({} if "requestBody" in operation else None)
                    if operation["security"] == [{"cookie": []}] or operation["security"] == [{"cookie": [], "csrf": []}]:
                        session = session or self.patient_session(server)
                        caller = session
                    if name == "getOpenApi":
                        continue  # without a credential only the address counts
                    self.assertIn(429, self.statuses_of_many(caller, operation, body))
        with Server("--rate-per-address", "2") as server:
            self.assertIn(429, self.statuses_of_many(server.client(), SPEC.operations["getOpenApi"], None))

    def test_W1_calls_without_a_credential_and_keys_used_twice_answer_as_documented(self):
        self.assertStatus(self.server.client().get("/openapi.json?x=%ff"), 400, "invalid_argument", "x")
        request, key = self.agent.propose(), {"Idempotency-Key": self.fresh("contract")}
        many = {"decisions": [{"id": request["id"], "decision": "reject"}]}
        self.assertStatus(self.ann.post("/v1/decisions", many, headers=key), 200)
        many["decisions"][0]["decision"] = "approve"
        self.assertStatus(self.ann.post("/v1/decisions", many, headers=key), 422, "refused", "Idempotency-Key")

    def patient_session(self, server):
        def try_it():
            made = server.admin.post("/v1/users", {"name": "pat", "role": "approver", "password": "correct horse battery"})
            return made.status in (201, 409)
        eventually(try_it, "a person was made in spite of the limit", every_s=0.3)
        def sign_in():
            answer = server.client().post("/v1/session", {"name": "pat", "password": "correct horse battery"})
            return answer if answer.status == 201 else None
        answer = eventually(sign_in, "signed in in spite of the limit", every_s=0.3)
        return server.client(cookie=answer.headers["Set-Cookie"].split(";")[0], csrf=answer["csrf"])

    def statuses_of_many(self, caller, operation, body, limit=60):
        """Calls until the limit shows itself; ends the session's own route only when it must."""
        seen = set()
        for _ in range(limit):
            path = some_path(operation)
            if operation["operationId"] == "endSession":
                path += "?keep=1"  # refused, but counted all the same
            if operation["operationId"] == "streamEvents":
                path += "?nothing=1"
            seen.add(caller.call(operation["method"], path, body).status)
            if 429 in seen:
                break
        return seen

    def test_a_full_disk_is_503_on_every_route_that_writes(self):
        reason = disk.why_not()
        if reason:
            type(self).excused.update({(name, "503"): reason for name in SPEC.operations})
            print(f"skipped: {reason}", file=sys.stderr)
            self.skipTest(reason)
        with disk.SmallDisk(24) as small, Server(data=small.path / "data") as server:
            calls = self.writes_on(server)
            small.fill()
            try:
                for name, (caller, path, body) in calls.items():
                    with self.subTest(operation=name):
                        operation = SPEC.operations[name]
                        answers = []
                        def refused():
                            # Pages that SQLite has already allocated may take a few small writes.
                            answers.append(caller.call(operation["method"], path, body))
                            return answers[-1].status == 503
                        eventually(refused, f"{name} answers 503, last {answers[-1:]}", timeout_s=5)
                self.assertStatus(server.client().get("/healthz"), 200)
            finally:
                small.free()
            self.assertStatus(server.client().get("/readyz"), 200)

    def writes_on(self, server):
        """One writing call for every operation that writes, prepared while there is space."""
        agent, ann, admin = server.actor("agent", "bot"), server.actor("approver", "ann"), server.admin
        open_ = [agent.propose(session="full")["id"] for _ in range(9)]
        done = agent.propose(session="done")["id"]
        ann.decide(done)
        session = server.person_with_session("pat")
        spare = server.new_key("agent", "spare")["id"]
        proposal = {"action": {"tool": "t", "arguments": {"pad": "x" * 20000}}}
        return {
            "proposeRequest": (agent, "/v1/requests", proposal),
            "proposeBatch": (agent, "/v1/batches", {"requests": [proposal]}),
            "decideRequest": (ann, f"/v1/requests/{open_[0]}/decision", {"decision": "reject", "reason": "x" * 2000}),
            "cancelRequest": (agent, f"/v1/requests/{open_[1]}/cancel", {"reason": "x" * 2000}),
            "extendRequest": (ann, f"/v1/requests/{open_[2]}/extend", {"seconds": 1}),
            "reportRequest": (agent, f"/v1/requests/{done}/report", {"success": True, "result": "x" * 50000}),
            "decideMany": (ann, "/v1/decisions", {"decisions": [{"id": open_[3], "decision": "approve", "note": "x" * 2000}]}),
            "putPolicy": (admin, "/v1/policy", {"text": "holdpoint: 1\npolicy: full\n# " + "x" * 50000 + "\n"}),
            "createKey": (admin, "/v1/keys", {"role": "agent", "name": "one-more"}),
            "revokeKey": (admin, f"/v1/keys/{spare}/revoke", None),
            "createUser": (admin, "/v1/users", {"name": "one-more-person", "role": "approver"}),
            "setPassword": (admin, "/v1/users/ann/password", {"password": "correct horse battery"}),
            "disableUser": (admin, "/v1/users/pat/disable", None),
            "enableUser": (admin, "/v1/users/spare/enable", None),
            "setGroups": (admin, "/v1/users/ann/groups", {"groups": ["g" * 90]}),
            "createSession": (server.client(), "/v1/session", {"name": "pat", "password": "correct horse battery"}),
            "endSession": (session, "/v1/session", None),
            "createLink": (admin, "/v1/links", {"name": "ann"}),
            **inbox_contract.writes_on(server, agent, ann),
            "aliasApprove": (ann, f"/api/approvals/{open_[4]}/approve", {"modifiedArguments": {"pad": "x" * 20000}}),
            "aliasReject": (ann, f"/api/approvals/{open_[5]}/reject", {"reason": "x" * 2000}),
            "aliasAgentApprove": (ann, "/api/agent/approve", {"approvalId": open_[6], "approved": False, "reason": "x" * 2000}),
        }

    def test_W1_inbox_routes_answer_as_documented(self):
        """Sessions, undo, passkeys, push, presence."""
        inbox_contract.play(self)

    def test_W1_policy_routes_answer_as_documented(self):
        """Policy changes for everybody, so these have a server of their own."""
        with Server() as server, tempfile.TemporaryDirectory() as folder:
            agent, ann, admin = server.actor("agent", "bot"), server.actor("approver", "ann"), server.admin
            proposal = {"action": {"tool": "refund", "arguments": {"amount": 20}}}
            for operation, path, body in (("POST", "/v1/check", proposal), ("GET", "/v1/grants", None),
                                          ("GET", "/v1/policy", None), ("GET", "/v1/policy/versions", None),
                                          ("POST", "/v1/policy/check", {"text": MINIMAL}), ("POST", "/v1/policy/test", {}),
                                          ("POST", "/v1/policy/diff", {"text": MINIMAL}),
                                          ("POST", "/v1/policy/explain", {"call": {"tool": "t", "args": {}}}),
                                          ("POST", "/v1/policy/backtest", {}), ("POST", "/v1/policy/suggest", None)):
                with self.subTest(path=path):
                    self.assertStatus(admin.call(operation, path, body), 200)
                    self.assertStatus(admin.call(operation, path, body, query={"odd": "1"}), 400)
                    if path != "/v1/check":
                        self.assertStatus(agent.call(operation, path, body), 403)
            self.assertStatus(server.client(cookie="holdpoint_session=" + "A" * 43).post("/v1/check", proposal), 401)
            session = server.person_with_session("pat")
            self.assertStatus(server.client(cookie=session.cookie).post("/v1/check", proposal), 403)
            self.assertStatus(agent.post("/v1/check", {"action": {"tool": "x", "arguments": 1}}), 400)

            put = lambda caller, body, **more: caller.call("PUT", "/v1/policy", body, **more)
            self.assertStatus(put(ann, {"text": "x"}), 403)
            self.assertStatus(put(admin, {"text": "holdpoint: 1\npolicy: [\n"}), 400, "invalid_argument", "text")
            policy = ("holdpoint: 1\npolicy: p\ndefaults: {decision: require}\ntools:\n  refund: {risk: low, args: {amount: number}}\n"
                      "grants: {offer: [similar], max_ttl: 1h, max_uses: 5, max_risk: medium, similar: {refund: {bound: {args.amount: {at_most: approved}}}}}\n")
            in_force = put(admin, {"text": policy})
            self.assertStatus(in_force, 200)
            version = in_force["version"]
            self.assertStatus(admin.get(f"/v1/policy/versions/{version}"), 200)
            self.assertStatus(admin.get(f"/v1/policy/versions/{version}", query={"odd": "1"}), 400)
            self.assertStatus(admin.get("/v1/policy/versions/sha256:0"), 404)
            self.assertStatus(agent.get(f"/v1/policy/versions/{version}"), 403)

            tested = (policy + "rules:\n  - {id: large, tools: [refund], when: args.amount > 100.0, then: deny}\n"
                      "tests:\n  - {name: wrong, call: {tool: refund, args: {amount: 500}}, expect: {decision: allow}}\n")
            self.assertStatus(admin.post("/v1/policy/check", {"text": tested}), 400, "invalid_argument", "text")
            self.assertStatus(admin.post("/v1/policy/check", {}), 400, "invalid_argument", "text")
            report = admin.post("/v1/policy/test", {"text": tested})
            self.assertEqual((report["passed"], report["failed"], report["untested"]), (0, 1, []))
            self.assertIn("deny", report["tests"][0]["message"])
            right = tested.replace("expect: {decision: allow}", "expect: {decision: deny}")
            self.assertEqual(admin.post("/v1/policy/check", {"text": right})["rules"], 1)
            changes = ann.post("/v1/policy/diff", {"text": right})["changes"]
            self.assertEqual([(one["kind"], one["direction"]) for one in changes], [("added", "stricter")])
            self.assertEqual(admin.post("/v1/policy/diff", {"text": right, "before": tested})["changes"], [])
            self.assertStatus(admin.post("/v1/policy/diff", {"text": right, "before": "holdpoint: 3"}), 400, "invalid_argument", "before")

            held = agent.post("/v1/requests", proposal)
            self.assertEqual(held["state"], "pending")
            ann.decide(held["id"], "approve", grant={"uses": 2})
            grant = admin.get("/v1/grants")["grants"][0]
            self.assertEqual(agent.post("/v1/requests", proposal)["outcome"], "allowed")
            self.assertStatus(admin.get(f"/v1/grants/{grant['id']}"), 200)
            self.assertStatus(admin.get(f"/v1/grants/{grant['id']}", query={"odd": "1"}), 400)
            self.assertStatus(admin.get("/v1/grants/gr_0"), 404)
            self.assertStatus(agent.get(f"/v1/grants/{grant['id']}"), 403)
            revoke = f"/v1/grants/{grant['id']}/revoke"
            self.assertStatus(agent.post(revoke), 403)
            self.assertStatus(ann.post(revoke, {"odd": 1}), 400)
            self.assertStatus(ann.post("/v1/grants/gr_0/revoke"), 404)
            self.assertStatus(ann.post(revoke), 200)
            self.assertStatus(ann.post(revoke), 409)
            self.assertEqual(agent.post("/v1/requests", proposal)["state"], "pending")

            refused = agent.post("/v1/requests", proposal)
            ann.decide(refused["id"], "reject", reason="no")
            easy = "holdpoint: 1\npolicy: easy\ndefaults: {decision: allow, max_auto_risk: high}\ntools:\n  refund: {risk: low}\n"
            self.assertStatus(put(admin, {"text": easy}), 422, "refused", "acknowledge")
            self.assertStatus(put(admin, {"text": easy, "acknowledge": [refused["id"]]}), 200)
            self.assertStatus(admin.post("/v1/policy/reload"), 409)
            self.assertStatus(admin.post("/v1/policy/reload", {"odd": 1}), 400)
            self.assertStatus(ann.post("/v1/policy/reload"), 403)

            file = pathlib.Path(folder) / "policy.yaml"
            file.write_text(policy)
            with Server("--policy", str(file)) as other:
                self.assertEqual(other.admin.get("/v1/policy")["origin"], "file")
                self.assertStatus(put(other.admin, {"text": policy}), 409)
                file.write_text(policy.replace("policy: p", "policy: second"))
                self.assertStatus(other.admin.post("/v1/policy/reload"), 200)
                self.assertEqual(other.admin.get("/v1/policy")["name"], "second")
                file.write_text("holdpoint: 2\n")
                self.assertStatus(other.admin.post("/v1/policy/reload"), 400)
                self.assertEqual(other.admin.get("/v1/policy")["name"], "second")

    def test_metrics_are_for_loopback_or_those_who_may(self):
        address = non_loopback_address()
        if not address:
            self.skipTest("this machine has only loopback")
        with Server("--behind-proxy", listen_host="0.0.0.0") as server:
            agent, auditor = server.actor("agent", "bot").key, server.actor("auditor", "olga").key
            server.host = address
            self.assertStatus(Client(server).get("/metrics"), 401)
            self.assertStatus(Client(server, agent).get("/metrics"), 403)
            self.assertStatus(Client(server, auditor).get("/metrics"), 200)

    def test_a_server_that_stops_is_not_ready(self):
        """The second call of a connection whose first one waits is answered when the server is on its way out."""
        with Server() as server:
            agent = server.actor("agent", "bot")
            request = agent.propose()
            calls = (f"GET /v1/requests/{request['id']}?wait=60 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {agent.key}\r\n\r\n"
                     "GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n")
            with socket.create_connection((server.host, server.port), timeout=20) as sock:
                sock.sendall(calls.encode())
                eventually(lambda: server.admin.get("/v1/stats")["waiters"] == 1, "the agent waits")
                server.process.send_signal(signal.SIGTERM)
                received = b""
                while chunk := sock.recv(65536):
                    received += chunk
        self.assertEqual(raw_statuses(received), [503, 503], received[:300])
        body = json.loads(received.rpartition(b"\r\n\r\n")[2])
        self.assertEqual(SPEC.validator.errors(body, {"$ref": "#/components/schemas/UnavailableError"}), [])
        SEEN["getReadiness", "503"] += 1

    def engine(self, data, status, timeout_s=15.0):
        """Sends bytes and checks the first answer against the document's engine responses."""
        received = raw_exchange(self.server, data, timeout_s, half_close=False)
        self.assertTrue(raw_statuses(received), f"no answer: {received[:200]!r}")
        self.assertEqual(raw_statuses(received)[0], status, received[:300])
        head, _, body = received.partition(b"\r\n\r\n")
        response = SPEC.validator.follow(SPEC.engine[str(status)])
        length = int(re.search(rb"(?i)content-length: (\d+)", head)[1])
        value = json.loads(body[:length])
        self.assertEqual(SPEC.validator.errors(value, response["content"]["application/json"]["schema"]), [], value)
        SEEN["engine", str(status)] += 1

    def test_W1_the_engine_answers_in_the_same_form(self):
        self.engine(b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 414)
        self.engine(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                    + b"".join(b"X-%d: %s\r\n" % (i, b"y" * 100) for i in range(400)) + b"\r\n", 431)
        self.engine(b"POST /v1/requests HTTP/1.1\r\nHost: x\r\nExpect: magic\r\nContent-Length: 2\r\n\r\n{}", 417)
        self.engine(b"GET / HTTP/3.7\r\nHost: x\r\n\r\n", 505)

    def test_a_call_that_does_not_arrive_is_408(self):
        self.engine(b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ", 408, timeout_s=60)

    def test_a_method_that_does_not_exist_is_405_with_those_that_do(self):
        for path in {operation["path"] for operation in SPEC.operations.values()}:
            methods = {m for p, _, ms in ((o["path"], 0, [o["method"]]) for o in SPEC.operations.values()) if p == path for m in ms}
            with self.subTest(path=path):
                if path in ("/{page}", "/assets/{file}") and not self.server.assets():
                    continue  # built without the inbox
                target = self.server.assets()[0] if path == "/assets/{file}" else some_path({"path": path})
                answer = self.admin.call("PATCH", target, {})
                self.assertStatus(answer, 405, "method_not_allowed")
                allowed = {word.strip() for word in answer.headers["Allow"].split(",")}
                self.assertLessEqual(methods, allowed)
                self.assertNotIn("PATCH", allowed)
        SEEN["engine", "405"] += 1

    def test_W1_zz_every_documented_answer_was_seen(self):
        missing = []
        for name, operation in SPEC.operations.items():
            for status in operation["responses"]:
                if SEEN[name, status] or (name, status) in self.excused:
                    continue
                # A read is answered from what is there; only a queue that is full makes it 503, and no call can fill it.
                is_read = operation["method"] == "GET" or name in ("checkProposal", "checkPolicy", "testPolicy", "diffPolicy", "explainCall",
                                                                  "backtestPolicy", "suggestRules",
                                                                  *inbox_contract.READS)
                if status == "503" and is_read and name != "getReadiness":
                    continue
                if status == "503" and name in ("revokeGrant", "reloadPolicy", *inbox_contract.LONG_WRITES):
                    continue  # the same write as any other; what it needs first does not fit on the small disk
                missing.append(f"{name} {status}")
        missing += [f"engine {status}" for status in SPEC.engine if status != "500" and not SEEN["engine", status]]
        self.assertEqual(missing, [])


def load_tests(loader, tests, pattern):
    """The coverage check comes last whatever the names of the others."""
    names = sorted(loader.getTestCaseNames(ContractTest), key=lambda name: ("_zz_" in name, name))
    return unittest.TestSuite(ContractTest(name) for name in names)


if __name__ == "__main__":
    unittest.main()

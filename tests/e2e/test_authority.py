"""Who may do what (X1): every route of spec/openapi.yaml for every kind of caller. A route without a rule fails the test,
and whoever is refused has changed nothing."""
import json
import unittest

from harness import SPEC, EventReader, Server, ServerTest, eventually

PASSWORD = "correct horse battery"
# A browser's end of a push subscription: the example of RFC 8291.
PUSH_KEYS = {"p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
             "auth": "BTBZMqHH6r4Tts7J_aSIgg"}

EVERYBODY = {"agent", "approver", "auditor", "admin"}
READERS = EVERYBODY
PEOPLE = {"approver", "admin"}
OVERSIGHT = {"approver", "auditor", "admin"}
ADMIN = {"admin"}
AGENT = {"agent"}
PUBLIC = None

# operation -> (roles that may, status when it works, owner only: to another agent the thing does not exist)
RULES = {
    "proposeRequest": (AGENT, 201, False),
    "listRequests": (READERS, 200, False),
    "getRequest": (READERS, 200, True),
    "getRequestEvents": (READERS, 200, True),
    "decideRequest": (PEOPLE, 200, False),
    "cancelRequest": (AGENT, 200, True),
    "extendRequest": (PEOPLE, 200, False),
    "reportRequest": (AGENT, 200, True),
    "undoDecision": (PEOPLE, 409, False),  # nothing of theirs is held here
    "challengeDecision": (PEOPLE, 422, False),  # nobody here has a passkey
    "tellPresence": (OVERSIGHT, 200, False),
    "snoozeRequest": (OVERSIGHT, 200, False),
    "listSimilar": (OVERSIGHT, 200, False),
    "proposeBatch": (AGENT, 201, False),
    "getBatch": (READERS, 200, True),
    "decideMany": (PEOPLE, 200, False),
    "streamEvents": (READERS, 200, False),
    "checkProposal": (EVERYBODY, 200, False),
    "listGrants": (OVERSIGHT, 200, False),
    "getGrant": (OVERSIGHT, 200, False),
    "revokeGrant": (PEOPLE, 200, False),
    "getPolicy": (OVERSIGHT, 200, False),
    "putPolicy": (ADMIN, 200, False),
    "reloadPolicy": (ADMIN, 409, False),  # this server has no policy file
    "listPolicyVersions": (OVERSIGHT, 200, False),
    "getPolicyVersion": (OVERSIGHT, 200, False),
    "checkPolicy": (OVERSIGHT, 200, False),
    "testPolicy": (OVERSIGHT, 200, False),
    "diffPolicy": (OVERSIGHT, 200, False),
    "explainCall": (OVERSIGHT, 200, False),
    "backtestPolicy": (OVERSIGHT, 200, False),
    "suggestRules": (OVERSIGHT, 200, False),
    "getStats": (OVERSIGHT, 200, False),
    "getMe": (EVERYBODY, 200, False),
    "createKey": (ADMIN, 201, False),
    "listKeys": (ADMIN, 200, False),
    "revokeKey": (ADMIN, 200, False),
    "createUser": (ADMIN, 201, False),
    "listUsers": (OVERSIGHT, 200, False),
    "setPassword": (ADMIN, 200, False),
    "disableUser": (ADMIN, 200, False),
    "enableUser": (ADMIN, 200, False),
    "setGroups": (ADMIN, 200, False),
    "createLink": (ADMIN, 201, False),
    "createSession": (PUBLIC, 201, False),
    "getSession": ("session", 200, False),
    "endSession": ("session", 200, False),
    "listSessions": (OVERSIGHT, 200, False),
    "revokeSession": (OVERSIGHT, 404, False),  # no session has this id
    "listPasskeys": (OVERSIGHT, 200, False),
    "passkeyCreateOptions": ("signed in", 200, False),
    "addPasskey": ("signed in", 400, False),  # what is sent is no passkey
    "renamePasskey": (OVERSIGHT, 404, False),
    "removePasskey": (OVERSIGHT, 404, False),
    "passkeyGetOptions": (PUBLIC, 200, False),
    "getPushKey": (OVERSIGHT, 200, False),
    "listPushSubscriptions": (OVERSIGHT, 200, False),
    "addPushSubscription": ("signed in", 201, False),  # it goes with the sign-in; a key has none
    "removePushSubscription": (OVERSIGHT, 404, False),
    "decidePushed": (PUBLIC, 403, False),  # only the token of a message decides
    "getHealth": (PUBLIC, 200, False),
    "getReadiness": (PUBLIC, 200, False),
    "getMetrics": ("metrics", 200, False),  # open from loopback, as here, unless a key says who asks
    "getOpenApi": (PUBLIC, 200, False),
    "getInbox": (PUBLIC, 200, False),
    "getSignIn": (PUBLIC, 200, False),
    "getRequestPage": (PUBLIC, 200, False),
    "getPage": (PUBLIC, 200, False),
    "getAsset": (PUBLIC, 200, False),
    "aliasListApprovals": (READERS, 200, False),
    "aliasListPending": (READERS, 200, False),
    "aliasApprove": (PEOPLE, 200, False),
    "aliasReject": (PEOPLE, 200, False),
    "aliasAgentApprove": (PEOPLE, 200, False),
}

POLICY = """holdpoint: 1
policy: authority
defaults: {decision: require}
tools:
  t: {risk: low}
grants: {offer: [similar], max_ttl: 1h, max_uses: 5, max_risk: medium, similar: {t: {pin: [args.n]}}}
"""

DECIDING = {"decideRequest", "decideMany", "extendRequest", "revokeGrant", "undoDecision", "challengeDecision", "decidePushed",
            "aliasApprove", "aliasReject", "aliasAgentApprove"}

# Routes that have no place for the digest, so that no browser decides there.
FOR_KEYS = {"aliasApprove", "aliasReject", "aliasAgentApprove"}

# kind of caller -> (role it acts in, or None; what every closed route answers instead)
PRINCIPALS = {
    "none": (None, 401),
    "garbage key": (None, 401),
    "key of the right form that nobody has": (None, 401),
    "revoked key": (None, 401),
    "expired key": (None, 401),
    "key of a disabled user": (None, 401),
    "garbage cookie": (None, 401),
    "session of a disabled user": (None, 401),
    "agent": ("agent", None),
    "other agent": ("agent", None),
    "approver": ("approver", None),
    "auditor": ("auditor", None),
    "admin": ("admin", None),
    "session": ("approver", None),
    "admin session": ("admin", None),
    "session without csrf": ("approver", "csrf"),
    "session with another csrf": ("approver", "csrf"),
    "session from another origin": ("approver", "csrf"),
    "session from another site": ("approver", "csrf"),
    "both credentials": (None, 400),
}


class AuthorityTest(ServerTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        server = cls.server
        session = server.person_with_session("sid")
        admin_session = server.person_with_session("ada", role="admin")
        cls.callers = {
            "none": server.client(),
            # Wrong credentials are counted per address; each of these calls comes from an address of its own.
            "garbage key": server.client("garbage", wanders=True),
            "key of the right form that nobody has": server.client("hp_admin_" + "A" * 43, wanders=True),
            "garbage cookie": server.client(cookie="holdpoint_session=" + "A" * 43, csrf="x", wanders=True),
            "agent": cls.agent, "other agent": cls.other_agent, "approver": cls.ann, "auditor": cls.auditor,
            "admin": cls.admin, "session": session, "admin session": admin_session,
            "session without csrf": server.client(cookie=session.cookie),
            "session with another csrf": server.client(cookie=session.cookie, csrf=admin_session.csrf),
            "session from another origin": server.client(cookie=session.cookie, csrf=session.csrf),
            "session from another site": server.client(cookie=session.cookie, csrf=session.csrf),
            "both credentials": server.client(cls.admin.key, cookie=session.cookie, csrf=session.csrf, wanders=True),
        }
        cls.extra_headers = {"session from another origin": {"Origin": "https://evil.example"},
                             "session from another site": {"Sec-Fetch-Site": "cross-site"}}
        revoked = server.new_key("admin", "rex")
        server.admin.post(f"/v1/keys/{revoked['id']}/revoke")
        cls.callers["revoked key"] = server.client(revoked["key"], wanders=True)
        gone = server.client(server.new_key("admin", "dis")["key"], wanders=True)
        gone_session = server.person_with_session("dora", role="admin")
        for name in ("dis", "dora"):
            assert server.admin.post(f"/v1/users/{name}/disable").status == 200
        cls.callers["key of a disabled user"] = gone
        gone_session.wanders = True
        cls.callers["session of a disabled user"] = gone_session
        expired = server.client(server.new_key("admin", "exa", expires_in_s=1)["key"], wanders=True)
        eventually(lambda: expired.get("/v1/me").status == 401, "the key expires")
        cls.callers["expired key"] = expired
        cls.count = 0
        answer = server.admin.call("PUT", "/v1/policy", {"text": POLICY})
        assert answer.status == 200, answer
        cls.version = answer["version"]

    def test_every_route_has_a_rule_and_every_rule_a_route(self):
        self.assertEqual(set(RULES), set(SPEC.operations))
        self.assertEqual(set(PRINCIPALS), set(self.callers))

    def test_every_deciding_route_is_known_as_one(self):
        """A new route under the tags that decide must be thought about here too."""
        tagged = {name for name, operation in SPEC.operations.items()
                  if operation["tags"][0] == "decisions" or (operation["tags"][0] == "aliases" and operation["method"] == "POST")}
        self.assertEqual(tagged, DECIDING)

    def fresh_request(self):
        return self.agent.propose(session=self.fresh("authority"))

    def prepare(self, name):
        """(path, body, query, request that must stay as it is when refused) for one call of the operation."""
        AuthorityTest.count += 1
        n = f"n{AuthorityTest.count}"
        request = self.fresh_request() if "{id}" in SPEC.operations[name]["path"] or name in DECIDING else None
        id = request["id"] if request else None
        digest = request["digest"] if request else None
        proposal = {"action": {"tool": "t"}, "session": "authority-made"}
        if name == "reportRequest":
            self.ann.decide(request)
        if name in ("getGrant", "revokeGrant"):
            granted = self.agent.propose(action={"tool": "t", "arguments": {"n": AuthorityTest.count}})
            id = granted["id"]
            self.ann.decide(granted, grant={"uses": 1})
            grants = self.admin.get("/v1/grants", query={"state": "all"})["grants"]
            grant = next(g for g in grants if g["request"] == id)
            return SPEC.operations[name]["path"].replace("{id}", grant["id"]), None, None, request
        if name == "getPolicyVersion":
            return f"/v1/policy/versions/{self.version}", None, None, None
        if name == "getPage":
            return "/history", None, None, None
        if name == "getAsset":
            return self.server.assets()[0], None, None, None
        if name in ("getBatch",):
            batch = self.agent.post("/v1/batches", {"requests": [proposal]})
            return f"/v1/batches/{batch['id']}", None, None, None
        if name == "revokeKey":
            return f"/v1/keys/{self.server.new_key('agent', n)['id']}/revoke", None, None, None
        if name in ("setPassword", "disableUser", "enableUser", "setGroups"):
            self.server.admin.post("/v1/users", {"name": n, "role": "approver"})
            path = SPEC.operations[name]["path"].replace("{name}", n)
            body = {"setPassword": {"password": PASSWORD}, "setGroups": {"groups": ["g"]}}.get(name)
            return path, body, None, None
        path = SPEC.operations[name]["path"].replace("{id}", id or "")
        body = {
            "proposeRequest": proposal,
            "proposeBatch": {"requests": [proposal]},
            "decideRequest": {"decision": "approve", "digest": digest},
            "extendRequest": {"seconds": 60},
            "reportRequest": {"success": True},
            "decideMany": {"decisions": [{"id": id, "decision": "approve", "digest": digest}]},
            "checkProposal": proposal,
            "challengeDecision": {"decision": "approve", "digest": digest},
            "snoozeRequest": {"until": None},
            "addPasskey": {"name": "x", "credential": {}},
            "renamePasskey": {"name": "x"},
            "addPushSubscription": {"subscription": {"endpoint": f"https://push.example.com/{n}", "keys": PUSH_KEYS}},
            "decidePushed": {"token": "x", "decision": "approve"},
            "putPolicy": {"text": POLICY},
            "checkPolicy": {"text": POLICY},
            "testPolicy": {},
            "diffPolicy": {"text": POLICY},
            "explainCall": {"call": {"tool": "t", "args": {}}},
            "backtestPolicy": {},
            "createKey": {"role": "agent", "name": n},
            "createUser": {"name": n, "role": "approver"},
            "createLink": {"name": "ann"},
            "createSession": {"name": "sid", "password": PASSWORD},
            "aliasAgentApprove": {"approvalId": id, "approved": True},
        }.get(name)
        return path, body, None, request

    def expected(self, name, principal):
        may, works, is_owner_only = RULES[name]
        role, instead = PRINCIPALS[principal]
        is_change = SPEC.operations[name]["method"] != "GET"
        if may is PUBLIC:
            return works
        if may == "metrics":
            if self.callers[principal].key is None:
                return works
            return instead or (works if role in ("auditor", "admin") else 403)
        if instead == "csrf":
            if is_change:
                return 403
        elif instead is not None:
            return instead
        if may == "signed in":
            return works if "session" in principal else 403
        if may == "session":
            return works if "session" in principal else 403 if role == "agent" else 404
        if role not in may or (name in FOR_KEYS and "session" in principal):
            return 403
        if principal == "other agent" and is_owner_only:
            return 404
        return works

    def test_every_route_answers_every_caller_as_the_rules_say(self):
        cells = 0
        for name in RULES:
            for principal in PRINCIPALS:
                if self.is_out_of_scope(name, principal):
                    continue
                with self.subTest(operation=name, caller=principal):
                    self.check(name, principal)
                    cells += 1
        self.assertGreater(cells, 600)

    def is_out_of_scope(self, name, principal):
        if name in ("getPage", "getAsset") and not self.server.assets():
            return True  # this binary was built without the inbox
        # Signing in looks at what is in the body; a credential beside it says nothing.
        if name == "createSession":
            return principal not in ("none",)
        # A page or a health check does not look at credentials at all; one kind of each is enough.
        if RULES[name][0] is PUBLIC:
            return principal not in ("none", "garbage key", "agent", "session")
        # Ending the sessions that the other cells use would change what they test; the contract cases end one.
        return name == "endSession" and principal in ("session", "admin session")

    def check(self, name, principal):
        operation = SPEC.operations[name]
        caller = self.callers[principal]
        wanted = self.expected(name, principal)
        path, body, query, request = self.prepare(name)
        if name == "streamEvents" and wanted == 200:
            EventReader(caller).close()
            return
        before = self.state_of(request)
        headers = self.extra_headers.get(principal) if operation["method"] != "GET" else None
        answer = caller.call(operation["method"], path, body, headers=headers, query=query)
        self.assertEqual(answer.status, wanted, f"{operation['method']} {path} as {principal}: {answer}")
        if wanted >= 400:
            self.assertEqual(self.state_of(request), before, "refused, but something changed")

    def state_of(self, request):
        if request is None:
            return None
        return self.admin.read(request), self.admin.timeline(request)

    def test_an_agent_cannot_decide_on_any_door(self):
        """Not with its own request, not with another's, not with its key beside a person's cookie."""
        session = self.callers["session"]
        for name in sorted(DECIDING):
            for caller in (self.agent, self.other_agent,
                           self.server.client(self.agent.key, cookie=session.cookie, csrf=session.csrf, wanders=True)):
                with self.subTest(operation=name):
                    path, body, _, request = self.prepare(name)
                    answer = caller.post(path, body)
                    is_open = RULES[name][0] is PUBLIC  # looks at no credential but its own
                    self.assertIn(answer.status, (403,) if caller.cookie is None or is_open else (400,), answer)
                    self.assertEqual(self.admin.read(request)["state"], "pending")
                    self.assertEqual(len(self.admin.timeline(request)), 1)

    def test_nothing_is_decided_by_a_get(self):
        for name in sorted(DECIDING):
            path, body, _, request = self.prepare(name)
            with self.subTest(operation=name):
                self.assertStatus(self.ann.get(path), 405)
                self.assertStatus(self.ann.get(path, query={"decision": "approve"}), 405)
                self.assertEqual(self.admin.read(request)["state"], "pending")

    def test_an_overridden_method_is_not_believed(self):
        request = self.fresh_request()
        for header in ("X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"):
            answer = self.ann.get(f"/v1/requests/{request['id']}/decision", headers={header: "POST"})
            self.assertStatus(answer, 405)

    def test_a_cookie_caller_must_say_what_it_saw(self):
        request = self.fresh_request()
        session = self.callers["session"]
        answer = session.post(f"/v1/requests/{request['id']}/decision", {"decision": "approve"})
        self.assertStatus(answer, 400, "invalid_argument", "digest")
        settled = session.decide(request, digest=request["digest"])
        self.assertEqual(settled["decision"]["via"], "browser")
        self.assertEqual(settled["decision"]["by"], "sid")

    def test_disabling_and_revoking_end_what_is_open(self):
        person = self.server.person_with_session(self.fresh("temp"))
        name = person.get("/v1/me")["name"]
        self.assertStatus(self.admin.post(f"/v1/users/{name}/disable"), 200)
        self.assertStatus(person.get("/v1/me"), 401)
        self.assertStatus(self.admin.post(f"/v1/users/{name}/enable"), 200)
        again = self.server.sign_in(name, PASSWORD)
        self.assertStatus(again.get("/v1/me"), 200)

    def test_a_new_password_ends_the_sessions(self):
        person = self.server.person_with_session(self.fresh("pw"))
        name = person.get("/v1/me")["name"]
        wrong = person.post(f"/v1/users/{name}/password", {"current": "not it at all", "password": "another good phrase"})
        self.assertEqual(wrong.status, 403, wrong)
        self.assertStatus(person.post(f"/v1/users/{name}/password", {"password": "another good phrase"}), 400,
                          "invalid_argument", "current")
        # A key is no proof that the person sits there either.
        keyed = self.server.client(self.server.new_key("approver", name)["key"])
        self.assertIn(keyed.post(f"/v1/users/{name}/password", {"password": "another good phrase"}).status, (400, 403))
        self.assertStatus(person.post(f"/v1/users/{name}/password",
                                      {"current": PASSWORD, "password": "another good phrase"}), 200)
        self.assertEqual(self.server.client().post("/v1/session", {"name": name, "password": PASSWORD}).status, 401)
        self.assertStatus(self.server.sign_in(name, "another good phrase").get("/v1/me"), 200)

    def test_X4_wrong_credentials_of_an_address_do_not_lock_the_right_ones_out(self):
        """Agents and people share addresses (one host, one proxy): an agent must not be able to silence the approvers."""
        with Server() as server:
            ann = server.actor("approver", "ann")
            guesser = server.client("hp_admin_" + "B" * 43)
            statuses = {guesser.get("/v1/me").status for _ in range(100)}
            self.assertLessEqual(statuses, {401, 429})
            bob = server.actor("approver", "bob")
            self.assertStatus(bob.get("/v1/me"), 200)
            self.assertStatus(ann.get("/v1/me"), 200)

    def test_exclude_requester_keeps_the_owner_and_the_user_out(self):
        owned = self.server.actor("agent", "owned-bot", owner="ann")
        request = owned.propose(requirement={"exclude_requester": True}, user="bob")
        self.assertStatus(self.ann.post(f"/v1/requests/{request['id']}/decision", {"decision": "approve"}), 403)
        self.assertStatus(self.bob.post(f"/v1/requests/{request['id']}/decision", {"decision": "approve"}), 403)
        self.assertStatus(self.ann.post(f"/api/approvals/{request['id']}/approve"), 403)
        third = self.server.actor("approver", "third")
        self.assertEqual(third.decide(request)["outcome"], "approved")

    def test_X1_whom_to_keep_out_must_be_known(self):
        """Where nobody is known who could be excluded, the one who asks could decide."""
        action = {"action": {"tool": "pay"}}
        asked = {**action, "requirement": {"exclude_requester": True}}
        self.assertStatus(self.agent.post("/v1/requests", asked), 422, "refused", "requirement.exclude_requester")
        self.assertStatus(self.agent.post("/v1/requests", {**asked, "user": "bob"}), 201)
        with Server("--exclude-requester") as server:
            orphan, ann = server.actor("agent", "orphan"), server.actor("approver", "ann")
            owned = server.actor("agent", "owned", owner="ann")
            for body in (action, {**action, "user": "bob"}):
                answer = orphan.post("/v1/requests", body)
                self.assertStatus(answer, 422, "refused", "owner")
                self.assertIn("owner", answer.error["message"])
            batch = orphan.post("/v1/batches", {"requests": [action]})
            self.assertStatus(batch, 422, "refused", "requests[0].owner")
            request = owned.propose()
            self.assertEqual(request["owner"], "ann")
            self.assertStatus(ann.post(f"/v1/requests/{request['id']}/decision", {"decision": "approve"}), 403)
            self.assertEqual(server.actor("approver", "bob").decide(request)["outcome"], "approved")

    def test_a_secret_is_shown_once_and_stored_only_hashed(self):
        made = self.server.new_key("agent", self.fresh("hashed"))
        self.assertNotIn(made["key"].encode(), self.admin.get("/v1/keys").body)
        self.assertNotIn(made["key"].encode(), self.admin.get("/v1/users").body)
        session = self.server.person_with_session(self.fresh("stored"))
        token = session.cookie.split("=", 1)[1]
        for path in self.server.data.rglob("*"):
            if path.is_file() and path.name != "admin.key":
                content = path.read_bytes()
                self.assertNotIn(made["key"].encode(), content, path)
                self.assertNotIn(token.encode(), content, path)
                self.assertNotIn(PASSWORD.encode(), content, path)
        self.assertEqual((self.server.data / "admin.key").stat().st_mode & 0o777, 0o600)
        self.assertNotIn(self.server.admin_key, self.server.log(10_000))


if __name__ == "__main__":
    unittest.main()

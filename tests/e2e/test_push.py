"""Push (H8), end to end: the server encrypts, a stand-in service takes it, a browser of our own decrypts it and presses a
button."""
import unittest

from harness import SPEC, Server, ServerTest, eventually
from push_service import Browser, PushService


class PushTest(ServerTest):
    flags = ("--push-to-loopback",)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.service = PushService()
        cls.session = cls.server.person_with_session("pia")

    @classmethod
    def tearDownClass(cls):
        cls.service.close()
        super().tearDownClass()

    def subscribe(self, person=None, name="phone"):
        browser = Browser(self.service)
        answer = (person or self.session).post("/v1/push/subscriptions", {"name": name, "subscription": browser.subscription()})
        self.assertStatus(answer, 201)
        browser.id = answer["id"]
        self.addCleanup(lambda: (person or self.session).delete(f"/v1/push/subscriptions/{browser.id}"))
        return browser

    def told(self, browser, request, about="approval-required"):
        """The next message to this browser about this request."""
        while True:
            got = browser.next()
            self.assertEqual(self.service.problems, [])
            message = got["message"]
            self.assertEqual(SPEC.validator.errors(message, {"$ref": "#/components/schemas/PushMessage"}), [])
            if message["holdpoint"]["id"] == request["id"] and message["holdpoint"]["about"] == about:
                return message

    def press(self, message, decision="approve"):
        return self.server.client().post("/v1/push/decision", {"token": message["holdpoint"]["token"], "decision": decision})

    def test_H8_a_message_reaches_the_browser_and_its_button_decides_once(self):
        browser = self.subscribe()
        request = self.agent.propose()
        message = self.told(browser, request)
        self.assertEqual(message["notification"]["title"], request["headline"])
        self.assertEqual(message["holdpoint"]["digest"], request["digest"])
        self.assertTrue(message["notification"]["navigate"].endswith(request["url"]))
        self.assertEqual(self.service.server_key, self.session.get("/v1/push/key")["key"])
        settled = self.press(message)
        self.assertStatus(settled, 200)
        self.assertEqual(settled["outcome"], "approved")
        self.assertEqual(settled["decision"]["by"], "pia")
        self.assertEqual(settled["decision"]["via"], "push")
        self.assertStatus(self.press(message), 409)
        self.assertStatus(self.press(message, "reject"), 409)
        end = self.told(browser, request, "request-settled")
        self.assertEqual(end["holdpoint"]["outcome"], "approved")
        self.assertIsNone(end["holdpoint"]["token"])

    def test_H8_a_message_shows_no_secret(self):
        browser = self.subscribe()
        request = self.agent.propose("login", {"user": "eve", "password": "hunter2"})
        message = self.told(browser, request)
        self.assertEqual(message["notification"]["title"], 'login(user: "eve", password: •••)')
        self.assertNotIn("hunter2", str(message))
        self.assertIsNone(message["holdpoint"]["token"], "nobody approves what they were not shown")

    def test_the_other_button_denies(self):
        browser = self.subscribe()
        request = self.agent.propose()
        self.assertEqual(self.press(self.told(browser, request), "reject")["outcome"], "rejected")

    def test_high_and_critical_risk_only_open_the_page(self):
        browser = self.subscribe()
        for risk in ("high", "critical"):
            request = self.agent.propose(risk={"level": risk})
            self.assertIsNone(self.told(browser, request)["holdpoint"]["token"])

    def test_H8_buttons_come_only_with_every_argument_uncut(self):
        browser = self.subscribe()
        for arguments in ({"to": "ann", "text": "x" * 100 + " and forward everything to eve" * 4}, {"user": "ann", "password": "hunter2"},
                          {f"a{i}": "value" for i in range(40)}):
            request = self.agent.propose(arguments=arguments)
            message = self.told(browser, request)
            self.assertIsNone(message["holdpoint"]["token"], arguments)
            self.assertNotIn("hunter2", message["notification"]["body"])
        nested = self.agent.propose(arguments={"to": {"iban": "DE00", "all": True}})
        message = self.told(browser, nested)
        self.assertIn('{"all":true,"iban":"DE00"}', message["notification"]["body"])
        self.assertEqual(self.press(message)["outcome"], "approved")

    def test_a_token_is_good_for_its_person_its_request_and_what_was_shown(self):
        browser = self.subscribe()
        request = self.agent.propose(requirement={"lines": [{"quorum": 2}]})
        message = self.told(browser, request)
        token = message["holdpoint"]["token"]
        for wrong in (token[:-1] + ("A" if token[-1] != "A" else "B"), token[:40], "x", token + "A"):
            answer = self.server.client(wanders=True).post("/v1/push/decision", {"token": wrong, "decision": "approve"})
            self.assertStatus(answer, 403, "permission_denied", "token")
        self.ann.decide(request, "modify", arguments={"orderId": "1", "amount": 1})
        self.assertStatus(self.press(message), 409)
        self.assertEqual(self.admin.read(request)["state"], "pending")

    def test_who_is_disabled_cannot_press_any_more(self):
        person = self.server.person_with_session(self.fresh("gone"))
        name = person.get("/v1/me")["name"]
        browser = self.subscribe(person)
        request = self.agent.propose()
        message = self.told(browser, request)
        self.assertStatus(self.admin.post(f"/v1/users/{name}/disable"), 200)
        self.assertStatus(self.press(message), 403)
        self.assertEqual(self.admin.read(request)["state"], "pending")

    def is_dead(self, browser, message, request):
        """Neither the message that came before nor a new one decides any more."""
        self.assertStatus(self.press(message), 403, "permission_denied", "token")
        self.assertEqual(self.admin.read(request)["state"], "pending")
        found = self.admin.get("/v1/push/subscriptions", query={"user": browser.owner})["subscriptions"]
        self.assertEqual(found, [])

    def told_person(self):
        """Somebody new with a browser of their own and a message in it."""
        person = self.server.person_with_session(self.fresh("told"))
        browser = self.subscribe(person)
        browser.owner = person.get("/v1/me")["name"]
        request = self.agent.propose()
        return person, browser, self.told(browser, request), request

    def test_X1_a_key_cannot_subscribe(self):
        call = {"subscription": Browser(self.service).subscription()}
        for caller in (self.ann, self.admin, self.auditor):
            self.assertStatus(caller.post("/v1/push/subscriptions", call), 403, "permission_denied")

    def test_X1_signing_out_ends_what_the_session_asked_for(self):
        person, browser, message, request = self.told_person()
        self.assertStatus(person.delete("/v1/session"), 200)
        self.is_dead(browser, message, request)

    def test_X1_ending_a_session_ends_what_it_asked_for(self):
        person, browser, message, request = self.told_person()
        other = self.server.sign_in(browser.owner, "correct horse battery")
        own = next(s["id"] for s in other.get("/v1/sessions")["sessions"] if not s["current"])
        self.assertStatus(self.admin.post(f"/v1/sessions/{own}/revoke"), 200)
        self.is_dead(browser, message, request)

    def test_X1_a_new_password_ends_every_subscription(self):
        person, browser, message, request = self.told_person()
        self.assertStatus(self.admin.post(f"/v1/users/{browser.owner}/password", {"password": "another good phrase"}), 200)
        self.is_dead(browser, message, request)

    def test_X1_an_admin_finds_and_removes_them(self):
        person, browser, message, request = self.told_person()
        query = {"user": browser.owner}
        self.assertStatus(self.session.get("/v1/push/subscriptions", query=query), 403)
        self.assertStatus(self.session.delete(f"/v1/push/subscriptions/{browser.id}"), 404)
        found = self.admin.get("/v1/push/subscriptions", query=query)["subscriptions"]
        self.assertEqual([one["id"] for one in found], [browser.id])
        self.assertStatus(self.admin.delete(f"/v1/push/subscriptions/{browser.id}"), 200)
        self.assertEqual(self.admin.get("/v1/push/subscriptions", query=query)["subscriptions"], [])

    def test_a_subscription_that_is_gone_is_forgotten(self):
        browser = self.subscribe()
        browser.statuses = [410]
        self.agent.propose()
        eventually(lambda: browser.id not in [s["id"] for s in self.session.get("/v1/push/subscriptions")["subscriptions"]],
                   "the subscription is dropped")

    def test_a_service_that_fails_is_tried_again(self):
        browser = self.subscribe()
        browser.statuses = [503, 500]
        request = self.agent.propose()
        self.told(browser, request)

    def test_only_who_may_decide_is_told(self):
        auditor = self.server.person_with_session(self.fresh("aud"), role="auditor")
        finance = self.server.person_with_session(self.fresh("fin"), groups=("finance",))
        silent, told = self.subscribe(auditor), self.subscribe(finance)
        request = self.agent.propose(requirement={"lines": [{"group": "finance", "quorum": 1}]})
        self.told(told, request)
        self.assertTrue(silent.messages.empty())

    def test_a_message_comes_after_a_restart_too(self):
        with Server("--push-to-loopback") as server:
            person = server.person_with_session("rob")
            agent = server.actor("agent", "bot")
            browser = Browser(self.service)
            self.assertStatus(person.post("/v1/push/subscriptions", {"subscription": browser.subscription()}), 201)
            key = person.get("/v1/push/key")["key"]
            browser.statuses = [503] * 2
            request = agent.propose()
            eventually(lambda: not browser.statuses or None, "the service was asked twice", timeout_s=30)
            server.restart()
            self.assertEqual(browser.next()["message"]["holdpoint"]["id"], request["id"])
            self.assertEqual(server.admin.get("/v1/push/key")["key"], key, "the key outlives the restart")

    def test_endpoints_that_are_not_public_are_refused(self):
        with Server() as server:
            person = server.person_with_session("sue")
            for url in ("http://127.0.0.1:9/p", "https://127.0.0.1/p", "https://localhost/p", "https://10.0.0.1/p",
                        "https://169.254.169.254/latest/meta-data", "https://[::1]/p", "http://push.example.com/p",
                        "https://u:p@push.example.com/", "https://2130706433/", "file:///etc/passwd"):
                subscription = Browser(self.service).subscription() | {"endpoint": url}
                answer = person.post("/v1/push/subscriptions", {"subscription": subscription})
                self.assertStatus(answer, 422, "refused", "subscription.endpoint")


if __name__ == "__main__":
    unittest.main()

"""The statuses that the routes of the inbox document, provoked one by one; a part of test_contract.py."""
import time

from authenticator import register
from harness import Server, eventually
from push_service import Browser, PushService

# Answered from what is there, like any read.
READS = ("tellPresence", "challengeDecision", "passkeyCreateOptions")
# The same writes as any other; what they need first does not fit on the small disk.
LONG_WRITES = ("addPasskey", "renamePasskey", "removePasskey", "revokeSession", "removePushSubscription", "decidePushed")


def writes_on(server, agent, ann):
    """Writing calls, prepared while there is space."""
    held, snoozed = agent.propose(session="held"), agent.propose(session="snoozed")
    ann.decide(held, undo_s=30)
    key = Browser(PushService()).subscription()["keys"]
    signed_in = server.person_with_session("pia")
    return {
        "undoDecision": (ann, f"/v1/requests/{held['id']}/undo", None),
        "snoozeRequest": (ann, f"/v1/requests/{snoozed['id']}/snooze", {"until": in_an_hour()}),
        "addPushSubscription": (signed_in, "/v1/push/subscriptions",
                                {"subscription": {"endpoint": "https://push.example.com/" + "x" * 1900, "keys": key}}),
    }


def in_an_hour():
    return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(time.time() + 3600))


def guess(server):
    """So many wrong guesses from one address that the next is not heard."""
    guesser = server.client()
    for i in range(30):
        guesser.post("/v1/session", {"name": f"nobody-{i}", "password": "wrong horse battery"})


def every(test, calls):
    """(caller, method, path, body, status) one after the other."""
    for caller, method, path, body, status in calls:
        with test.subTest(method=method, path=path, status=status):
            test.assertStatus(caller.call(method, path, body), status)


def play(test):
    agent, ann, bob, admin = test.agent, test.ann, test.bob, test.admin
    nobody = "req_" + "0" * 26
    request = agent.propose()
    path = f"/v1/requests/{request['id']}"
    done = agent.propose()
    ann.decide(done)
    approve = {"decision": "approve", "digest": request["digest"]}
    every(test, [
        (ann, "POST", path + "/undo", None, 409), (ann, "POST", path + "/undo?a=1", None, 400),
        (agent, "POST", path + "/undo", None, 403), (ann, "POST", f"/v1/requests/{nobody}/undo", None, 404),
        (ann, "POST", path + "/decision", {**approve, "undo_s": 30}, 200), (ann, "POST", path + "/undo", None, 200),
        (ann, "POST", path + "/presence", None, 200), (ann, "POST", path + "/presence", {"a": 1}, 400),
        (agent, "POST", path + "/presence", None, 403), (ann, "POST", f"/v1/requests/{nobody}/presence", None, 404),
        (ann, "POST", path + "/snooze", {"until": in_an_hour()}, 200), (ann, "POST", path + "/snooze", {"until": 1}, 400),
        (agent, "POST", path + "/snooze", {"until": None}, 403), (ann, "POST", f"/v1/requests/{nobody}/snooze", {"until": None}, 404),
        (ann, "POST", path + "/snooze", {"until": "2001-01-01T00:00:00Z"}, 422),
        (ann, "POST", f"/v1/requests/{done['id']}/snooze", {"until": in_an_hour()}, 409),
        (ann, "GET", path + "/similar", None, 200), (ann, "GET", path + "/similar?a=1", None, 400),
        (agent, "GET", path + "/similar", None, 403), (ann, "GET", f"/v1/requests/{nobody}/similar", None, 404),
        (ann, "POST", path + "/challenge", approve, 422), (ann, "POST", path + "/challenge", {"decision": "x"}, 400),
        (agent, "POST", path + "/challenge", approve, 403), (ann, "POST", f"/v1/requests/{nobody}/challenge", approve, 404),
        (ann, "POST", f"/v1/requests/{done['id']}/challenge", {"decision": "approve"}, 409),
    ])
    play_sessions(test)
    play_passkeys(test, request)
    play_push(test)


def play_sessions(test):
    person = test.server.person_with_session(test.fresh("contract"))
    id = person.get("/v1/sessions")["sessions"][0]["id"]
    none = "ses_" + "0" * 26
    every(test, [
        (person, "GET", "/v1/sessions?a=1", None, 400), (test.agent, "GET", "/v1/sessions", None, 403),
        (test.admin, "GET", "/v1/sessions?user=nobody", None, 404),
        (person, "POST", f"/v1/sessions/{id}/revoke", {"a": 1}, 400), (test.agent, "POST", f"/v1/sessions/{id}/revoke", None, 403),
        (person, "POST", f"/v1/sessions/{none}/revoke", None, 404), (person, "POST", f"/v1/sessions/{id}/revoke", None, 200),
    ])


def play_passkeys(test, request):
    person = test.server.person_with_session(test.fresh("contract"))
    passkey = register(test.server, person)
    none, own = "psk_" + "0" * 26, f"/v1/passkeys/{passkey.name}"
    again = {"name": "x", "credential": passkey.create(person.post("/v1/passkeys/options").json)}
    open_ = test.server.client()
    every(test, [
        (person, "POST", f"/v1/requests/{request['id']}/challenge", {"decision": "approve"}, 200),
        (person, "GET", "/v1/passkeys", None, 200), (person, "GET", "/v1/passkeys?a=1", None, 400),
        (test.agent, "GET", "/v1/passkeys", None, 403),
        (person, "POST", "/v1/passkeys", {"name": "x"}, 400), (test.ann, "POST", "/v1/passkeys", again, 403),
        (person, "POST", "/v1/passkeys", again, 409),
        (person, "POST", "/v1/passkeys/options", {"a": 1}, 400), (test.ann, "POST", "/v1/passkeys/options", None, 403),
        (person, "PUT", own, {"name": "phone"}, 200), (person, "PUT", own, {"name": ""}, 400),
        (test.agent, "PUT", own, {"name": "x"}, 403), (person, "PUT", f"/v1/passkeys/{none}", {"name": "x"}, 404),
        (test.agent, "DELETE", own, None, 403), (person, "DELETE", own + "?a=1", None, 400),
        (person, "DELETE", own, None, 200), (person, "DELETE", own, None, 404),
        (open_, "POST", "/v1/session/options", None, 200), (open_, "POST", "/v1/session/options", {"a": 1}, 400),
    ])
    test.assertStatus(open_.post("/v1/session/options", headers={"Sec-Fetch-Site": "cross-site"}), 403)
    with Server("--base-url", "http://10.1.2.3") as server:
        person = server.person_with_session("hal")
        every(test, [(person, "POST", "/v1/passkeys/options", None, 422), (server.client(), "POST", "/v1/session/options", None, 422),
                     (person, "POST", "/v1/passkeys", {"name": "x", "credential": {}}, 422)])


def play_push(test):
    service = PushService()
    try:
        with Server("--push-to-loopback") as server:
            play_push_on(test, server, Browser(service))
        with Server("--notify", "log") as server:
            person, call = server.person_with_session("pia"), {"subscription": Browser(service).subscription()}
            every(test, [(person, "GET", "/v1/push/key", None, 422), (person, "POST", "/v1/push/subscriptions", call, 422)])
    finally:
        service.close()


def play_push_on(test, server, browser):
    agent, person = server.actor("agent", "bot"), server.person_with_session("pia")
    subscriptions, open_ = "/v1/push/subscriptions", server.client()
    call = {"subscription": browser.subscription()}
    inner = {"subscription": {**browser.subscription(), "endpoint": "https://10.0.0.1/"}}
    every(test, [
        (person, "GET", "/v1/push/key", None, 200), (person, "GET", "/v1/push/key?a=1", None, 400), (agent, "GET", "/v1/push/key", None, 403),
        (person, "GET", subscriptions, None, 200), (person, "GET", subscriptions + "?a=1", None, 400), (agent, "GET", subscriptions, None, 403),
        (server.admin, "GET", subscriptions + "?user=pia", None, 200), (server.admin, "GET", subscriptions + "?user=nobody", None, 404),
        (person, "POST", subscriptions, {}, 400), (agent, "POST", subscriptions, call, 403), (person, "POST", subscriptions, inner, 422),
        (person, "POST", subscriptions, call, 201), (person, "POST", subscriptions, call, 201),
        (open_, "POST", "/v1/push/decision", {"token": "x", "decision": "approve"}, 403),
        (open_, "POST", "/v1/push/decision", {"token": "x", "decision": "defer"}, 400),
    ])
    late = agent.propose(timeout_s=1)
    token = browser.next()["message"]["holdpoint"]["token"]
    eventually(lambda: agent.read(late)["state"] == "settled", "it expires")
    test.assertStatus(open_.post("/v1/push/decision", {"token": token, "decision": "approve"}), 410)
    request = agent.propose()
    while (message := browser.next()["message"])["holdpoint"]["id"] != request["id"]:
        pass
    pressed = {"token": message["holdpoint"]["token"], "decision": "approve"}
    id = person.get(subscriptions)["subscriptions"][0]["id"]
    every(test, [
        (open_, "POST", "/v1/push/decision", pressed, 200), (open_, "POST", "/v1/push/decision", pressed, 409),
        (person, "DELETE", f"{subscriptions}/{id}?a=1", None, 400), (agent, "DELETE", f"{subscriptions}/{id}", None, 403),
        (person, "DELETE", f"{subscriptions}/{id}", None, 200), (person, "DELETE", f"{subscriptions}/{id}", None, 404),
    ])

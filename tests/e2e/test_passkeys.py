"""Passkeys: made, used to sign in, used to confirm a critical decision; and everything that must not pass for one."""
import base64
import hashlib
import unittest

from authenticator import BACKED_UP, EDDSA, ELIGIBLE, ES256, PRESENT, RS256, VERIFIED, Passkey, b64, cbor, register, unb64
from harness import Server, ServerTest

POLICY = """holdpoint: 1
policy: passkeys
defaults: {decision: require}
tools:
  danger: {risk: critical}
rules:
  - {id: huge, tools: [grow], when: args.amount > 1000, then: require, risk: critical}
"""


class PasskeyTest(ServerTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.origin = f"http://localhost:{cls.server.port}"
        answer = cls.server.admin.call("PUT", "/v1/policy", {"text": POLICY})
        assert answer.status == 200, answer

    def person(self):
        return self.server.person_with_session(self.fresh("key"))

    def options(self):
        answer = self.server.client().post("/v1/session/options")
        self.assertStatus(answer, 200)
        return answer.json

    def sign_in(self, assertion):
        return self.server.client(wanders=True).post("/v1/session", {"passkey": assertion})

    def challenge(self, person, request, **decision):
        body = {"decision": "approve", "digest": request["digest"], **decision}
        answer = person.post(f"/v1/requests/{request['id']}/challenge", body)
        self.assertStatus(answer, 200)
        return answer.json

    def confirm(self, person, request, assertion, **decision):
        body = {"decision": "approve", "digest": request["digest"], "passkey": assertion, **decision}
        return person.post(f"/v1/requests/{request['id']}/decision", body)

    def test_X1_a_passkey_of_every_algorithm_signs_in(self):
        for algorithm, name in ((ES256, "ES256"), (EDDSA, "EdDSA"), (RS256, "RS256")):
            with self.subTest(algorithm=name):
                person = self.person()
                me = person.get("/v1/me")["name"]
                passkey = register(self.server, person, algorithm=algorithm)
                listed = person.get("/v1/passkeys")["passkeys"]
                self.assertEqual([(p["algorithm"], p["last_used_at"]) for p in listed], [(name, None)])
                signed_in = self.sign_in(passkey.get(self.options()))
                self.assertStatus(signed_in, 201)
                self.assertEqual(signed_in["name"], me)
                self.assertIsNotNone(person.get("/v1/passkeys")["passkeys"][0]["last_used_at"])

    def test_a_passkey_that_does_not_count_signs_in_again_and_again(self):
        passkey = register(self.server, self.person(), counts=False)
        for _ in range(3):
            self.assertStatus(self.sign_in(passkey.get(self.options())), 201)

    def test_it_is_renamed_and_removed_by_its_owner_only(self):
        person, other = self.person(), self.person()
        passkey = register(self.server, person)
        path = f"/v1/passkeys/{passkey.name}"
        self.assertStatus(other.call("PUT", path, {"name": "mine"}), 404)
        self.assertStatus(other.delete(path), 404)
        self.assertEqual(person.call("PUT", path, {"name": "phone"})["name"], "phone")
        self.assertStatus(person.delete(path), 200)
        self.assertStatus(person.delete(path), 404)
        self.assertEqual(person.get("/v1/passkeys")["passkeys"], [])
        self.assertStatus(self.sign_in(passkey.get(self.options())), 401)

    def test_what_is_no_registration_is_refused_with_its_reason(self):
        person = self.person()

        def attempt(change, **more):
            options = person.post("/v1/passkeys/options").json
            passkey = Passkey(self.origin, **more)
            return person.post("/v1/passkeys", {"name": "x", "credential": change(passkey, options)})

        def with_flags(flags):
            def change(passkey, options):
                passkey.flags = flags
                return passkey.create(options)
            return change

        def attested(build):
            return lambda passkey, options: passkey.create(options, attestation=build)

        plain = lambda passkey, options: passkey.create(options)
        client = "credential.clientDataJSON"
        data, whole = "credential.authenticatorData", "credential.attestationObject"
        cases = {
            "another origin": (lambda p, o: Passkey("https://evil.example").create(o), client),
            "another port": (lambda p, o: Passkey("http://localhost:1").create(o), client),
            "another party": (lambda p, o: Passkey(self.origin, rp_id="evil.example").create(o), data),
            "nobody there": (with_flags(VERIFIED), data),
            "not verified": (with_flags(PRESENT), data),
            "backed up, not eligible": (with_flags(PRESENT | VERIFIED | BACKED_UP), data),
            "other ceremony": (lambda p, o: p.create(o, client=p.client_data("webauthn.get", o["publicKey"]["challenge"])), client),
            "foreign frame": (lambda p, o: p.create(o, client=p.client_data("webauthn.create", o["publicKey"]["challenge"],
                                                                            crossOrigin=True)), client),
            "an attestation": (attested(lambda d, c: {"fmt": "fido-u2f", "attStmt": {"sig": b"x"}, "authData": d}), whole),
            "self-signed wrongly": (attested(lambda d, c: {"fmt": "packed", "attStmt": {"alg": -7, "sig": b"x"}, "authData": d}), whole),
            "a part too many": (attested(lambda d, c: {"fmt": "none", "attStmt": {}, "authData": d, "x": 1}), whole),
            "cut": (attested(lambda d, c: {"fmt": "none", "attStmt": {}, "authData": d[:-1]}), data),
            "bytes behind": (attested(lambda d, c: {"fmt": "none", "attStmt": {}, "authData": d + b"x"}), data),
        }
        for name, (change, field) in cases.items():
            with self.subTest(case=name):
                self.assertStatus(attempt(change), 400, "invalid_argument", field)
        self.assertStatus(attempt(lambda p, o: plain(p, {"publicKey": o["publicKey"] | {"challenge": b64(bytes(88))}})), 400)
        self.assertStatus(person.post("/v1/passkeys", {"name": "x", "credential": {"id": "!", "type": "public-key",
                                                                                  "response": {}}}), 400)
        self.assertEqual(person.get("/v1/passkeys")["passkeys"], [])
        # Self-attestation says as little as none, and some browsers leave it in.
        passkey = Passkey(self.origin)
        own = lambda d, c: {"fmt": "packed", "attStmt": {"alg": -7, "sig": passkey.sign(d + hashlib.sha256(c).digest())},
                            "authData": d}
        options = person.post("/v1/passkeys/options").json
        self.assertStatus(person.post("/v1/passkeys", {"name": "x", "credential": passkey.create(options, attestation=own)}), 201)

    def test_keys_that_are_no_keys_are_refused(self):
        person = self.person()
        point = Passkey(self.origin)
        good = point.cose()
        wrong = {
            "off the curve": good[:-1] + bytes([good[-1] ^ 1]),
            "an algorithm nobody offered": cbor({1: 2, 3: -35, -1: 1, -2: bytes(32), -3: bytes(32)}),
            "a member too many": b"\xa6" + good[1:] + cbor(9) + cbor(9),
            "short rsa": cbor({1: 3, 3: -257, -1: bytes([255]) * 128, -2: b"\x01\x00\x01"}),
            "odd exponent": cbor({1: 3, 3: -257, -1: bytes([255]) * 256, -2: b"\x03"}),
            "no map": cbor(7),
        }
        for name, cose in wrong.items():
            with self.subTest(case=name):
                passkey = Passkey(self.origin)
                passkey.cose = lambda cose=cose: cose
                options = person.post("/v1/passkeys/options").json
                answer = person.post("/v1/passkeys", {"name": "x", "credential": passkey.create(options)})
                self.assertStatus(answer, 400, "invalid_argument")

    def test_a_challenge_registers_once_and_for_its_person(self):
        person, other = self.person(), self.person()
        options = person.post("/v1/passkeys/options").json
        self.assertStatus(other.post("/v1/passkeys", {"name": "x", "credential": Passkey(self.origin).create(options)}), 400)
        passkey = Passkey(self.origin)
        self.assertStatus(person.post("/v1/passkeys", {"name": "x", "credential": passkey.create(options)}), 201)
        self.assertStatus(person.post("/v1/passkeys", {"name": "x", "credential": Passkey(self.origin).create(options)}), 400)
        again = person.post("/v1/passkeys/options").json
        self.assertEqual([c["id"] for c in again["publicKey"]["excludeCredentials"]], [b64(passkey.id)])
        self.assertStatus(person.post("/v1/passkeys", {"name": "x", "credential": passkey.create(again)}), 409)

    def test_a_key_is_no_person_at_a_screen(self):
        self.assertStatus(self.ann.post("/v1/passkeys/options"), 403)
        self.assertStatus(self.agent.post("/v1/passkeys/options"), 403)

    def test_X2_what_is_no_assertion_does_not_sign_in(self):
        passkey = register(self.server, self.person())
        other = register(self.server, self.person())

        def bent(**members):
            copy = Passkey(self.origin)
            copy.__dict__.update(passkey.__dict__)
            copy.__dict__.update(members)
            return copy

        used = self.options()
        self.assertStatus(self.sign_in(passkey.get(used)), 201)
        passkey.counter += 10
        for name, assertion in {
            "a challenge that was used": bent(counter=100).get(used),
            "a challenge of nobody's": bent().get({"publicKey": {"challenge": b64(bytes(88))}}),
            "another origin": bent(origin="https://evil.example").get(self.options()),
            "another party": bent(rp_id="evil.example").get(self.options()),
            "nobody there": bent(flags=VERIFIED).get(self.options()),
            "not verified": bent(flags=PRESENT).get(self.options()),
            "another ceremony": bent().get(self.options(), type="webauthn.create"),
            "a foreign frame": bent().get(self.options(), crossOrigin=True),
            "somebody else's key": bent(key=other.key).get(self.options()),
            "somebody else's handle": bent(user=other.user).get(self.options()),
            "an unknown credential": bent(id=b"nobody").get(self.options()),
        }.items():
            with self.subTest(case=name):
                self.assertStatus(self.sign_in(assertion), 401, "unauthenticated")
        self.assertStatus(self.sign_in({"id": "x"}), 400)
        self.assertStatus(self.sign_in(passkey.get(self.options())), 201)

    def test_X2_a_counter_that_goes_back_is_refused(self):
        passkey = register(self.server, self.person())
        self.assertStatus(self.sign_in(passkey.get(self.options())), 201)
        passkey.counter -= 1  # a copy that was made before: it counts to the same number again
        self.assertStatus(self.sign_in(passkey.get(self.options())), 401)
        self.assertStatus(self.sign_in(passkey.get(self.options())), 201)

    def test_a_disabled_person_does_not_sign_in(self):
        person = self.person()
        name = person.get("/v1/me")["name"]
        passkey = register(self.server, person)
        self.assertStatus(self.admin.post(f"/v1/users/{name}/disable"), 200)
        self.assertStatus(self.sign_in(passkey.get(self.options())), 401)

    def test_D9_X2_a_passkey_confirms_one_critical_decision(self):
        person = self.person()
        passkey = register(self.server, person)
        request = self.agent.propose(tool="danger")
        self.assertIsNotNone(request["requirement"]["confirm"])
        refused = person.post(f"/v1/requests/{request['id']}/decision", {"decision": "approve", "digest": request["digest"]})
        self.assertStatus(refused, 422, "refused", "confirm")
        options = self.challenge(person, request)
        self.assertEqual([c["id"] for c in options["publicKey"]["allowCredentials"]], [b64(passkey.id)])
        settled = self.confirm(person, request, passkey.get(options))
        self.assertStatus(settled, 200)
        self.assertEqual(settled["outcome"], "approved")
        # Whoever reads the log can check the signature and what it is over.
        proof = self.admin.timeline(request)[-1]["detail"]["passkey"]
        signed = unb64(proof["authenticator_data"]) + hashlib.sha256(unb64(proof["client_data"])).digest()
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric import ec
        passkey.key.public_key().verify(unb64(proof["signature"]), signed, ec.ECDSA(hashes.SHA256()))

    def test_D3_D9_X2_a_passkey_confirms_a_change_that_becomes_critical(self):
        person = self.person()
        passkey = register(self.server, person)
        request = self.agent.propose(tool="grow", arguments={"amount": 5})
        change = {"decision": "modify", "arguments": {"amount": 5000}}
        refused = person.post(f"/v1/requests/{request['id']}/decision", {**change, "digest": request["digest"]})
        self.assertStatus(refused, 422, "refused", "confirm")
        taken = self.confirm(person, request, passkey.get(self.challenge(person, request, **change)), **change)
        self.assertStatus(taken, 200)
        self.assertEqual((taken["outcome"], taken["release"]["arguments"]), ("modified", {"amount": 5000}))

    def test_X2_a_confirmation_is_good_for_one_decision_on_one_request_as_it_was_shown(self):
        person, other = self.person(), self.person()
        passkey = register(self.server, person)
        stranger = register(self.server, other)
        request = self.agent.propose(tool="danger")
        second = self.agent.propose(tool="danger")
        field = "passkey.response.clientDataJSON"
        changed = {"orderId": "1", "amount": 1}
        self.assertStatus(self.confirm(person, second, passkey.get(self.challenge(person, request))), 403, field=field)
        self.assertStatus(self.confirm(person, request, passkey.get(self.challenge(person, request)), decision="modify",
                                       arguments=changed), 403, field=field)
        self.assertStatus(self.confirm(person, request, passkey.get(self.challenge(person, request, decision="modify",
                                                                                   arguments=changed)), decision="modify",
                                       arguments={**changed, "amount": 2}), 403, field=field)
        self.assertStatus(self.confirm(other, request, stranger.get(self.challenge(person, request))), 403, field=field)
        self.assertStatus(self.confirm(person, request, stranger.get(self.challenge(person, request))), 403,
                          field="passkey.id")
        self.assertStatus(self.confirm(person, request, passkey.get(self.options())), 403, field=field)
        self.assertEqual(self.admin.read(request)["state"], "pending")
        self.assertEqual(self.admin.read(second)["state"], "pending")
        not_verified = self.challenge(person, request)
        passkey.flags = PRESENT
        self.assertStatus(self.confirm(person, request, passkey.get(not_verified)), 403,
                          field="passkey.response.authenticatorData")
        passkey.flags = PRESENT | VERIFIED | ELIGIBLE | BACKED_UP
        modified = self.confirm(person, request, passkey.get(self.challenge(person, request, decision="modify", arguments=changed)),
                                decision="modify", arguments=changed)
        self.assertStatus(modified, 200)
        self.assertEqual(modified["release"]["arguments"], changed)

    def test_a_used_confirmation_does_not_confirm_again(self):
        person = self.person()
        passkey = register(self.server, person, counts=False)
        request = self.agent.propose(tool="danger", requirement={"lines": [{"quorum": 2}]})
        assertion = passkey.get(self.challenge(person, request))
        self.assertStatus(self.confirm(person, request, assertion), 200)
        self.assertStatus(self.confirm(person, request, assertion), 403)

    def test_D8_a_confirmed_decision_whose_answer_was_lost_is_told_again(self):
        person = self.person()
        passkey = register(self.server, person)
        request = self.agent.propose(tool="danger")
        body = {"decision": "approve", "digest": request["digest"], "passkey": passkey.get(self.challenge(person, request))}
        decide = lambda key: person.post(f"/v1/requests/{request['id']}/decision", body, headers={"Idempotency-Key": key})
        first, second = decide("once"), decide("once")
        self.assertStatus(first, 200)
        self.assertStatus(second, 200)
        self.assertEqual(second.headers["Idempotency-Replayed"], "true")
        self.assertEqual((first.json, len(self.admin.timeline(request))), (second.json, 2))
        self.assertStatus(decide("another"), 403, field="passkey.response.clientDataJSON")

    def test_passkeys_need_a_host_name(self):
        with Server("--base-url", "http://10.1.2.3") as server:
            person = server.person_with_session("hal")
            self.assertStatus(person.post("/v1/passkeys/options"), 422)
            self.assertStatus(server.client().post("/v1/session/options"), 422)

    def test_no_challenge_outlives_a_restart(self):
        with Server() as server:
            person = server.person_with_session("ron")
            passkey = register(server, person)
            options = server.client().post("/v1/session/options").json
            server.restart()
            answer = server.client().post("/v1/session", {"passkey": passkey.get(options)})
            self.assertStatus(answer, 401)
            options = server.client().post("/v1/session/options").json
            self.assertStatus(server.client().post("/v1/session", {"passkey": passkey.get(options)}), 201)


if __name__ == "__main__":
    unittest.main()

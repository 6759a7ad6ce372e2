"""Bad input: each gets a 4xx in the documented form, changes nothing, and the server still answers afterwards.

The numbers are the categories of the project's list of bad inputs: JSON syntax and structure, numbers, Unicode, HTTP,
paths and ids, decisions.
"""
import base64
import gzip
import json
import re
import socket
import time
import unittest

from harness import SPEC, ServerTest, raw_exchange, raw_statuses

GOOD = b'{"action":{"tool":"t","arguments":{"a":1}}}'


def in_arguments(text):
    """A proposal with this JSON text as the value of one argument."""
    return b'{"action":{"tool":"t","arguments":{"a":' + text + b"}}}"


SYNTAX = {
    "1 empty": b"", "2 whitespace": b" \r\n\t ", "4 trailing comma": b'{"action":{"tool":"t"},}', "5 garbage": GOOD + b"x",
    "5 trailing brace": GOOD + b"}", "6 two documents": GOOD + GOOD, "7 comment": b'{/* hi */"action":{"tool":"t"}}',
    "7 line comment": GOOD + b"// end", "8 single quotes": b"{'action':{'tool':'t'}}", "9 unquoted": b"{action:{tool:\"t\"}}",
    "10 NaN": in_arguments(b"NaN"), "10 Infinity": in_arguments(b"Infinity"), "10 -Infinity": in_arguments(b"-Infinity"),
    "11 hex": in_arguments(b"0x10"), "11 octal": in_arguments(b"010"), "11 leading zeros": in_arguments(b"-007"),
    "12 plus": in_arguments(b"+1"), "12 point first": in_arguments(b".5"), "12 point last": in_arguments(b"1."),
    "12 bare exponent": in_arguments(b"1e"), "12 minus alone": in_arguments(b"-"),
    "13 BOM": b"\xef\xbb\xbf" + GOOD, "14 UTF-16": GOOD.decode().encode("utf-16"),
    "14 UTF-16LE": GOOD.decode().encode("utf-16-le"), "14 UTF-32": GOOD.decode().encode("utf-32"),
    "15 raw tab": in_arguments(b'"a\tb"'), "15 raw escape": in_arguments(b'"a\x1bb"'), "15 raw bell": in_arguments(b'"\x07"'),
    "16 \\x": in_arguments(b'"\\x41"'), "16 short \\u": in_arguments(b'"\\u12"'), "16 \\u no hex": in_arguments(b'"\\u12g4"'),
    "16 bad escape": in_arguments(b'"\\a"'), "16 lone backslash": in_arguments(b'"\\"'),
    "17 newline": in_arguments(b'"a\nb"'), "18 NUL": in_arguments(b'"a\x00b"'), "18 NUL outside": GOOD[:-1] + b"\x00}",
    "19 string": b'"action"', "19 number": b"1", "19 true": b"true", "19 null": b"null", "20 array": b"[" + GOOD + b"]",
    "21 form feed": b"\x0c" + GOOD, "21 NBSP": b"\xc2\xa0" + GOOD, "21 vertical tab": GOOD + b"\x0b",
    "22 undefined": in_arguments(b"undefined"), "23 JSON5": b"{action:{tool:'t',},}", "23 NDJSON": GOOD + b"\n" + GOOD + b"\n",
    "23 CBOR": bytes.fromhex("a166616374696f6ea164746f6f6c6174"), "23 XML": b"<action><tool>t</tool></action>",
    "23 YAML": b"action:\n  tool: t\n", "24 gzip": gzip.compress(GOOD) * 2,
}

STRUCTURE = {
    "25 duplicate": b'{"action":{"tool":"t","tool":"u"}}', "25 duplicate equal": b'{"action":{"tool":"t","tool":"t"}}',
    "26 duplicate by escape": b'{"action":{"tool":"t","t\\u006fol":"u"}}', "27 other case": b'{"action":{"tool":"t","Tool":"u"}}',
    "29 duplicate at depth": in_arguments(b'{"x":{"y":{"z":1,"z":2}}}'),
    "32 depth 40": in_arguments(b"[" * 40 + b"]" * 40), "32 depth 1000": in_arguments(b"[" * 1000 + b"]" * 1000),
    "32 depth 100000": in_arguments(b"[" * 100_000 + b"]" * 100_000),
    "33 many keys": in_arguments(b"{" + b",".join(b'"k%d":1' % i for i in range(20_000)) + b"}"),
    "34 many elements": in_arguments(b"[" + b",".join([b"1"] * 60_000) + b"]"),
    "35 long string": in_arguments(b'"' + b"x" * 65_537 + b'"'),
    "37 long integer": in_arguments(b"1" * 100_000), "38 many nested": in_arguments(b"[" + b"[]," * 20_000 + b"[]]"),
    "39 many keys in one object": in_arguments(b"{" + b",".join(b'"%d":0' % i for i in range(600)) + b"}"),
}

NUMBERS = {
    "47 2^53": in_arguments(b"9007199254740992"), "47 2^53+1": in_arguments(b"9007199254740993"),
    "47 -2^53-1": in_arguments(b"-9007199254740993"), "48 2^63": in_arguments(b"9223372036854775808"),
    "48 2^64": in_arguments(b"18446744073709551616"), "49 1e309": in_arguments(b"1e309"), "49 1e400": in_arguments(b"1e400"),
    "49 -1e400": in_arguments(b"-1e400"), "50 underflow": in_arguments(b"1e-400"), "51 -0": in_arguments(b"-0"),
    "51 -0.0": in_arguments(b"-0.0"), "52 tail": in_arguments(b"0.1000000000000000055511151231257827"),
    "52 many nines": in_arguments(b"0.99999999999999999999"), "56 Arabic digits": in_arguments("١٢٣".encode()),
    "56 full-width digits": in_arguments("１２３".encode()),
}

UNICODE = {
    "77 lone continuation": in_arguments(b'"\x80"'), "77 truncated": in_arguments(b'"\xc3"'), "78 overlong": in_arguments(b'"\xc0\xaf"'),
    "78 overlong NUL": in_arguments(b'"\xc0\x80"'), "79 surrogate": in_arguments(b'"\xed\xa0\x80"'),
    "80 beyond": in_arguments(b'"\xf4\x90\x80\x80"'), "80 five bytes": in_arguments(b'"\xf8\x88\x80\x80\x80"'),
    "81 lone high": in_arguments(b'"\\ud800"'), "81 lone low": in_arguments(b'"\\udc00"'), "82 reversed": in_arguments(b'"\\udc00\\ud800"'),
    "81 high then text": in_arguments(b'"\\ud800x"'), "81 in a key": b'{"action":{"tool":"t","arguments":{"\\ud800":1}}}',
    "84 escaped NUL": in_arguments(b'"\\u0000"'), "84 NUL in a key": b'{"action":{"tool":"t","arguments":{"\\u0000":1}}}',
    "77 in a key": b'{"action":{"tool":"t","arguments":{"\xff":1}}}',
}

# What looks odd but is documented as accepted: stored and given back exactly as sent.
ACCEPTED = {
    "28 NFC and NFD are two keys": {"\u00e9": 1, "e\u0301": 2}, "30 empty key": {"": 1},
    "31 names of prototypes": {"__proto__": {"polluted": True}, "constructor": 1, "prototype": None},
    "32 depth 20": None, "47 2^53-1": {"n": 9007199254740991, "m": -9007199254740991}, "49 1e308": {"n": 1e308},
    "50 smallest": {"n": 5e-324}, "53 exponent": {"n": 100}, "54 amount as text": {"amount": "50000"},
    "55 separators": {"amount": "50,000.00", "b": "50 000", "c": "50'000"}, "83 noncharacters": {"a": "\ufffe\uffff"},
    "U+2028": {"a": "\u2028\u2029\u0085"}, "emoji": {"a": "👩‍👩‍👧‍👦"}, "controls by escape": {"a": "\u0001\u001b[2J\u007f"},
}

# field -> values of a wrong type; every one must be refused with the field named
WRONG_TYPES = {
    "kind": ["actions", 1, True, [], {}], "session": [1, True, [], {}, "", "x" * 201, "a\nb"], "thread": [1, "x" * 201],
    "task": [1, "x" * 201], "user": [1, "x" * 201, "a\x00b"], "action": [None, 1, "t", [], True], "risk": ["none", 1, [], True],
    "context": [1, "x", [], True], "metadata": [1, "x", [], True], "timeout_s": [0, -1, "60", True, [], 2592001, 1e18],
    "on_timeout": ["maybe", 1, [], {}], "remind_every_s": [0, -1, "1", []], "reminders_max": [-1, 1.5, "1", 10**6],
    "escalate_after_s": [0, -5, "1"], "escalate_to": [1, "", [], {}], "retries_max": [-1, 1.5, "1", 10**6],
    "requirement": [1, "x", [], True], "suggested": ["x" * 5000],
}

NESTED = {
    "action.tool": [{"action": {"tool": v}} for v in (None, "", 1, [], {}, "x" * 201, "a\nb", "a\u0000b", "\u001b[2J")],
    "action.arguments": [{"action": {"tool": "t", "arguments": v}} for v in (1, "x", [], True)],
    "action.description": [{"action": {"tool": "t", "description": v}} for v in (1, [], {})],
    "action.reversible": [{"action": {"tool": "t", "reversible": v}} for v in ("true", 0, 1, [])],
    "action.estimated_cost": [{"action": {"tool": "t", "estimated_cost": v}} for v in ("1", True, [])],
    "action.unknown": [{"action": {"tool": "t", "unknown": 1}}],
    "plan.steps": [{"kind": "plan", "plan": {"title": "x", "steps": v}} for v in (None, [], 1, {}, [{"action": "a"}] * 201)],
    "plan.title": [{"kind": "plan", "plan": {"title": v, "steps": [{"action": "a"}]}} for v in (None, 1, "")],
    "plan.steps[0].action": [{"kind": "plan", "plan": {"title": "x", "steps": [{"action": v}]}} for v in (None, 1, "")],
    "plan.steps[1].order": [{"kind": "plan", "plan": {"title": "x", "steps": [{"order": 2, "action": "a"}, {"order": v, "action": "b"}]}}
                            for v in (1, 2, 0, -1, "3", 1.5)],
    "input.type": [{"kind": "input", "input": {"question": "?", "type": v}} for v in ("color", 1, [])],
    "input.question": [{"kind": "input", "input": {"question": v, "type": "text"}} for v in (None, 1, "")],
    "input.options": [{"kind": "input", "input": {"question": "?", "type": "choice", "options": v}}
                      for v in (None, [], ["a", "a"], "a", [str(i) for i in range(201)])],
    "input.options[0]": [{"kind": "input", "input": {"question": "?", "type": "choice", "options": v}} for v in ([1], [""])],
    "input.min": [{"kind": "input", "input": {"question": "?", "type": "number", "min": 5, "max": 1}},
                  {"kind": "input", "input": {"question": "?", "type": "number", "min": "5"}}],
    "confirmation.message": [{"kind": "confirmation", "confirmation": {"message": v}} for v in (None, 1, "")],
    "response.text": [{"kind": "response", "response": {"text": v}} for v in (None, 1, "")],
    "response.format": [{"kind": "response", "response": {"text": "x", "format": v}} for v in ("html", 1)],
    "risk.level": [{"action": {"tool": "t"}, "risk": {"level": v}} for v in ("none", 1)],
    "risk.confidence": [{"action": {"tool": "t"}, "risk": {"confidence": v}} for v in (-0.1, 1.1, "1")],
    "risk.reversibility": [{"action": {"tool": "t"}, "risk": {"reversibility": "maybe"}}],
    "requirement.lines[0].quorum": [{"action": {"tool": "t"}, "requirement": {"lines": [{"quorum": v}]}} for v in (0, -1, 1.5, "1", 10**6)],
    "requirement.reject_threshold": [{"action": {"tool": "t"}, "requirement": {"reject_threshold": 5}}],
    "requirement.modifiable": [{"action": {"tool": "t"}, "requirement": {"modifiable": "no"}}],
}

# 43, 44: fields that belong to the server, or to nobody
ASSIGNED = ["id", "state", "outcome", "decision", "decided_by", "release", "verdict", "votes", "digest", "agent", "owner",
            "created_at", "expires_at", "settled_at", "tenant", "headline", "proposed", "report", "batch", "approved",
            "via", "actor", "Action", "constructor", "__proto__"]


class BadInputTest(ServerTest):
    def setUp(self):
        self.before = self.snapshot()

    def tearDown(self):
        self.assertEqual(self.snapshot(), self.before, "a refused call left a trace")
        self.assertStatus(self.server.client().get("/healthz"), 200)

    def snapshot(self):
        """What every refused call must leave as it is."""
        page = self.admin.get("/v1/requests", query={"limit": 1})
        stats = self.admin.get("/v1/stats").json
        newest = page["requests"][0]["id"] if page["requests"] else None
        return newest, stats["pending"], stats["outcomes"], stats["decided"]

    def settled_snapshot(self):
        """For tests that need something to aim at: made before the snapshot that counts."""
        self.before = self.snapshot()

    def send(self, raw, content_type="application/json", path="/v1/requests", client=None, **more):
        return (client or self.agent).call("POST", path, raw=raw, headers={"Content-Type": content_type}, **more)

    def refused(self, answer, statuses=(400,), field=None):
        self.assertIn(answer.status, statuses, answer)
        self.assertEqual(SPEC.validator.errors(answer.json, {"$ref": "#/components/schemas/Error"}), [])
        if field is not None:
            self.assertEqual(answer.error.get("field"), field, answer)
        message = answer.error["message"]
        self.assertNotRegex(message, r"[\x00-\x1f\x7f]", "control characters reach logs and terminals")
        self.assertLess(len(message), 500)

    def test_1_to_24_what_is_not_json(self):
        for name, raw in SYNTAX.items():
            with self.subTest(name):
                self.refused(self.send(raw), (400, 415) if raw == b"" else (400,))

    def test_3_truncated_at_every_byte(self):
        raw = json.dumps({"action": {"tool": "tö", "arguments": {"a": [1.5e3, "x\\u00e9", None, True]}}}, ensure_ascii=False).encode()
        for end in range(1, len(raw)):
            self.refused(self.send(raw[:end]))

    def test_25_to_39_what_is_too_much_or_twice(self):
        for name, raw in STRUCTURE.items():
            with self.subTest(name):
                started = time.monotonic()
                self.refused(self.send(raw), (400, 413))
                self.assertLess(time.monotonic() - started, 2, "it must not cost much to refuse")

    def test_36_a_number_of_a_hundred_million_digits_is_too_large(self):
        self.refused(self.send(in_arguments(b"1" * 1_000_000)), (413,))

    def test_40_to_46_every_field_with_every_wrong_type(self):
        for field, values in WRONG_TYPES.items():
            for value in values:
                with self.subTest(field=field, value=str(value)[:40]):
                    body = {"action": {"tool": "t"}} | {field: value}
                    self.refused(self.agent.post("/v1/requests", body), (400, 422), field)
        for field, bodies in NESTED.items():
            for body in bodies:
                with self.subTest(field=field, body=str(body)[:120]):
                    self.refused(self.agent.post("/v1/requests", body), (400, 422), field)

    def test_42_missing_subjects(self):
        for kind in ("action", "plan", "input", "confirmation", "response"):
            self.refused(self.agent.post("/v1/requests", {"kind": kind}), field=kind)
        self.refused(self.agent.post("/v1/requests", {}), field="action")

    def test_43_44_fields_that_are_not_the_agents(self):
        for name in ASSIGNED:
            with self.subTest(field=name):
                self.refused(self.agent.post("/v1/requests", {"action": {"tool": "t"}, name: "x"}), field=name)

    def test_two_subjects_are_refused(self):
        body = {"kind": "action", "action": {"tool": "t"}, "plan": {"title": "x", "steps": [{"action": "a"}]}}
        self.refused(self.agent.post("/v1/requests", body), field="plan")

    def test_47_to_56_numbers_that_do_not_survive(self):
        for name, raw in NUMBERS.items():
            with self.subTest(name):
                self.refused(self.send(raw))

    def test_77_to_84_text_that_is_no_text(self):
        for name, raw in UNICODE.items():
            with self.subTest(name):
                self.refused(self.send(raw))

    def test_161_content_types(self):
        for kind in ("text/plain", "text/json", "application/json5", "application/x-www-form-urlencoded", "multipart/form-data",
                     "application/jsonx", "application/", "json", ""):
            with self.subTest(type=kind):
                self.refused(self.send(GOOD, kind), (400, 415))
        answer = self.agent.call("POST", "/v1/requests", raw=GOOD)
        self.refused(answer, (415,))

    def test_159_160_compressed_bodies(self):
        for encoding, raw in (("gzip", gzip.compress(b" " * 1_000_000 + GOOD)), ("br", b"x"), ("gzip, gzip", b"x"), ("deflate", b"x")):
            answer = self.agent.call("POST", "/v1/requests", raw=raw,
                                     headers={"Content-Type": "application/json", "Content-Encoding": encoding})
            self.refused(answer, (400, 415))

    # --- HTTP, byte by byte ---

    def post(self, head, body=GOOD):
        return (b"POST /v1/requests HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + self.agent.key.encode()
                + b"\r\nContent-Type: application/json\r\n" + head + b"\r\n\r\n" + body)

    def only_refusals(self, data, allowed=(400, 408, 411, 413, 414, 415, 417, 431, 501, 505), may_be_silent=False, timeout_s=15):
        received = raw_exchange(self.server, data, timeout_s)
        statuses = raw_statuses(received)
        if not may_be_silent:
            self.assertTrue(statuses, f"no answer: {received[:200]!r}")
        for status in statuses:
            self.assertIn(status, allowed, received[:400])

    def test_131_to_139_requests_that_two_servers_could_read_differently(self):
        n = len(GOOD)
        for name, data in {
            "131 CL and TE": self.post(b"Content-Length: %d\r\nTransfer-Encoding: chunked" % n, b"0\r\n\r\n"),
            "132 two CL": self.post(b"Content-Length: %d\r\nContent-Length: %d" % (n, n + 1)),
            "132 two equal CL": self.post(b"Content-Length: %d\r\nContent-Length: %d" % (n, n)),
            "133 plus": self.post(b"Content-Length: +%d" % n), "133 minus": self.post(b"Content-Length: -1"),
            "133 comma": self.post(b"Content-Length: %d, %d" % (n, n)), "133 hex": self.post(b"Content-Length: 0x2b"),
            "133 space inside": self.post(b"Content-Length: 4 3"), "133 huge": self.post(b"Content-Length: 99999999999999999999"),
            "133 empty": self.post(b"Content-Length: "),
            "134 TE twice": self.post(b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", b"0\r\n\r\n"),
            "134 TE odd": self.post(b"Transfer-Encoding: xchunked", b"0\r\n\r\n"),
            "134 TE identity": self.post(b"Transfer-Encoding: identity", GOOD),
            "134 TE gzip": self.post(b"Transfer-Encoding: gzip, chunked", b"0\r\n\r\n"),
            "135 negative chunk": self.post(b"Transfer-Encoding: chunked", b"-1\r\nx\r\n0\r\n\r\n"),
            "135 huge chunk": self.post(b"Transfer-Encoding: chunked", b"FFFFFFFFFFFFFFFFF\r\nx"),
            "135 chunk no hex": self.post(b"Transfer-Encoding: chunked", b"zz\r\nx\r\n0\r\n\r\n"),
            "135 chunk too short": self.post(b"Transfer-Encoding: chunked", b"5\r\nabc\r\n0\r\n\r\n"),
            "136 bare LF": b"POST /v1/requests HTTP/1.1\nHost: x\nContent-Length: 2\n\n{}",
            "137 obs-fold": self.post(b"X-Folded: a\r\n b\r\nContent-Length: %d" % n),
            "138 space before colon": self.post(b"Content-Length : %d" % n),
            "138 space before name": self.post(b" Content-Length: %d" % n),
            "139 NUL in header": self.post(b"X-Nul: a\x00b\r\nContent-Length: %d" % n),
            "139 CR in header": self.post(b"X-Cr: a\rb\r\nContent-Length: %d" % n),
            "145 no Host": b"GET /healthz HTTP/1.1\r\n\r\n",
            "145 two Hosts": b"GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
            "151 HTTP/0.9": b"GET /healthz\r\n\r\n", "151 HTTP/3.7": b"GET /healthz HTTP/3.7\r\nHost: x\r\n\r\n",
            "151 HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "TLS to a plain port": bytes.fromhex("16030100a5010000a10303") + b"\x00" * 60,
            "garbage": bytes(range(256)) * 4,
        }.items():
            with self.subTest(name):
                self.only_refusals(data, may_be_silent=name.startswith(("TLS", "garbage", "151 HTTP/0.9")))

    def test_135_chunk_extensions_and_trailers_do_no_harm(self):
        """Allowed by HTTP; whatever the answer, the body is what the chunks say or refused."""
        data = self.post(b"Transfer-Encoding: chunked\r\nConnection: close", b'2;x=y\r\n{}\r\n0\r\nX-T: v\r\n\r\n')
        self.assertEqual(raw_statuses(raw_exchange(self.server, data))[:1], [400])

    def test_140_to_142_too_much_head(self):
        for name, data in {
            "140 long header": b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: " + b"x" * 20_000 + b"\r\n\r\n",
            "141 many headers": b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + b"".join(b"X-%d: y\r\n" % i for i in range(2000)) + b"\r\n",
            "142 long target": b"GET /" + b"a" * 65_536 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
            "142 long query": b"GET /v1/requests?session=" + b"a" * 65_536 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
        }.items():
            with self.subTest(name):
                self.only_refusals(data)

    def test_143_to_150_targets_and_methods(self):
        for name, data, allowed in (
            ("143 absolute form of another host", b"GET http://evil.example/v1/keys HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", (400, 401)),
            ("144 authority form", b"CONNECT evil.example:443 HTTP/1.1\r\nHost: x\r\n\r\n", (400, 404, 405, 501)),
            ("143 absolute form with userinfo", b"GET http://a@b/healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", (400,)),
            ("143 absolute form without a host", b"GET http:///healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", (400,)),
            ("143 another scheme", b"GET ftp://x/healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", (400,)),
            ("143 absolute form and two hosts", b"GET http://x/healthz HTTP/1.1\r\nHost: x\r\nHost: x\r\nConnection: close\r\n\r\n", (400,)),
            ("143 absolute form and no host", b"GET http://x/healthz HTTP/1.1\r\nConnection: close\r\n\r\n", (400,)),
            ("144 asterisk of another method", b"GET * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", (400,)),
            ("149 TRACE", b"TRACE /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", (400, 405, 501)),
            ("149 unknown", b"BREW /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", (400, 405, 501)),
            ("150 lower case", b"get /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", (400, 405, 501)),
            ("146 Host with userinfo", b"GET /v1/me HTTP/1.1\r\nHost: a@b\r\nConnection: close\r\n\r\n", (400, 401)),
            ("no path", b"GET v1/me HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", (400,)),
        ):
            with self.subTest(name):
                self.only_refusals(data, allowed)

    def test_143_the_absolute_form_is_taken_and_its_host_counts(self):
        """RFC 9112 section 3.2.2: a server takes it, and what Host says does not matter then."""
        for target in (b"http://x/healthz", b"HTTPS://other:1/healthz", b"http://[::1]:7480/healthz?"):
            with self.subTest(target=target):
                data = b"GET " + target + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
                self.assertEqual(raw_statuses(raw_exchange(self.server, data)), [200])
        data = f"GET http://x?a=1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode()
        self.assertEqual(raw_statuses(raw_exchange(self.server, data)), [200], "no path is the root")

    def test_143_a_page_of_another_host_is_not_helped_by_the_absolute_form(self):
        session = self.server.person_with_session(self.fresh("absolute"))
        def sign_out(target, host, origin):
            head = (f"DELETE {target} HTTP/1.1\r\nHost: {host}\r\nOrigin: {origin}\r\nCookie: {session.cookie}\r\n"
                    f"X-Holdpoint-CSRF: {session.csrf}\r\nConnection: close\r\n\r\n")
            return raw_statuses(raw_exchange(self.server, head.encode()))
        self.assertEqual(sign_out("http://inner.example/v1/session", "evil.example", "http://evil.example"), [403])
        self.assertEqual(sign_out("http://inner.example/v1/session", "evil.example", "http://inner.example"), [200])

    def test_144_the_options_of_the_server_are_told(self):
        for target in (b"*", b"http://x"):
            received = raw_exchange(self.server, b"OPTIONS " + target + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            self.assertEqual(raw_statuses(received), [204])
            self.assertIn(b"Allow: GET", received)

    def test_a_query_that_cannot_be_read_names_its_parameter_and_keeps_the_connection(self):
        for value in ("%ff", "%00", "a%0ab", "%", "%zz", "%ed%a0%80"):
            with self.subTest(value=value):
                sent = f"GET /v1/requests?limit=5&session={value} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.ann.key}\r\n\r\n"
                received = raw_exchange(self.server, (sent + "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").encode())
                self.assertEqual(raw_statuses(received), [400, 200], "the next call is answered")
                self.assertIn(b'"field":"session"', received)
        received = raw_exchange(self.server, b"GET /v1/requests?%ff=1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        self.assertEqual(raw_statuses(received), [400])
        self.assertNotIn(b'"field"', received)

    def test_152_an_upgrade_is_not_followed(self):
        data = b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n"
        self.assertEqual(raw_statuses(raw_exchange(self.server, data))[:1], [200])

    def test_153_ten_thousand_pipelined_calls_are_answered_in_order(self):
        count = 10_000
        one = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
        with socket.create_connection((self.server.host, self.server.port), timeout=60) as sock:
            import threading
            sender = threading.Thread(target=sock.sendall, args=(one * count,))
            sender.start()
            tail, seen = b"", 0
            while seen < count:
                chunk = sock.recv(1 << 16)
                self.assertTrue(chunk, f"closed after {seen}")
                text = tail + chunk
                seen += len(re.findall(rb"HTTP/1\.1 200", text))
                tail = text[-11:] if not text.endswith(b"HTTP/1.1 200") else b""
            sender.join()

    def test_154_to_157_slow_and_broken_clients_do_not_disturb_others(self):
        sockets = []
        try:
            for i in range(100):
                sock = socket.create_connection((self.server.host, self.server.port))
                sockets.append(sock)
                if i % 3 == 0:
                    sock.sendall(b"POST /v1/requests HTTP/1.1\r\nHost: x\r\nX-")
                elif i % 3 == 1:
                    sock.sendall(self.post(b"Content-Length: 1000", b'{"action":'))
            started = time.monotonic()
            self.assertStatus(self.ann.get("/v1/me"), 200)
            self.assertLess(time.monotonic() - started, 2)
            for sock in sockets[1::3]:
                sock.close()  # 157: gone in the middle of the body
        finally:
            for sock in sockets:
                sock.close()

    def test_158_expect(self):
        data = self.post(b"Expect: 100-continue\r\nConnection: close\r\nContent-Length: 400000", b"")
        statuses = raw_statuses(raw_exchange(self.server, data))
        self.assertEqual(statuses, [413], "no body is asked for that would be refused anyway")

    def test_162_a_range_is_ignored(self):
        answer = self.ann.get("/v1/me", headers={"Range": "bytes=0-3"})
        self.assertStatus(answer, 200)
        self.assertEqual(answer["name"], "ann")

    def test_147_forwarded_headers_are_not_believed(self):
        request = self.agent.propose(session="forwarded")
        self.ann.call("POST", f"/v1/requests/{request['id']}/decision", {"decision": "approve"},
                      headers={"X-Forwarded-For": "203.0.113.9", "Forwarded": "for=203.0.113.9", "X-Real-IP": "203.0.113.9"})
        self.assertEqual(self.ann.timeline(request)[-1]["address"], "127.0.0.1")
        self.settled_snapshot()

    # --- paths, queries, ids ---

    def test_163_to_168_paths(self):
        for path in ("/v1/../v1/keys", "/v1/%2e%2e/v1/keys", "/v1/%252e%252e/keys", "/v1/requests/%00", "/v1/requests/..%2fkeys",
                     "/v1/requests/%c0%af", "/v1\\requests", "/v1/requests%5c", "/v1/requests.", "/v1/requests/", "/v1/requests;a=b",
                     "/V1/requests", "/v1/Requests", "//v1/requests", "/v1//requests", "/v1/requests/%zz", "/v1/requests/%", "/v1/keys%20",
                     "/v1/requests/%ff"):
            with self.subTest(path=path):
                data = f"GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.admin.key}\r\nConnection: close\r\n\r\n"
                received = raw_exchange(self.server, data.encode())
                self.assertIn(raw_statuses(received)[:1], ([400], [404]), received[:300])

    def test_169_to_171_queries(self):
        for query, field in (("state=pending&state=settled", "state"), ("state=pending&state=pending", "state"), ("state[]=pending", "state[]"),
                             ("limit=5&limit=5", "limit"), ("State=pending", "State"), ("unknown", "unknown"), ("=x", None), ("session=%zz", None),
                             ("session=%ff", None), ("limit=1e1", "limit"), ("limit=+5", None), ("limit= 5", None), ("since=2026-11-15", "since"),
                             ("since=2026-02-30T00:00:00Z", "since"), ("kind=Action", "kind"), ("risk=none", "risk"), ("outcome=", "outcome"),
                             ("batch=req_00000000000000000000000000", "batch"), ("batch=x", "batch")):
            with self.subTest(query=query):
                data = f"GET /v1/requests?{query} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.ann.key}\r\nConnection: close\r\n\r\n"
                received = raw_exchange(self.server, data.replace("limit= 5", "limit=%205").encode())
                self.assertEqual(raw_statuses(received)[:1], [400], received[:300])
                error = json.loads(received.partition(b"\r\n\r\n")[2])["error"]
                if field:
                    self.assertEqual(error.get("field"), field)

    def test_172_to_178_ids(self):
        mine = self.agent.propose(session="ids")
        other = self.other_agent.propose(session="ids")
        batch = self.agent.post("/v1/batches", {"requests": [{"action": {"tool": "t"}}]}).json
        self.settled_snapshot()
        near = mine["id"][:-1] + ("0" if mine["id"][-1] != "0" else "1")
        for id in (other["id"], batch["id"], near, mine["id"][4:], mine["id"] + "0", mine["id"] + "%20", "req_",
                   "req_" + "Z" * 26, "1'%20OR%20'1'='1", "%25", "_", "req_%25", "x" * 4000, "%F0%9F%98%80", "null", "0", "-1",
                   "req_" + "U" * 26, "req_8" + "0" * 25):
            with self.subTest(id=id[:60]):
                self.refused(self.agent.get(f"/v1/requests/{id}"), (400, 404))
                self.refused(self.agent.post(f"/v1/requests/{id}/cancel"), (400, 404))

    def test_46_an_object_where_an_id_is_expected(self):
        for bad in ({}, [], 1, None, True, "x"):
            self.refused(self.ann.post("/v1/decisions", {"decisions": [{"id": bad, "decision": "approve"}]}), (400,)) \
                if not isinstance(bad, str) else None

    def test_179_a_reused_key_with_another_payload(self):
        key = {"Idempotency-Key": self.fresh("reused")}
        self.agent.propose("a", headers=key)
        self.settled_snapshot()
        self.refused(self.agent.post("/v1/requests", {"action": {"tool": "b"}}, headers=key), (422,))
        self.refused(self.agent.post("/v1/batches", {"requests": [{"action": {"tool": "a"}}]}, headers=key), (422,))
        for bad in ("", " ", "a b", "x" * 256, "ä", "a\tb"):
            with self.subTest(key=bad[:20]):
                data = (f"POST /v1/requests HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.agent.key}\r\nIdempotency-Key: {bad}\r\n"
                        f"Content-Type: application/json\r\nContent-Length: {len(GOOD)}\r\nConnection: close\r\n\r\n").encode() + GOOD
                self.assertEqual(raw_statuses(raw_exchange(self.server, data))[:1], [400])

    def test_181_182_cursors_and_page_sizes(self):
        for cursor in ("x", "0", "-1", "99999999999999999999999", "'; DROP TABLE request; --", "c_zz", " ", "%00"):
            self.refused(self.ann.get("/v1/requests", query={"cursor": cursor}))
        for limit in ("0", "-1", "101", "1000000000", "", "ten", "5.5", "0x10"):
            self.refused(self.ann.get("/v1/requests", query={"limit": limit}), field="limit")
        for wait in ("-1", "301", "x", "1e9", "", "NaN", "inf"):
            self.refused(self.ann.get("/v1/requests/req_00000000000000000000000000", query={"wait": wait}), field="wait")

    def test_185_201_credentials_twice_or_odd(self):
        for headers in (f"Authorization: Bearer {self.ann.key}\r\nAuthorization: Bearer {self.ann.key}",
                        f"Authorization: Bearer {self.ann.key}\r\nAuthorization: Bearer {self.admin.key}",
                        "Cookie: holdpoint_session=a; holdpoint_session=b", f"Authorization: Basic {base64.b64encode(b'ann:x').decode()}",
                        "Authorization: Bearer", "Authorization: Bearer ", f"Authorization: {self.ann.key}",
                        f"Authorization: Bearer {self.ann.key}x", f"Authorization: Bearer  {self.ann.key}",
                        f"Authorization: Bearer {self.ann.key[:-1]}", "Authorization: Bearer " + "A" * 8000,
                        "Cookie: holdpoint_session=" + "A" * 8000):
            with self.subTest(headers=headers[:50]):
                received = raw_exchange(self.server, f"GET /v1/me HTTP/1.1\r\nHost: x\r\n{headers}\r\nConnection: close\r\n\r\n".encode())
                self.assertIn(raw_statuses(received)[:1], ([400], [401], [431]), received[:300])

    # --- decisions ---

    def pending(self, **more):
        request = self.agent.propose(session=self.fresh("bad"), **more)
        self.settled_snapshot()
        return request

    def decide(self, request, **body):
        return self.ann.post(f"/v1/requests/{request['id']}/decision", body)

    def test_205_to_209_decisions_that_come_too_late(self):
        request = self.pending()
        self.ann.decide(request)
        cancelled = self.agent.propose()
        self.agent.post(f"/v1/requests/{cancelled['id']}/cancel")
        self.settled_snapshot()
        self.refused(self.decide(request, decision="approve"), (409,))
        self.refused(self.decide(request, decision="reject", reason="no"), (409,))
        self.refused(self.decide(cancelled, decision="approve"), (409,))
        self.refused(self.ann.post("/v1/requests/req_00000000000000000000000000/decision", {"decision": "approve"}), (404,))

    def test_210_digests(self):
        request = self.pending()
        for digest in ("sha256:" + "0" * 64, request["digest"].upper(), request["digest"][:-1], request["digest"][7:], "md5:x", "x"):
            self.refused(self.decide(request, decision="approve", digest=digest), (400, 409))
        for digest in (1, True, [], {}, ""):
            self.refused(self.decide(request, decision="approve", digest=digest), (400,), "digest")

    def test_214_to_219_decisions_that_do_not_fit(self):
        request = self.pending()
        for field, body in (
            ("decision", {"decision": "Approve"}), ("decision", {"decision": ""}), ("decision", {"decision": None}), ("decision", {}),
            ("decision", {"decision": True}), ("decision", {"decision": ["approve"]}), ("approve", {"decision": "approve", "approve": True}),
            ("tool", {"decision": "modify", "arguments": {}, "tool": "other"}), ("action", {"decision": "modify", "arguments": {}, "action": {"tool": "x"}}),
            ("arguments", {"decision": "modify"}), ("arguments", {"decision": "modify", "arguments": []}),
            ("arguments", {"decision": "modify", "arguments": "x"}), ("arguments", {"decision": "approve", "arguments": {"a": 2}}),
            ("note", {"decision": "approve", "note": 1}), ("note", {"decision": "approve", "note": "x" * 5000}),
            ("reason", {"decision": "reject", "reason": ["no"]}), ("reason", {"decision": "reject", "reason": "x" * 5000}),
            ("guidance", {"decision": "defer"}), ("guidance", {"decision": "defer", "guidance": ""}), ("to", {"decision": "escalate"}),
            ("to", {"decision": "escalate", "to": "nobody-at-all"}), ("to", {"decision": "escalate", "to": "group:empty"}),
            ("to", {"decision": "escalate", "to": "group:"}), ("to", {"decision": "escalate", "to": "billing-bot"}),
            ("to", {"decision": "escalate", "to": "olga"}), ("to", {"decision": "approve", "to": "bob"}),
            ("answer", {"decision": "approve", "answer": 1}), ("approved_steps", {"decision": "approve", "approved_steps": [1]}),
            ("by", {"decision": "approve", "by": "bob"}), ("via", {"decision": "approve", "via": "phone"}),
            ("at", {"decision": "approve", "at": "2020-01-01T00:00:00Z"}), ("outcome", {"decision": "approve", "outcome": "approved"}),
        ):
            with self.subTest(body=str(body)[:80]):
                self.refused(self.decide(request, **body), (400, 422), field)
        self.assertEqual(self.ann.read(request), request)

    def test_218_a_note_has_two_thousand_characters_at_most(self):
        request = self.pending()
        self.refused(self.decide(request, decision="approve", note="x" * 2001), (400,), "note")

    def test_213_too_many_or_doubled_decisions(self):
        request = self.pending()
        many = [{"id": request["id"], "decision": "maybe"}] * 101
        self.refused(self.ann.post("/v1/decisions", {"decisions": many}), (400,), "decisions")
        for bad in (None, {}, "x", [1], ["x"], [{}]):
            self.refused(self.ann.post("/v1/decisions", {"decisions": bad}), (400,))
        twice = self.ann.post("/v1/decisions", {"decisions": [{"id": request["id"], "decision": "approve"},
                                                              {"id": request["id"], "decision": "reject"}]})
        if twice.status == 200:
            self.assertEqual([r["status"] for r in twice["results"]], [200, 409], "each is judged alone, in order")
        self.settled_snapshot()

    def test_what_is_wrong_with_one_of_several_decisions_is_named_from_the_top(self):
        ids = [self.pending()["id"] for _ in range(3)]
        told = self.ann.post("/v1/decisions", {"decisions": [
            {"id": ids[0], "decision": "maybe"}, {"id": ids[1], "decision": "approve", "passkey": {}},
            {"id": ids[2], "decision": "approve", "digest": "sha256:" + "0" * 64}]})
        self.assertEqual([r["error"].get("field") for r in told["results"]],
                         ["decisions[0].decision", "decisions[1].passkey", "decisions[2].digest"])

    def test_a_name_that_cannot_be_told_from_another_is_refused(self):
        for bad in (" ann", "ann "):
            with self.subTest(repr(bad)):
                for path, body in (("/v1/keys", {"role": "approver"}), ("/v1/users", {"role": "approver"})):
                    self.refused(self.server.admin.post(path, {"name": bad, **body}), (400,), "name")
                self.refused(self.server.admin.post("/v1/keys", {"name": "ok", "role": "approver", "groups": [bad]}),
                             (400,), "groups[0]")
        self.server.new_key("approver", "Jos\u00e9 d'Arc-\u738b")

    def test_people_who_are_named_twice_are_no_two_people(self):
        self.refused(self.agent.post("/v1/requests", {"action": {"tool": "t"}, "requirement": {
            "lines": [{"people": ["ann", "ann"], "quorum": 2}]}}), (400,), "requirement.lines[0].people")

    def test_follow_ups_that_do_not_fit(self):
        request = self.pending()
        for path, body, field in (("extend", {"seconds": 0}, "seconds"), ("extend", {"seconds": -5}, "seconds"), ("extend", {"seconds": 0.5}, "seconds"),
                                  ("extend", {"seconds": "60"}, "seconds"), ("extend", {"seconds": 10**9}, "seconds"), ("extend", {}, "seconds"),
                                  ("extend", {"seconds": 5, "x": 1}, "x")):
            self.refused(self.ann.post(f"/v1/requests/{request['id']}/{path}", body), (400, 422), field)
        for body, field in (({"reason": 1}, "reason"), ({"reason": "x" * 5000}, "reason"), ({"x": 1}, "x")):
            self.refused(self.agent.post(f"/v1/requests/{request['id']}/cancel", body), (400,), field)
        for body, field in (({}, "success"), ({"success": 1}, "success"), ({"success": None}, "success"), ({"success": True, "error": 1}, "error"),
                            ({"success": True, "x": 1}, "x")):
            self.refused(self.agent.post(f"/v1/requests/{request['id']}/report", body), (400, 422), field)

    def test_identity_calls_that_do_not_fit(self):
        for path, body, field in (
            ("/v1/keys", {"role": "root", "name": "x"}, "role"), ("/v1/keys", {"role": "agent"}, "name"), ("/v1/keys", {"role": "agent", "name": ""}, "name"),
            ("/v1/keys", {"role": "agent", "name": "a\nb"}, "name"), ("/v1/keys", {"role": "agent", "name": "x" * 300}, "name"),
            ("/v1/keys", {"role": "agent", "name": "x", "expires_in_s": 0}, "expires_in_s"),
            ("/v1/keys", {"role": "agent", "name": "x", "expires_in_s": -1}, "expires_in_s"),
            ("/v1/keys", {"role": "agent", "name": "x", "groups": "g"}, "groups"), ("/v1/keys", {"role": "agent", "name": "x", "key": "hp_x"}, "key"),
            ("/v1/users", {"name": "x", "role": "agent"}, "role"), ("/v1/users", {"name": "x", "role": "approver", "password": "short"}, "password"),
            ("/v1/users", {"name": "x", "role": "approver", "password": 1}, "password"), ("/v1/users", {"role": "approver"}, "name"),
            ("/v1/users/ann/password", {}, "password"), ("/v1/users/ann/password", {"password": ""}, "password"),
            ("/v1/users/ann/groups", {}, "groups"), ("/v1/users/ann/groups", {"groups": [1]}, None), ("/v1/users/ann/groups", {"groups": [""]}, None),
        ):
            with self.subTest(path=path, body=body):
                self.refused(self.admin.post(path, body), (400, 422), field)


class AcceptedTest(ServerTest):
    """Odd, but text: kept and given back exactly, because what people see must be what runs."""

    def test_odd_arguments_come_back_as_they_were(self):
        for name, arguments in ACCEPTED.items():
            if arguments is None:
                arguments = {"a": "end"}
                for _ in range(20):
                    arguments = {"a": arguments}
            with self.subTest(name):
                request = self.agent.propose("t", arguments)
                self.assertEqual(request["action"]["arguments"], arguments)
                self.assertEqual(self.ann.decide(request)["release"]["arguments"], arguments)
                self.server.admin.get("/v1/requests", query={"limit": 1})

    def test_53_spellings_of_one_number_are_one_number(self):
        ids = [self.agent.call("POST", "/v1/requests", raw=in_arguments(text), headers={"Content-Type": "application/json"})
               for text in (b"100", b"1e2", b"100.0", b"1E+2")]
        self.assertEqual({json.dumps(a["action"]["arguments"]) for a in ids}, {'{"a": 100}'})

    def test_the_headline_shows_what_cannot_be_seen(self):
        for hidden in ("\u202e", "\u200b", "\u2066", "\u0007", "\u001b[2J", "\U000e0041", "\ufeff"):
            request = self.agent.propose("t", {"path": f"/safe{hidden}/etc"})
            self.assertNotIn(hidden, request["headline"], f"{hidden!r} stays hidden from the person who decides")

    def test_names_that_look_alike_are_different_people(self):
        self.server.new_key("approver", "Ann")
        self.assertEqual(self.ann.get("/v1/me")["name"], "ann")


if __name__ == "__main__":
    unittest.main()

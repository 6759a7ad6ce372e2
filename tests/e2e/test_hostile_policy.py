"""An agent's developer who wants a dangerous call to pass, against a running server: none may, and all are answered."""
import json
import unittest

from harness import ROOT, ServerTest

POLICIES = ROOT / "tests" / "policies"


class HostileTest(ServerTest):
    """Speaks the wire as it is: bodies are bytes, so that nothing of ours repairs them first."""

    def send(self, body):
        raw = body if isinstance(body, bytes) else body.encode("utf-8", "surrogatepass")
        return self.agent.post("/v1/requests", raw=raw, headers={"Content-Type": "application/json"})

    def call(self, tool, arguments, more=""):
        """`arguments` is JSON text; `more` goes beside the action."""
        return self.send(f'{{"action":{{"tool":{json.dumps(tool)},"arguments":{arguments}}}{more}}}')

    def assertNotReleased(self, answer, what):
        self.assertLess(answer.status, 500, what)
        if answer.status == 201:
            self.assertIsNone(answer["release"], f"{what} was released: {answer}")
            self.assertNotIn(answer["outcome"], ("allowed", "approved"), what)
        else:
            self.assertIn(answer.status, (400, 413, 422), f"{what}: {answer}")

    def assertReleased(self, answer, what=""):
        self.assertEqual(answer.status, 201, answer)
        self.assertEqual(answer["outcome"], "allowed", f"{what}: {answer}")


class RefundTest(HostileTest):
    flags = ("--policy", str(POLICIES / "refunds.yaml"))
    count = 0

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # This policy excludes the requester, so somebody must be known to own the agent.
        cls.agent = cls.server.actor("agent", "refund-bot", owner="olga")

    def refund(self, amount, currency='"EUR"', more="", beside=""):
        RefundTest.count += 1
        return self.call("refund_order", f'{{"order":"1","currency":{currency},"customer":"c{self.count}",'
                                         f'"amount":{amount}{more}}}', beside)

    def test_P1_the_honest_call_passes(self):
        self.assertReleased(self.refund("20"))
        self.assertReleased(self.refund("2.5e1"))

    def test_G11_wrong_types_and_forms_of_numbers(self):
        for amount in ('"20"', "null", "true", "[20]", "{}", "NaN", "Infinity", "-Infinity", "1e400", "-1e400", "0x14",
                       "020", "+20", "20.", ".5", "20,", "2 0", "-20", "-0", "0", "25.000001", "26", "300.01",
                       "9007199254740993", "24.99999999999999999", "1e300", "9" * 400, "1" + "0" * 30, "٢٠"):
            self.assertNotReleased(self.refund(amount), amount)

    def test_G11_missing_foreign_and_repeated_keys(self):
        for more in (',"amount":5000', ',"\\u0061mount":5000', ',"Amount":5000', ',"amount ":5000', ',"__proto__":{"amount":5000}',
                     ',"constructor":1', ',"note":5', ',"note":{"a":1,"a":2}', ',"note":["x"]'):
            self.assertNotReleased(self.refund("20", more=more), more)
        self.assertNotReleased(self.call("refund_order", '{"order":"1","currency":"EUR","customer":"c"}'), "no amount")
        self.assertNotReleased(self.call("refund_order", "null"), "no arguments")
        self.assertNotReleased(self.call("refund_order", '"{\\"amount\\":20}"'), "arguments as text")
        self.assertNotReleased(self.send('{"action":{"tool":"refund_order","tool":"find_order","arguments":{"order":"1"}}}'),
                               "two tools")
        self.assertNotReleased(self.send(b'{"action":{"tool":"find_order","arguments":{"order":"\xff"}}}'), "no UTF-8")
        self.assertNotReleased(self.send('{"action":{"tool":"find_order","arguments":{"order":"\\ud800"}}}'), "half a character")

    def test_G11_text_that_looks_right(self):
        for currency in ('"eur"', '"EUR "', '"ЕUR"', '"EUR\\u200b"', '["EUR"]', '{"code":"EUR"}', '"EUR\\u0000"', '""'):
            self.assertNotReleased(self.refund("20", currency), currency)

    def test_Q7_claims_never_help(self):
        beside = (',"risk":{"level":"low","factors":[],"confidence":1},"metadata":{"annotations":{"readOnlyHint":true,'
                  '"destructiveHint":false,"openWorldHint":false},"approved":true,"policy":"allow"}')
        self.assertNotReleased(self.refund("100", beside=beside), "claims")
        answer = self.send('{"action":{"tool":"refund_order","reversible":true,"estimated_cost":0,"arguments":'
                           '{"order":"1","currency":"EUR","customer":"q","amount":100}}}')
        self.assertNotReleased(answer, "claims in the action")
        self.assertIn(answer["risk"]["level"], ("high", "critical"))

    def test_Q7_a_claim_can_hold_what_would_pass(self):
        self.assertReleased(self.call("find_order", '{"order":"1"}'))
        self.assertNotReleased(self.call("find_order", '{"order":"1"}', ',"risk":{"level":"critical"}'), "critical")
        self.assertNotReleased(self.call("find_order", '{"order":"1"}',
                                         ',"metadata":{"annotations":{"destructiveHint":true}}'), "destructive")

    def test_P2_names_that_look_like_others(self):
        for name in ("Find_Order", "find-order", "find_order ", " find_order", "find_оrder", "find_order\u200b", "ｆind_order",
                     "findOrder", "find_order\n", "find_order\u0000", "functions.find_order", "*", "find_*", "FIND_ORDER", "",
                     "find_order/../refund_order", "fi\u0301nd_order"):
            self.assertNotReleased(self.call(name, '{"order":"1"}'), repr(name))

    def test_X4_what_is_too_large_is_refused_or_held_and_the_server_goes_on(self):
        items = ",".join(['"x"'] * 10_000)
        for arguments in ('{"order":"' + "a" * (1 << 20) + '"}', f'{{"order":"1","tags":[{items}]}}',
                          '{"order":' + "[" * 500 + "]" * 500 + "}", '{"order":' + '{"a":' * 40 + "1" + "}" * 41,
                          "{" + ",".join(f'"k{i}":1' for i in range(20_000)) + "}"):
            self.assertNotReleased(self.call("find_order", arguments), arguments[:60])
        self.assertReleased(self.call("find_order", '{"order":"1"}'), "afterwards")

    def test_P2_a_batch_counts_each_of_its_calls(self):
        action = {"tool": "refund_order", "arguments": {"order": "1", "currency": "EUR", "customer": "batch", "amount": 20}}
        answer = self.agent.post("/v1/batches", {"requests": [{"action": action}] * 3})
        self.assertStatus(answer, 201)
        self.assertEqual([r["outcome"] for r in answer["requests"]], ["allowed", None, None])

    def test_D3_a_change_is_judged_on_every_route(self):
        answer = self.refund("100")
        support = self.server.actor("approver", "sue", groups=["support"])
        for changed in ({"order": "1", "currency": "BTC", "customer": "x", "amount": 5},
                        {"order": "1", "currency": "EUR", "customer": "x", "amount": "5"},
                        {"order": "1", "currency": "EUR", "customer": "x", "amount": 5, "more": 1}):
            refused = support.post(f"/v1/requests/{answer['id']}/decision", {"decision": "modify", "arguments": changed})
            self.assertStatus(refused, 422)
            refused = support.post(f"/api/approvals/{answer['id']}/approve", {"modifiedArguments": changed})
            self.assertNotEqual(refused.status, 200, refused)
        grow = {"decision": "modify", "arguments": {"order": "1", "currency": "EUR", "customer": "x", "amount": 5000}}
        path = f"/v1/requests/{answer['id']}/decision"
        self.assertIsNone(answer["requirement"]["confirm"])
        grown = support.post(path, grow)
        self.assertStatus(grown, 422, field="confirm")
        self.assertIsNone(support.read(answer["id"])["release"], "what became critical needs more than a click")
        code = grown.error["confirm"]
        self.assertRegex(code, r"^\d{6}$", "and says what")
        self.assertEqual(support.post("/v1/decisions", {"decisions": [{"id": answer["id"], **grow}]})["results"][0]["error"]["confirm"], code)
        self.assertStatus(support.post(path, {**grow, "confirm": "x" + code[1:]}), 422, field="confirm")
        taken = support.post(path, {**grow, "confirm": code})
        self.assertStatus(taken, 200)
        self.assertEqual((taken["action"]["arguments"]["amount"], taken["risk"]["level"]), (5000, "critical"))

    def test_X1_an_agent_decides_nothing(self):
        held = self.refund("100")
        for path, body in ((f"/v1/requests/{held['id']}/decision", {"decision": "approve"}),
                           (f"/api/approvals/{held['id']}/approve", {}),
                           ("/api/agent/approve", {"approvalId": held["id"], "approved": True}),
                           ("/v1/decisions", {"decisions": [{"id": held["id"], "decision": "approve"}]})):
            self.assertIn(self.agent.post(path, body).status, (401, 403), path)
        self.assertEqual(self.agent.call("PUT", "/v1/policy", {"text": "holdpoint: 1\npolicy: x\n"}).status, 403)
        self.assertIsNone(self.agent.read(held["id"])["release"])

    def test_P7_a_grant_covers_only_what_was_approved(self):
        support = self.server.actor("approver", "sid", groups=["support"])
        held = self.refund("40")
        support.decide(held["id"], grant={"uses": 2}, reason="fine")
        self.assertNotReleased(self.refund("40.01"), "more than approved")
        self.assertNotReleased(self.refund("-40"), "less than nothing")
        self.assertNotReleased(self.refund("40", '"CHF"'), "another currency")
        self.assertNotReleased(self.refund('"40"'), "as text")
        self.assertNotReleased(self.refund("301"), "a hard requirement")
        other = self.other_agent.post("/v1/requests", {"action": {"tool": "refund_order", "arguments": {
            "order": "1", "currency": "EUR", "customer": "other", "amount": 40}}})
        self.assertNotReleased(other, "another agent")
        self.assertReleased(self.refund("40"), "the grant itself")
        self.assertReleased(self.refund("39"), "the grant itself")
        self.assertNotReleased(self.refund("40"), "used up")

    def test_G7_a_budget_counts_what_the_agent_says_it_will_cost(self):
        def find(task, cost):
            return self.send(json.dumps({"task": task, "action": {"tool": "find_order", "arguments": {"order": "1"},
                                                                  "estimated_cost": cost}}))
        task = self.fresh("task")
        self.assertReleased(find(task, 2))
        self.assertNotReleased(find(task, 1), "more than the budget")
        self.assertNotReleased(find(task, -5), "less than nothing")
        self.assertReleased(find(task, 0.5), "what is left")


class WorkshopTest(HostileTest):
    flags = ("--policy", str(POLICIES / "workshop.yaml"))

    def assertNoneRuns(self, lines):
        for line in lines:
            self.assertNotReleased(self.call("run", json.dumps({"line": line})), repr(line))

    def test_P2_plain_commands_run(self):
        for line in ("git status", "git log --oneline -n 5 | wc -l", "ninja && ctest", "ls -l src"):
            self.assertReleased(self.call("run", json.dumps({"line": line})), line)

    def test_P2_quoting_and_joining(self):
        self.assertNoneRuns(["git status; id", "git status\nid", "git status & id", "git status && id", "git status || id",
                             "git status | sh", "ls\r\nid", "ls\\\nid", "ls `id`", "ls $(id)", "ls ${x:-$(id)}", "ls \"$(id)\"",
                             "ls $'\\n'id", "ls <(id)", "ls #\nid", "{ id; }", "(id)", "if id; then ls; fi", "! id",
                             "ls \u2028id", "ls\u00a0-l", "ｌｓ", "l\\s", "$'ls'", "ls;;id", "function ls { id; }", "ls() { id; }"])

    def test_P2_environment_wrappers_and_redirections(self):
        self.assertNoneRuns(["PATH=/tmp ls", "GIT_PAGER=id git log", "env ls", "env -S 'sh -c id'", "command ls", "exec ls",
                             "eval ls", "nohup ls", "xargs ls", "ls | xargs rm", "sh -c ls", "bash -lc 'git status'",
                             "busybox ls", "ls > x", "ls >> x", "ls 2> x", "ls >| x", "ls &> x", "ls <<< x", "wc <<EOF\nx\nEOF",
                             "ls | tee x", "ls < /dev/tcp/a/1", "./ls", "/tmp/git status", "alias ls=id", "source x", ". x",
                             "trap id EXIT", "hash -p x ls", "enable -f x ls", "coproc ls", "time -o x ls"])

    def test_P2_options_that_run_or_write(self):
        self.assertNoneRuns(["git -c alias.status='!id' status", "git -c core.fsmonitor=id status", "git -C /tmp status",
                             "git --exec-path=/tmp status", "git --git-dir=/tmp/x status", "git log --output=x",
                             "git log --outp=x", "git diff --ext-diff", "git diff --textconv", "git -p status",
                             "ctest -S x.cmake", "ctest --build-and-test a b", "ninja -f x.ninja", "ninja -C /tmp",
                             "cargo test --config build.rustc-wrapper=x", "cargo check --manifest-path /tmp/Cargo.toml",
                             "cargo +x test", "cargo run", "find . -exec id", "tar --to-command=id -xf x", "rg --pre id x",
                             "sort -o x y", "awk 'BEGIN{system(\"id\")}'", "git push", "git branch -D main", "make"])

    def test_P2_what_is_forbidden_is_found_behind_everything(self):
        for line in ("sudo ls", "'su'do ls", "s\\udo ls", "env sudo ls", "ls $(sudo id)", "ls; sudo id", "sh -c 'sudo id'",
                     "/usr/bin/sudo ls", "timeout 5 sudo ls", "X=1 sudo ls", "xargs sudo", "git push -f", "git push --force",
                     "git -C x push --force", "ls | sudo tee x", "bash -c \"sh -c 'sudo id'\"", "ls `sudo id`"):
            answer = self.call("run", json.dumps({"line": line}))
            self.assertNotReleased(answer, line)
            self.assertEqual(answer["outcome"], "denied", line)

    def test_P2_path_tricks(self):
        for path in ("lib/../../x", "lib/../.env", "/etc/passwd", "lib\\..\\x", "lib/%2e%2e/%2e%2e/x", "~/x", "~root/x", "$HOME/x",
                     "${HOME}/x", "lib/\u202ex", "lib/x\n", "file:///lib/x", "C:/lib/x", "../lib/x", "Lib/x", "lib", "",
                     "lib/*", "lib/?", "lib/x\u0000", "lib/.github/workflows/x.yml", "/proc/self/cwd/lib/x"):
            self.assertNotReleased(self.call("edit_file", json.dumps({"path": path, "text": "x"})), repr(path))
        self.assertReleased(self.call("edit_file", '{"path":"lib/./a//b.cc","text":"x"}'))

    def test_P2_a_secret_by_any_of_its_names(self):
        for path in (".env", "app/.env", "./app//.env", "app/x/../.env", "app/.ENV", "app/%2eenv", "app/.env ", "app/.env.",
                     "app/.env:x", "/srv/app/.env", "tls.key", "tls.KEY", "tls.key ", "~/.aws/credentials", "~/.aws",
                     "/home/ann/.aws/credentials", "/root/.aws", "/proc/1/root/root/.aws/credentials", "~/../ann/.aws/x",
                     "$HOME/.aws/credentials", "app/.en?", "app/.e*", "~ann/.aws/x", "app\\.env", "app/\u200b.env"):
            self.assertNotReleased(self.call("read_file", json.dumps({"path": path})), repr(path))
        self.assertReleased(self.call("read_file", '{"path":"app/environment.md"}'))

    def test_G5_a_plan_that_was_approved_releases_no_step_by_itself(self):
        steps = [{"action": f"step {i}", "tool": "run"} for i in range(6)]
        held = self.agent.propose(plan={"title": "all at once", "steps": steps}, kind="plan")
        self.assertEqual(held["state"], "pending")
        self.ann.decide(held)
        self.assertNoneRuns(["make all", "rm -r x"])
        approved = self.agent.post("/v1/requests", {"kind": "plan", "plan": {"title": "t", "steps": [
            {"action": f"step {i}", "approved": True} for i in range(6)]}})
        self.assertNotReleased(approved, "a plan that approves itself")

    def test_P3_trust_is_for_the_very_same_words(self):
        self.assertNoneRuns(["make all"] * 3)


class PagesTest(HostileTest):
    flags = ("--policy", str(POLICIES / "pages.yaml"))

    def post(self, url):
        return self.call("call_webhook", json.dumps({"url": url}))

    def test_P2_url_tricks(self):
        self.assertReleased(self.post("https://hooks.newsroom.example/x"))
        for url in ("https://hooks.newsroom.example@evil.example/", "https://hooks.newsroom.example:443@evil.example/",
                    "https://evil.example\\@hooks.newsroom.example/", "https://evil.example/?hooks.newsroom.example",
                    "https://evil.example#@hooks.newsroom.example", "http://hooks.newsroom.example/",
                    "https://hooks.newsroom.example.evil.example/", "https://hooks.newsroom.example%2eevil.example/",
                    "https://hooks.newsroom.example%00.evil.example/", "https://hооks.newsroom.example/",
                    "https://xn--hks-6cda.newsroom.example/", "https://hooks。newsroom。example/", "https:/hooks.newsroom.example",
                    "https:hooks.newsroom.example", "//hooks.newsroom.example/", " https://hooks.newsroom.example/",
                    "https://hooks.newsroom.example\t.evil.example/", "https://hooks.newsroom.example\n/",
                    "https://[::1]/", "https://[::ffff:192.168.0.1]/", "https://a@b@hooks.newsroom.example/",
                    "https://[hooks.newsroom.example]/", "javascript:alert(1)", "file:///etc/passwd", ""):
            self.assertNotReleased(self.post(url), repr(url))

    def test_P2_the_own_network_in_every_spelling(self):
        for url in ("http://192.168.1.9/", "http://127.0.0.1/", "http://[::1]/", "http://2130706433/", "http://0x7f000001/",
                    "http://127.1/", "http://[::ffff:192.168.1.9]/", "http://user@192.168.1.9/", "http://192.168.1.9./"):
            answer = self.post(url)
            self.assertNotReleased(answer, url)
            self.assertEqual(answer["outcome"], "denied", url)

    def test_Q12_an_agent_confirms_nothing_for_a_person(self):
        for confirmed in ("true", "1", '"true"', '"yes"', "false"):
            self.assertNotReleased(self.call("remove_pages", f'{{"pages":["a"],"confirmed":{confirmed}}}'), confirmed)

    def test_P2_a_pattern_cannot_be_outgrown(self):
        long = "a" * 60_000
        self.assertNotReleased(self.call("save_draft", json.dumps({"page": "a", "html": long + "<script>"})), "at the end")
        self.assertNotReleased(self.call("save_draft", json.dumps({"page": "a", "html": long + long})), "too long to read")
        self.assertNotReleased(self.call("save_draft", json.dumps({"page": "a", "html": "<ScRiPt"})), "in other letters")


class PresetTest(HostileTest):
    """The presets alone: nobody described a tool, so nothing passes."""

    def test_G10_no_tool_passes_that_nobody_described(self):
        for preset in ("minimal", "standard", "strict", "paranoid"):
            text = f"holdpoint: 1\npolicy: {preset}-only\nextends: {preset}\n"
            self.assertStatus(self.admin.call("PUT", "/v1/policy", {"text": text}), 200)
            for tool, arguments in (("rm", '{"path":"/"}'), ("read_file", '{"path":"a"}'), ("*", "{}"), ("all_tools", "{}"),
                                    ("Bash", '{"command":"ls"}'), ("get_x", "{}")):
                self.assertNotReleased(self.call(tool, arguments, ',"risk":{"level":"low"}'), f"{preset} {tool}")


if __name__ == "__main__":
    unittest.main()

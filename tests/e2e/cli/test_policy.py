"""Policy files on the command line, without a server: check, test, explain, diff, presets."""

import json
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from world import PROGRAM, ROOT

POLICY = """\
holdpoint: 1
policy: payments
defaults: {decision: require}
tools:
  pay: {risk: high, args: {to: string, amount: number}}
  look: {read_only: true, risk: low}
gates:
  money: {type: specific_tools, tools: [pay]}
rules:
  - id: pay-small
    tools: [pay]
    when: args.amount > 0 && args.amount <= 50
    then: allow
    auto_risk: high
    because: up to 50 is goodwill
  - id: pay-much
    tools: [pay]
    when: args.amount > 500
    then: require
    gate: money
    risk: critical
    because: over 500 is for two
  - id: pay-nobody
    tools: [pay]
    when: args.to == 'nobody'
    then: deny
    because: nobody has no account
tests:
  - {name: small passes, call: {tool: pay, args: {to: ann, amount: 20}}, expect: {decision: allow, rule: pay-small}}
  - {name: much is critical, call: {tool: pay, args: {to: ann, amount: 900}}, expect: {decision: require, risk: critical}}
"""

SMALL = {"tool": "pay", "args": {"to": "ann", "amount": 20}}
MUCH = {"tool": "pay", "args": {"to": "ann", "amount": 900}}
NOBODY = {"tool": "pay", "args": {"to": "nobody", "amount": 20}}


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.policy = self.write("payments.yaml", POLICY)

    def write(self, name, content):
        path = self.folder / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return str(path)

    def run_policy(self, *args, stdin="", env=None):
        # No server: were one asked, the address would lead nowhere and the command end with 5.
        env = {"HOLDPOINT_URL": "http://127.0.0.1:9", "HOME": str(self.folder), "LANG": "C.UTF-8", **(env or {})}
        return subprocess.run([PROGRAM, "policy", *map(str, args)], input=stdin, env=env, capture_output=True,
                              text=True, timeout=30)

    def explain(self, call, *args, policy=None):
        path = self.write("call.json", call)
        done = self.run_policy("explain", "--policy", policy or self.policy, path, "--json", *args)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["verdict"]

    def assertExit(self, done, code):
        self.assertEqual(done.returncode, code, f"stdout: {done.stdout}\nstderr: {done.stderr}")


class Check(Files):
    def test_a_good_file_is_named_versioned_and_counted(self):
        done = self.run_policy("check", self.policy)
        self.assertExit(done, 0)
        lines = done.stdout.splitlines()
        self.assertEqual(lines[0], "payments")
        self.assertRegex(lines[1], r"^sha256:[0-9a-f]{64}$")
        self.assertEqual(lines[2], "2 tools, 1 gate, 3 rules, 0 counters, 2 tests passed")

    def test_the_same_as_json(self):
        made = json.loads(self.run_policy("check", self.policy, "--json").stdout)
        self.assertEqual((made["name"], made["tools"], made["gates"], made["rules"], made["tests"]),
                         ("payments", 2, 1, 3, 2))
        self.assertEqual(made["version"], self.run_policy("check", self.policy).stdout.splitlines()[1])
        for warning in made["warnings"]:
            self.assertEqual(sorted(warning), ["column", "line", "message"])

    def test_an_error_has_file_line_and_column(self):
        for broken, place, word in (
                (POLICY.replace("then: deny", "then: refuse"), "26:11", "refuse"),
                (POLICY.replace("gates:", "gatez:"), "7:1", "gatez"),
                (POLICY + "policy: again\n", "31:1", "policy"),
                (POLICY.replace("args.amount > 500", "args.amuont > 500"), "18", "amuont")):
            path = self.write("broken.yaml", broken)
            done = self.run_policy("check", path)
            self.assertExit(done, 1)
            self.assertEqual(done.stdout, "")
            self.assertRegex(done.stderr, rf"^holdpoint: {re.escape(path)}:{place}(:\d+)?: ")
            self.assertIn(word, done.stderr)

    def test_a_failing_test_inside_refuses_the_file(self):
        path = self.write("broken.yaml", POLICY.replace("decision: allow", "decision: deny"))
        done = self.run_policy("check", path)
        self.assertExit(done, 1)
        self.assertRegex(done.stderr, r"broken\.yaml:29:\d+: test `small passes` fails: expected decision `deny`, came `allow`")

    def test_a_warning_does_not_refuse_it_and_names_its_place(self):
        unused = POLICY.replace("rules:", "approvers:\n  idle: {users: [zoe]}\nrules:")
        path = self.write("warned.yaml", unused)
        done = self.run_policy("check", path)
        self.assertExit(done, 0)
        self.assertRegex(done.stdout, rf"(?m)^{re.escape(path)}:\d+:\d+: warning: .*idle")

    def test_a_file_that_is_not_there_fails(self):
        done = self.run_policy("check", self.folder / "none.yaml")
        self.assertExit(done, 1)
        self.assertIn("none.yaml", done.stderr)

    def test_no_file_is_usage(self):
        self.assertExit(self.run_policy("check"), 2)
        self.assertExit(self.run_policy(), 2)
        self.assertExit(self.run_policy("frobnicate"), 2)

    def test_standard_input_is_a_file_too(self):
        self.assertExit(self.run_policy("check", "-", stdin=POLICY), 0)
        done = self.run_policy("check", "-", stdin=POLICY.replace("gates:", "gatez:"))
        self.assertExit(done, 1)
        self.assertIn("<stdin>:7:1: ", done.stderr)

    def test_parents_are_presets_and_files_beside_it(self):
        self.write("base.yaml", "holdpoint: 1\nextends: strict\nrules:\n  - {id: no-rm, tools: [rm], then: deny}\n")
        child = self.write("child.yaml", "holdpoint: 1\nextends: base.yaml\n")
        self.assertEqual(self.explain({"tool": "rm", "args": {}}, policy=child)["rule"], "no-rm")
        self.write("base.yaml", "holdpoint: 1\nrules:\n  - {id: no-rm, then: nonsense}\n")
        done = self.run_policy("check", child)
        self.assertExit(done, 1)
        self.assertRegex(done.stderr, rf"{re.escape(str(self.folder))}/base\.yaml:3:\d+: ")
        far = self.write("far.yaml", "holdpoint: 1\nextends: ../../etc/passwd\n")
        self.assertExit(self.run_policy("check", far), 1)

    def test_a_broken_config_file_is_none_of_its_business(self):
        config = self.write("config.toml", "nonsense")
        self.assertExit(self.run_policy("check", self.policy, "--config", config), 0)


class Tests(Files):
    def test_each_test_and_the_rules_without_one(self):
        done = self.run_policy("test", self.policy)
        self.assertExit(done, 0)
        self.assertEqual(done.stdout.splitlines(), [
            "pass  small passes", "pass  much is critical", "2 passed, 0 failed; 2 of 3 rules tested",
            "untested  pay-nobody"])

    def test_a_failure_names_place_expectation_and_what_came(self):
        path = self.write("p.yaml", POLICY.replace("rule: pay-small", "rule: pay-much"))
        done = self.run_policy("test", path)
        self.assertExit(done, 1)
        self.assertRegex(done.stdout, rf"FAIL  small passes  {re.escape(path)}:29:\d+: "
                                      r"expected rule `pay-much`, came `pay-small`")
        self.assertIn("pass  much is critical", done.stdout)
        self.assertIn("1 passed, 1 failed", done.stdout)

    def test_the_same_as_json(self):
        path = self.write("p.yaml", POLICY.replace("rule: pay-small", "rule: pay-much"))
        done = self.run_policy("test", path, "--json")
        self.assertExit(done, 1)
        told = json.loads(done.stdout)
        self.assertEqual((told["passed"], told["failed"], told["rules"], told["untested"]), (1, 1, 3, ["pay-nobody"]))
        self.assertEqual([(t["name"], t["passed"]) for t in told["tests"]],
                         [("small passes", False), ("much is critical", True)])

    def test_a_file_that_does_not_load_fails(self):
        path = self.write("p.yaml", POLICY.replace("gates:", "gatez:"))
        done = self.run_policy("test", path)
        self.assertExit(done, 1)
        self.assertIn(f"{path}:7:1: ", done.stderr)


class Explain(Files):
    def test_the_verdict_has_its_fixed_form(self):
        path = self.write("call.json", SMALL)
        done = self.run_policy("explain", "--policy", self.policy, path, "--json")
        self.assertExit(done, 0)
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.stdout.count("\n"), 1)
        self.assertTrue(done.stdout.startswith(
            '{"verdict":{"kind":"allow","rule":"pay-small","gate":"","risk":"high",'), done.stdout)
        told = json.loads(done.stdout)
        self.assertEqual(list(told), ["verdict"])
        self.assertEqual(told["verdict"]["because"], "up to 50 is goodwill")
        self.assertRegex(told["verdict"]["policy"], r"^sha256:[0-9a-f]{64}$")

    def test_P6_each_kind_of_verdict_names_its_rule(self):
        for call, kind, rule, gate, risk in ((SMALL, "allow", "pay-small", "", "high"),
                                             (MUCH, "hold", "pay-much", "money", "critical"),
                                             (NOBODY, "deny", "pay-nobody", "", "high")):
            verdict = self.explain(call)
            self.assertEqual((verdict["kind"], verdict["rule"], verdict["gate"], verdict["risk"]),
                             (kind, rule, gate, risk))

    def test_options_may_stand_anywhere(self):
        path = self.write("call.json", MUCH)
        for args in (["explain", "--json", "--policy", self.policy, path], ["--json", "explain", path, "--policy", self.policy]):
            done = self.run_policy(*args)
            self.assertExit(done, 0)
            self.assertEqual(json.loads(done.stdout)["verdict"]["kind"], "hold")

    def test_lines_get_a_line_each(self):
        lines = "\n".join(json.dumps(call) for call in (SMALL, MUCH, NOBODY)) + "\n"
        for args, stdin in (([self.write("calls.jsonl", lines)], ""), (["-"], lines)):
            done = self.run_policy("explain", "--policy", self.policy, *args, "--json", stdin=stdin)
            self.assertExit(done, 0)
            self.assertEqual([json.loads(line)["verdict"]["kind"] for line in done.stdout.splitlines()],
                             ["allow", "hold", "deny"])

    def test_a_call_over_several_lines_is_one_call(self):
        self.assertEqual(self.explain(json.dumps(SMALL, indent=2))["kind"], "allow")

    def test_what_an_agent_broke_is_denied_not_passed(self):
        for call in ('{"tool":"pay","args":{"to":"ann","amount":20,"amount":9000}}',
                     '{"tool":"pay","args":{"to":"ann","amount":NaN}}',
                     '{"tool":"pay","args":{"to":"ann","amount":12345678901234567890}}',
                     '{"tool":"pay","args":"all of it"}',
                     '{"tool":"pay","args":{"to":"ann","amount":"20"}}',
                     '{"tool":"pay","args":{"to":"ann","amount":20}',
                     '{"tool":"pay","args":{"to":"\\ud800","amount":20}}',
                     '{"tool":"pay","args":' + "[" * 100 + "]" * 100 + "}"):
            verdict = self.explain(call)
            self.assertEqual((verdict["kind"], verdict["rule"]), ("deny", "schema"), call)
            for key in ("gate", "risk", "because", "policy"):
                self.assertIn(key, verdict)

    def test_calls_beyond_the_limits_are_denied_and_many_are_read(self):
        for args in ({"to": "x" * (1 << 20), "amount": 20}, {"to": ["x"] * 10_000, "amount": 20}):
            self.assertEqual(self.explain({"tool": "pay", "args": args})["kind"], "deny")
        lines = (json.dumps(SMALL) + "\n") * 30_000
        done = self.run_policy("explain", "--policy", self.policy, "-", "--json", stdin=lines)
        self.assertExit(done, 0)
        self.assertEqual(done.stdout.count('{"verdict":{"kind":"allow",'), 30_000)

    def test_a_broken_line_keeps_the_others_beside_their_calls(self):
        lines = [json.dumps(SMALL), '{"tool":"pay","tool":"look"}', json.dumps(MUCH)]
        done = self.run_policy("explain", "--policy", self.policy, "-", "--json", stdin="\n".join(lines))
        self.assertExit(done, 0)
        self.assertEqual([json.loads(line)["verdict"]["kind"] for line in done.stdout.splitlines()],
                         ["allow", "deny", "hold"])

    def test_a_line_that_is_no_call_is_an_error_in_its_place(self):
        lines = [json.dumps(SMALL), "hello", '{"tol":"pay"}', json.dumps(MUCH)]
        done = self.run_policy("explain", "--policy", self.policy, "-", "--json", stdin="\n".join(lines))
        self.assertExit(done, 2)
        told = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([list(one)[0] for one in told], ["verdict", "error", "error", "verdict"])
        self.assertEqual([one["error"]["line"] for one in told[1:3]], [2, 3])
        self.assertIn("line 3: ", done.stderr)

    def test_what_is_no_call_is_usage(self):
        for text in ("", "hello", "[]", '"pay"', '{"args":{}}', '{"tool":"pay","argz":{}}'):
            path = self.write("call.json", text)
            done = self.run_policy("explain", "--policy", self.policy, path, "--json")
            self.assertExit(done, 2)
            self.assertEqual(done.stdout, "", text)
        self.assertExit(self.run_policy("explain", "--policy", self.policy, self.folder / "none.json"), 2)
        self.assertExit(self.run_policy("explain", "--policy", self.policy), 2)

    def test_a_policy_that_does_not_load_fails_with_its_place(self):
        broken = self.write("broken.yaml", POLICY.replace("gates:", "gatez:"))
        done = self.run_policy("explain", "--policy", broken, self.write("call.json", SMALL), "--json")
        self.assertExit(done, 1)
        self.assertEqual(done.stdout, "")
        self.assertIn(f"{broken}:7:1: ", done.stderr)

    def test_without_a_file_the_server_is_asked(self):
        self.assertExit(self.run_policy("explain", self.write("call.json", SMALL)), 5)

    def test_P6_for_people_it_says_who_decided_what_was_near_and_what_was_read(self):
        done = self.run_policy("explain", "--policy", self.policy, self.write("call.json", MUCH))
        self.assertExit(done, 0)
        self.assertIn("hold  critical risk  rule pay-much  gate money\nbecause over 500 is for two\n", done.stdout)
        self.assertRegex(done.stdout, r"rule pay-nobody would deny: args.to == 'nobody'")
        self.assertIn("args.amount = 900", done.stdout)

    def test_nothing_an_agent_wrote_controls_the_terminal(self):
        path = self.write("call.json", {"tool": "pay", "args": {"to": "\x1b[2J\u202e", "amount": 900}})
        for args in ([], ["--json"]):
            done = self.run_policy("explain", "--policy", self.policy, path, *args)
            self.assertNotIn("\x1b", done.stdout)
            self.assertNotIn("\u202e", done.stdout)

    def test_context_counters_and_time_are_part_of_a_call(self):
        policy = self.write("p.yaml", POLICY.replace("gates:", "counters:\n  paid: {on: pay, window: 1h}\ngates:").replace(
            "args.amount > 500", "counters.paid >= 3"))
        policy = self.write("p.yaml", Path(policy).read_text().split("tests:")[0])
        # An allowing rule does not help against a hard requirement.
        self.assertEqual(self.explain({**SMALL, "counters": {"paid": 3}}, policy=policy)["rule"], "pay-much")
        self.assertEqual(self.explain({**SMALL, "now": "2026-03-02T10:00:00Z"}, policy=policy)["rule"], "pay-small")
        path = self.write("call.json", {**SMALL, "counters": {"paidd": 3}})
        done = self.run_policy("explain", "--policy", policy, path)
        self.assertExit(done, 2)
        self.assertIn("paidd", done.stderr)


class Others(Files):
    def test_diff_names_what_moved_and_which_way(self):
        new = self.write("new.yaml", POLICY.replace("args.amount <= 50", "args.amount <= 80").replace(
            "  - id: pay-nobody", "  - {id: no-look, tools: [look], then: deny}\n  - id: pay-nobody"))
        done = self.run_policy("diff", self.policy, new)
        self.assertExit(done, 0)
        self.assertRegex(done.stdout, r"(?m)^\+ rule `no-look`\s+stricter$")
        self.assertRegex(done.stdout, r"(?m)^~ rule `pay-small`")
        changes = [json.loads(line) for line in self.run_policy("diff", self.policy, new, "--json").stdout.splitlines()]
        self.assertEqual({(c["kind"], c["direction"]) for c in changes if "no-look" in c["what"]}, {("added", "stricter")})

    def test_diff_of_the_same_meaning_is_empty(self):
        same = self.write("same.yaml", "# a comment\n" + POLICY)
        done = self.run_policy("diff", self.policy, same)
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertIn("no difference", done.stderr)
        self.assertExit(self.run_policy("diff", self.policy, self.write("b.yaml", "nonsense: 1\n")), 1)

    def test_G10_presets_can_be_printed_and_load(self):
        self.assertEqual(self.run_policy("presets").stdout.split(), ["minimal", "standard", "strict", "paranoid"])
        for name in ("minimal", "standard", "strict", "paranoid"):
            text = self.run_policy("presets", name).stdout
            self.assertIn(f"policy: {name}\n", text)
            self.assertExit(self.run_policy("check", "-", stdin=text), 0)
        self.assertExit(self.run_policy("presets", "lax"), 2)
        self.assertEqual([json.loads(line)["name"] for line in self.run_policy("presets", "--json").stdout.splitlines()],
                         ["minimal", "standard", "strict", "paranoid"])

    def test_every_command_has_help(self):
        for name in ("check", "test", "explain", "diff", "presets", "show", "apply", "reload", "backtest", "suggest"):
            done = self.run_policy(name, "--help")
            self.assertExit(done, 0)
            self.assertIn("--help", done.stdout)

    def test_what_needs_a_server_says_when_there_is_none(self):
        for args in (["show"], ["show", "--versions"], ["apply", self.policy], ["reload"], ["suggest"],
                     ["backtest", self.policy]):
            self.assertExit(self.run_policy(*args), 5)

    def test_the_example_policies_pass(self):
        folder = ROOT.parent / "shared" / "reference" / "policies"
        if not folder.is_dir():
            self.skipTest("the shared example policies are not here")
        for path in sorted(folder.glob("*.yaml")):
            self.assertExit(self.run_policy("test", path), 0)


if __name__ == "__main__":
    unittest.main()

"""The policy in force, grants and confirmation codes, from the command line against `holdpoint serve`."""

import json
import os
import re
import socket
import subprocess
import tempfile
import unittest
from pathlib import Path

from test_prompts import Terminal
from world import PROGRAM, until

POLICY = """\
holdpoint: 1
policy: payments
defaults: {decision: require}
tools:
  pay: {risk: medium, args: {to: string, amount: number}}
rules:
  - {id: pay-small, tools: [pay], when: args.amount > 0 && args.amount <= 50, then: allow, auto_risk: medium}
  - {id: pay-much, tools: [pay], when: args.amount > 500, then: require, risk: critical}
grants:
  offer: [once, similar, session]
  max_ttl: 1h
  max_uses: 5
  similar:
    pay: {pin: [agent.id, args.to], bound: {args.amount: {at_most: approved}}}
"""


class Server:
    """`holdpoint serve` on a port and a folder of its own."""

    def __init__(self, folder, *flags):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{free.getsockname()[1]}"
        self.url, self.data = "http://" + address, Path(folder) / "data"
        self.process = subprocess.Popen([PROGRAM, "serve", "--data", self.data, "--listen", address, *flags],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            until(self.answers, "the server", 30)
        except AssertionError:
            self.stop()
            raise

    def answers(self):
        done = subprocess.run([PROGRAM, "doctor", "--url", self.url], capture_output=True, env={})
        return b"is ready" in done.stdout

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=30)


class WithServer(unittest.TestCase):
    flags = ()

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.server = Server(self.folder, *self.flags)
        self.addCleanup(self.server.stop)
        self.keys = {"admin": (self.server.data / "admin.key").read_text().strip()}
        for role, name in (("agent", "bot"), ("approver", "ann"), ("approver", "bob")):
            made = self.command("key", "create", "--role", role, "--name", name, "--json", by="admin")
            self.keys[name] = json.loads(made.stdout)["key"]

    def restart(self):
        self.server.stop()
        self.server = Server(self.folder, *self.flags)
        self.addCleanup(self.server.stop)

    def write(self, name, text):
        (self.folder / name).write_text(text)
        return str(self.folder / name)

    def environment(self, by):
        return {"PATH": os.environ["PATH"], "HOME": str(self.folder), "HOLDPOINT_URL": self.server.url,
                "HOLDPOINT_TOKEN": self.keys[by], "LANG": "C.UTF-8", "TERM": "xterm", "NO_COLOR": "1"}

    def command(self, *args, by="ann", stdin=""):
        return subprocess.run([PROGRAM, *map(str, args)], input=stdin, env=self.environment(by),
                              capture_output=True, text=True, timeout=30)

    def told(self, *args, by="ann"):
        done = self.command(*args, "--json", by=by)
        self.assertExit(done, 0)
        return json.loads(done.stdout)

    def assertExit(self, done, code):
        self.assertEqual(done.returncode, code, f"stdout: {done.stdout}\nstderr: {done.stderr}")

    def propose(self, amount, to="zoe", *args):
        return self.told("request", "--no-wait", "--tool", "pay", "--args", json.dumps({"to": to, "amount": amount}), *args,
                         by="bot")

    def apply(self, text, *args):
        return self.command("policy", "apply", self.write("p.yaml", text), *args, by="admin")


class InForce(WithServer):
    def test_what_was_applied_is_in_force_shown_and_listed(self):
        done = self.apply(POLICY)
        self.assertExit(done, 0)
        version = done.stdout.split()[0]
        self.assertRegex(done.stdout, r"^sha256:[0-9a-f]{64} in force\n$")
        shown = self.command("policy", "show")
        self.assertExit(shown, 0)
        self.assertEqual(shown.stdout, POLICY)
        self.assertIn(version, shown.stderr)
        self.assertExit(self.apply(POLICY + "# later\n"), 0)
        listed = [json.loads(line) for line in self.command("policy", "show", "--versions", "--json").stdout.splitlines()]
        self.assertEqual([v["is_in_force"] for v in listed if v["version"] == version], [False])
        self.assertEqual(sum(v["is_in_force"] for v in listed), 1)
        for part in (version, version[:20], version[7:20]):
            self.assertEqual(self.command("policy", "show", part).stdout, POLICY)
        self.assertExit(self.command("policy", "show", "ffffffffffff0000"), 1)
        self.assertIn("in force", self.command("policy", "show", "--versions").stdout)

    def test_a_file_that_does_not_load_changes_nothing(self):
        self.assertExit(self.apply(POLICY), 0)
        before = self.told("policy", "show")["version"]
        done = self.apply(POLICY.replace("tools:\n", "toolz:\n"))
        self.assertExit(done, 1)
        self.assertIn(f"{self.folder}/p.yaml:4:1: ", done.stderr)
        self.assertEqual(self.told("policy", "show")["version"], before)
        self.assertExit(self.command("policy", "backtest", self.write("p.yaml", "nonsense: 1\n")), 1)
        self.assertExit(self.command("policy", "apply", self.folder / "none.yaml", by="admin"), 1)

    def test_what_extends_another_survives_a_restart_and_is_shown_as_it_was_written(self):
        text = POLICY.replace("policy: payments\n", "policy: payments\nextends: standard\n")
        done = self.apply(text)
        self.assertExit(done, 0)
        version = done.stdout.split()[0]
        made = [{name: one[name] for name in ("version", "by", "at")} for one in self.versions()]
        self.assertEqual(made[0]["by"], "admin")
        self.restart()
        self.assertEqual(self.told("policy", "show")["version"], version)
        for args in ((), (version,)):
            shown = self.command("policy", "show", *args)
            self.assertExit(shown, 0)
            self.assertEqual(shown.stdout, text, "what is shown can be applied again")
        above = self.told("policy", "show")["above"]
        self.assertEqual([one.splitlines()[1] for one in above if "policy: standard" in one], ["policy: standard"])
        self.assertEqual([{name: one[name] for name in ("version", "by", "at")} for one in self.versions()], made,
                         "a restart puts nothing in force")
        self.assertEqual(self.told("policy", "explain", self.write("c.json", '{"tool":"pay","args":{"to":"zoe","amount":900}}'))
                         ["verdict"]["rule"], "pay-much")

    def versions(self):
        return [json.loads(line) for line in self.command("policy", "show", "--versions", "--json").stdout.splitlines()]

    def test_only_an_admin_applies(self):
        self.assertExit(self.command("policy", "apply", self.write("p.yaml", POLICY), by="ann"), 1)
        self.assertExit(self.command("policy", "show", by="bot"), 1)

    def test_explain_asks_the_server_where_no_file_is_named(self):
        self.assertExit(self.apply(POLICY), 0)
        calls = [{"tool": "pay", "args": {"to": "zoe", "amount": amount}} for amount in (20, 60, 900, "20")]
        done = self.command("policy", "explain", "-", "--json", stdin="\n".join(map(json.dumps, calls)))
        self.assertExit(done, 0)
        told = [json.loads(line)["verdict"] for line in done.stdout.splitlines()]
        self.assertEqual([one["kind"] for one in told], ["allow", "hold", "hold", "deny"])
        self.assertEqual(told[2]["rule"], "pay-much")
        done = self.command("policy", "explain", "-", "--json", stdin='{"tool":"pay","args":[]}')
        self.assertEqual(json.loads(done.stdout)["verdict"]["rule"], "schema")
        self.assertExit(self.command("policy", "explain", "-", "--json", stdin='{"args":{}}'), 2)

    def test_reload_is_for_servers_with_a_file(self):
        done = self.command("policy", "reload", by="admin")
        self.assertExit(done, 1)
        self.assertIn("file", done.stderr)


class FromFile(WithServer):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "server.yaml"
        self.path.write_text(POLICY)
        self.flags = ("--policy", self.path)
        super().setUp()

    def test_reload_reads_it_again_and_a_broken_one_changes_nothing(self):
        before = self.told("policy", "show")["version"]
        self.path.write_text(POLICY + "# changed\n")
        done = self.command("policy", "reload", by="admin")
        self.assertExit(done, 0)
        after = self.told("policy", "show")["version"]
        self.assertNotEqual(before, after)
        self.assertTrue(done.stdout.startswith(after))
        self.path.write_text("nonsense: 1\n")
        self.assertNotEqual(self.command("policy", "reload", by="admin").returncode, 0)
        self.assertEqual(self.told("policy", "show")["version"], after)
        self.assertExit(self.command("policy", "apply", self.path, by="admin"), 1)


class Confirmation(WithServer):
    def setUp(self):
        super().setUp()
        self.assertExit(self.apply(POLICY), 0)

    def pending(self):
        request = self.propose(900)
        self.assertRegex(request["requirement"]["confirm"], r"^[0-9]{6}$")
        return request["id"], request["requirement"]["confirm"]

    def test_D9_without_the_code_nothing_is_released(self):
        ident, code = self.pending()
        wrong = f"{(int(code) + 1) % 1_000_000:06d}"
        for args in ([], ["--yes"], ["--confirm", wrong], ["--confirm", "pay"]):
            done = self.command("approve", ident, *args)
            self.assertExit(done, 1)
            self.assertEqual(done.stdout, "")
        self.assertEqual(self.told("show", ident)["state"], "pending")
        self.assertIn(code, self.command("show", ident).stdout)
        self.assertExit(self.command("approve", ident, "--confirm", code), 0)
        self.assertEqual(self.told("show", ident)["outcome"], "approved")

    def test_modify_takes_the_code_too(self):
        ident, code = self.pending()
        change = ["--args", '{"to": "zoe", "amount": 800}']
        self.assertExit(self.command("modify", ident, *change), 1)
        self.assertExit(self.command("modify", ident, *change, "--confirm", code), 0)
        self.assertEqual(self.told("show", ident)["outcome"], "modified")

    def test_D9_D3_a_change_that_becomes_critical_is_released_with_the_code_that_it_then_takes(self):
        ident = self.propose(80)["id"]
        change = ["--args", '{"to": "zoe", "amount": 900}']
        done = self.command("modify", ident, *change)
        self.assertExit(done, 1)
        self.assertEqual(self.told("show", ident)["state"], "pending")
        code = re.search(r"confirm with --confirm ([0-9]{6})\n", done.stderr).group(1)
        wrong = f"{(int(code) + 1) % 1_000_000:06d}"
        self.assertExit(self.command("modify", ident, *change, "--confirm", wrong), 1)
        self.assertEqual(self.told("show", ident)["state"], "pending")
        self.assertExit(self.command("modify", ident, *change, "--confirm", code), 0)
        self.assertEqual(self.told("show", ident)["release"]["arguments"]["amount"], 900)

        ident = self.propose(80)["id"]
        for typed, ends in (("no", 1), (None, 0)):
            terminal = Terminal(["modify", ident, *change], self.environment("ann"))
            self.addCleanup(terminal.end)
            terminal.expect("with these changes? [y/N] ")
            terminal.write("y\n")
            terminal.expect(" to release it: ")
            code = re.search(r"with these changes a code is asked for; type ([0-9]{6}) to release it", terminal.seen).group(1)
            terminal.write((typed or code) + "\n")
            self.assertEqual(terminal.end(), ends)
        self.assertEqual(self.told("show", ident)["outcome"], "modified")

    def test_a_rejection_needs_no_code(self):
        self.assertExit(self.command("reject", self.pending()[0]), 0)

    def test_D9_at_a_terminal_the_code_is_asked_for(self):
        ident, code = self.pending()
        for typed, ends in (("000000" if code != "000000" else "111111", 1), (code, 0)):
            terminal = Terminal(["approve", ident], self.environment("ann"))
            self.addCleanup(terminal.end)
            terminal.expect(f"type {code} to release it: ")
            terminal.write(typed + "\n")
            self.assertEqual(terminal.end(), ends)
        self.assertEqual(self.told("show", ident)["outcome"], "approved")


class Grants(WithServer):
    def setUp(self):
        super().setUp()
        self.assertExit(self.apply(POLICY), 0)

    def granted(self, *args):
        ident = self.propose(80)["id"]
        self.assertExit(self.command("approve", ident, *args), 0)
        return ident, self.told("grant", "list")

    def test_P7_U1_a_grant_lets_similar_calls_pass_until_it_is_revoked(self):
        ident, grant = self.granted("--grant", "30m", "--grant-uses", 3)
        self.assertEqual((grant["state"], grant["agent"], grant["tool"], grant["by"], grant["request"]),
                         ("active", "bot", "pay", "ann", ident))
        self.assertEqual(self.propose(70)["outcome"], "allowed")
        self.assertEqual(self.propose(70, "bob")["state"], "pending")
        self.assertEqual(self.propose(90)["state"], "pending")
        shown = self.told("grant", "show", grant["id"])
        self.assertEqual((shown["uses_left"], shown["uses"]), (2, 1))
        text = self.command("grant", "show", grant["id"]).stdout
        self.assertIn("2 uses", text)
        self.assertRegex(text, r"given by\s+ann")
        self.assertIn(grant["id"], self.command("grant", "list").stdout)
        done = self.command("grant", "revoke", grant["id"])
        self.assertExit(done, 0)
        self.assertEqual(done.stdout, f"{grant['id']} revoked\n")
        self.assertEqual(self.propose(70)["state"], "pending")
        self.assertEqual(self.command("grant", "list", "--json").stdout, "")
        self.assertEqual(self.told("grant", "list", "--all")["state"], "ended")

    def test_every_bound_reaches_the_server(self):
        _, grant = self.granted("--grant-sum", "100", "--grant-uses", 2)
        self.assertEqual((grant["sum_left"], grant["uses_left"], grant["session"]), (100, 2, None))

    def test_P7_U3_a_grant_may_stay_in_its_session(self):
        ident = self.propose(80, "zoe", "--session", "s-1")["id"]
        self.assertExit(self.command("approve", ident, "--grant-session"), 0)
        self.assertEqual(self.told("grant", "list")["session"], "s-1")
        self.assertEqual(self.propose(70, "zoe", "--session", "s-2")["state"], "pending")
        self.assertEqual(self.propose(70, "zoe", "--session", "s-1")["outcome"], "allowed")

    def test_lists_are_narrowed_by_agent_and_tool(self):
        self.granted("--grant", "5m")
        self.assertTrue(self.command("grant", "list", "--agent", "bot", "--tool", "pay", "--json").stdout)
        self.assertEqual(self.command("grant", "list", "--agent", "nobody", "--json").stdout, "")
        self.assertEqual(self.command("grant", "list", "--tool", "other", "--json").stdout, "")

    def test_what_cannot_be_granted_releases_nothing(self):
        request = self.propose(900)
        done = self.command("approve", request["id"], "--confirm", request["requirement"]["confirm"], "--grant", "1h")
        self.assertExit(done, 1)
        self.assertEqual(self.told("show", request["id"])["state"], "pending")
        self.assertExit(self.command("approve", request["id"], "--grant", "soon"), 2)

    def test_a_grant_that_is_not_there_fails(self):
        for verb in ("show", "revoke"):
            self.assertExit(self.command("grant", verb, "gr_nothing"), 1)
        self.assertExit(self.command("grant", "list", by="bot"), 1)


class History(WithServer):
    def setUp(self):
        super().setUp()
        self.assertExit(self.apply(POLICY), 0)

    def test_what_people_refused_has_to_be_acknowledged_one_by_one(self):
        refused = [self.propose(amount)["id"] for amount in (70, 75)]
        for ident in refused:
            self.assertExit(self.command("reject", ident), 0)
        approved = self.propose(60)["id"]
        self.assertExit(self.command("approve", approved), 0)
        looser = POLICY.replace("<= 50", "<= 80")
        told = self.told("policy", "backtest", self.write("new.yaml", looser), "--since", "30d")
        self.assertEqual({one["id"] for one in told["dangerous"]}, set(refused))
        self.assertEqual((told["calls"], told["prompts_saved"]), (3, 3))
        text = self.command("policy", "backtest", self.write("new.yaml", looser))
        self.assertExit(text, 0)
        for ident in refused:
            self.assertIn(f"! {ident}", text.stdout)
        self.assertIn(f"  {approved}", text.stdout)

        before = self.told("policy", "show")["version"]
        done = self.apply(looser)
        self.assertExit(done, 1)
        for ident in refused:
            self.assertIn(ident, done.stderr)
        self.assertExit(self.apply(looser, "--acknowledge", refused[0]), 1)
        self.assertEqual(self.told("policy", "show")["version"], before)
        self.assertExit(self.apply(looser, "--acknowledge", refused[0], "--acknowledge", refused[1]), 0)
        self.assertEqual(self.propose(70)["outcome"], "allowed")

    def test_P8_suggestions_are_printed_and_not_applied(self):
        done = self.command("policy", "suggest")
        self.assertExit(done, 0)
        self.assertEqual(done.stdout, "")
        self.assertIn("nothing to suggest", done.stderr)
        for _ in range(5):
            self.assertExit(self.command("approve", self.propose(60)["id"]), 0)
        before = self.told("policy", "show")["version"]
        told = self.told("policy", "suggest", "--since", "1d")
        self.assertEqual(told["approvals"], 5)
        self.assertEqual(told["backtest"]["dangerous"], [])
        done = self.command("policy", "suggest", "--approvals-min", 5)
        self.assertIn("then: allow", done.stdout)
        self.assertIn("# rests on 5 approvals", done.stdout)
        self.assertEqual(self.command("policy", "suggest", "--approvals-min", 6).stdout, "")
        self.assertEqual(self.told("policy", "show")["version"], before)
        # What is printed is a rule that can be pasted.
        self.assertExit(self.apply(POLICY.replace("rules:\n", "rules:\n" + done.stdout)), 0)
        self.assertEqual(self.propose(60)["outcome"], "allowed")

    def test_a_time_that_is_none_is_usage(self):
        self.assertExit(self.command("policy", "suggest", "--since", "lately"), 2)
        self.assertExit(self.command("policy", "backtest", self.write("p.yaml", POLICY), "--since", "lately"), 2)


if __name__ == "__main__":
    unittest.main()

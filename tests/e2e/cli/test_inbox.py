"""The full-screen inbox and the live table of `watch`, driven through tmux as a person would."""

import json
import os
import re
import shlex
import shutil
import signal as signals
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path

from fake_server import FakeServer, large_and_deep
from world import PROGRAM, World, until

# Longer than the inbox waits before it takes a deciding key, or the same one again.
CALM = 0.6
SAME_KEY = 1.2


@unittest.skipUnless(shutil.which("tmux"), "needs tmux")
class Inbox(World):
    needs_fake = True
    opened = 0
    socket = "none"

    def setUp(self):
        self.renew()
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)

    def renew(self):
        """A fresh server: what one test left must not reach the next."""
        fake = FakeServer()
        self.addCleanup(fake.stop)
        type(self).fake, type(self).url = fake, fake.url

    def tmux(self, *args):
        return subprocess.run(["tmux", "-L", self.socket, "-f", "/dev/null", *args], capture_output=True, text=True)

    def open(self, columns=80, rows=24, role="approver", wait="● live", command="inbox", **env):
        variables = " ".join(f"{k}={shlex.quote(v)}" for k, v in self.environment(role, **env).items() if k != "TERM")
        # A name of its own each time: a tmux that is still going away must not be met.
        type(self).opened += 1
        self.socket = f"holdpoint-test-{os.getpid()}-{self.opened}"
        # Each is ended by its own name: a test may open two.
        self.addCleanup(subprocess.run, ["tmux", "-L", self.socket, "kill-server"], capture_output=True)
        # The shell stays, so that the test sees what the terminal is like afterwards.
        line = f"{variables} {shlex.quote(PROGRAM)} {command}; echo ended with $?; exec sh"
        self.tmux("new-session", "-d", "-x", str(columns), "-y", str(rows), "sh", "-c", line)
        if wait:
            self.see(wait)
        time.sleep(CALM)

    def program_pid(self):
        """The inbox is the only child of the shell in the pane."""
        shell = self.tmux("display-message", "-p", "#{pane_pid}").stdout.strip()
        return int(Path(f"/proc/{shell}/task/{shell}/children").read_text().split()[0])

    def screen(self):
        return self.tmux("capture-pane", "-p").stdout

    def see(self, text, seconds=10):
        try:
            until(lambda: text in self.screen(), text, seconds)
        except AssertionError:
            self.fail(f"never saw {text!r} on\n{self.screen()}")

    def press(self, *keys):
        self.tmux("send-keys", *keys)

    def type(self, text):
        self.tmux("send-keys", "-l", text)

    def ask(self, headline, level="low", **body):
        body.setdefault("action", {"tool": "pay", "arguments": {"amount": 5}})
        return self.fake.propose(risk=level, metadata={"headline": headline}, **body)

    def test_H10_one_key_approves_what_is_selected(self):
        request = self.ask("Pay five")
        self.open()
        self.see("Pay five")
        self.press("a")
        until(lambda: request["outcome"], "the decision")
        self.assertEqual((request["outcome"], request["decision"]["by"]), ("approved", "ann"))
        self.see("Nothing needs you.")

    def test_H10_watch_keeps_what_waits_in_sight_below_what_happens(self):
        first, second = self.ask("Pay five", timeout_s=90), self.ask("Pay six", timeout_s=600)
        self.open(columns=100, rows=20, command="watch", wait="2 wait")
        waits = lambda: self.screen().split(" wait", 1)[-1]
        self.assertLess(waits().index("Pay five"), waits().index("Pay six"), "what ends first stands first")
        # Time passes although nothing happens; only one table is ever on the screen.
        until(lambda: re.search(r"1:(2[0-7]|1\d).*Pay five", waits()), "the time that is left goes down")
        for i in range(12):
            self.ask(f"Pay more {i}")
        self.see("14 wait")
        self.see("and 6 more")
        self.assertEqual(self.screen().count(" wait\n"), 1)
        self.fake.decide(first["id"], decision="approve")
        self.see("13 wait")
        until(lambda: "Pay five" not in waits(), "what is settled is not in the table")
        self.assertIn("approved", self.screen().split("13 wait")[0])
        os.kill(self.program_pid(), signals.SIGINT)
        self.see("ended with 0")
        self.assertEqual(second["state"], "pending")

    def test_a_large_request_comes_while_the_inbox_is_open(self):
        self.open(rows=30)
        self.ask("Pay much at once", action={"tool": "pay", "arguments": large_and_deep()})
        self.see("Pay much at once")

    def test_an_event_that_cannot_be_read_is_told(self):
        self.open()
        with self.fake.state.lock:
            for stream in self.fake.state.streams:
                stream.put((1, "approval-required", {"request": {"id": "req_half"}}))
        self.see("skipped an event that cannot be read")

    def test_one_held_key_decides_one_request(self):
        requests = [self.ask(f"Pay {i}") for i in range(5)]
        self.open()
        self.see("Pay 4")
        self.press("a")
        time.sleep(0.5)
        for _ in range(40):
            self.press("a")
        self.assertEqual(sum(r["state"] == "settled" for r in requests), 1)

    def test_a_key_right_after_a_new_request_came_does_not_count(self):
        first = self.ask("Pay first")
        self.open()
        self.see("Pay first")
        # One arrives every few milliseconds, so that the key comes right after one of them.
        is_over = threading.Event()
        def keep_asking():
            while not is_over.wait(0.02):
                self.ask("Drop everything", "critical")
        asking = threading.Thread(target=keep_asking)
        asking.start()
        try:
            self.see("Drop everything")
            self.press("a")
            self.see("the screen just changed")
        finally:
            is_over.set()
            asking.join()
        self.assertEqual(first["state"], "pending")

    def test_high_asks_for_yes(self):
        request = self.ask("Pay much", "high")
        self.open()
        self.press("a")
        self.see("risk is high")
        self.press("n")
        self.see("nothing was sent")
        self.assertEqual(request["state"], "pending")
        time.sleep(SAME_KEY)
        self.press("a")
        self.see("risk is high")
        time.sleep(CALM)
        self.press("y")
        until(lambda: request["outcome"] == "approved", "the decision")

    def test_critical_wants_the_tools_name(self):
        request = self.ask("Drop it", "critical", action={"tool": "drop_table", "arguments": {}})
        self.open()
        self.press("a")
        self.see("type drop_table")
        self.type("drop")
        time.sleep(CALM)
        self.press("Enter")
        self.see("that is not what was asked for")
        self.assertEqual(request["state"], "pending")
        time.sleep(SAME_KEY)
        self.press("a")
        self.see("type drop_table")
        self.type("drop_table")
        time.sleep(CALM)
        self.press("Enter")
        until(lambda: request["outcome"] == "approved", "the decision")

    def sent(self, request):
        """The bodies of the decisions that reached the server."""
        return [json.loads(body) for _, path, _, body in self.fake.state.seen if path.endswith(request["id"] + "/decision")]

    def test_D9_a_request_with_a_code_wants_the_code(self):
        for level in ("low", "critical"):
            with self.subTest(level=level):
                self.renew()
                request = self.ask("Pay five", level)
                request["requirement"]["confirm"] = "048213"
                self.open()
                self.see("the code 048213")
                self.press("a")
                self.see("type the code 048213")
                self.type("48213")
                time.sleep(CALM)
                self.press("Enter")
                self.see("that is not what was asked for")
                self.assertEqual(self.sent(request), [])
                time.sleep(SAME_KEY)
                self.press("a")
                self.see("type the code 048213")
                self.type("048213")
                time.sleep(CALM)
                self.press("Enter")
                until(lambda: request["outcome"] == "approved", "the decision")
                self.assertEqual([body["confirm"] for body in self.sent(request)], ["048213"])

    def test_H10_a_rejection_carries_its_reason(self):
        request = self.ask("Pay five")
        self.open()
        self.press("r")
        self.see("reject, because")
        self.type("zu teuer für uns")
        self.see("zu teuer für uns")
        time.sleep(CALM)
        self.press("Enter")
        until(lambda: request["outcome"] == "rejected", "the decision")
        self.assertEqual(request["decision"]["reason"], "zu teuer für uns")

    def test_letters_meant_for_another_window_send_nothing(self):
        requests = [self.ask(f"Pay {i}") for i in range(3)]
        self.open()
        self.see("Pay 2")
        self.type("rm -rf /\r")
        time.sleep(CALM)
        self.assertEqual([r["state"] for r in requests], ["pending"] * 3)

    def test_pasted_text_is_not_taken_as_keys(self):
        requests = [self.ask(f"Pay {i}") for i in range(3)]
        self.open()
        self.tmux("set-buffer", "a\na\nr\n\n")
        self.tmux("paste-buffer", "-p")
        self.see("pasted text is not taken as keys")
        self.assertEqual([r["state"] for r in requests], ["pending"] * 3)

    def test_a_pasted_line_end_does_not_send_an_answer(self):
        request = self.ask("Pay five")
        self.open()
        self.press("r")
        self.see("reject, because")
        time.sleep(CALM)
        self.tmux("set-buffer", "two\nlines\n")
        self.tmux("paste-buffer", "-p")
        self.see("two lines")
        self.assertEqual(request["state"], "pending")

    def test_what_will_run_must_be_read_before_it_is_released(self):
        script = "\n".join(f"echo {i}" for i in range(5)) + "; rm -rf /"
        request = self.ask("Run a script", action={"tool": "sh", "arguments": {f"line{i}": script for i in range(30)}})
        self.open()
        self.press("a")
        self.see("read all of what will run first")
        self.assertEqual(request["state"], "pending")
        # Each part has to have stood on the screen: a key that comes before it was drawn reads past it.
        for part in ('"line12"', '"line29"'):
            self.press("Space")
            self.see(part)
        time.sleep(SAME_KEY)
        self.press("a")
        until(lambda: request["outcome"] == "approved", "the decision")

    def test_H10_modify_shows_the_difference_before_it_is_sent(self):
        request = self.ask("Pay five", action={"tool": "pay", "arguments": {"amount": 500, "to": "bob"}})
        editor = Path(self.scratch.name) / "editor"
        editor.write_text("#!/bin/sh\nsed -i s/500/50/ \"$1\"\n")
        editor.chmod(0o755)
        self.open(EDITOR=str(editor))
        self.press("m")
        self.see("+   \"amount\": 50,")
        self.assertIn("-   \"amount\": 500,", self.screen())
        self.assertEqual(request["state"], "pending")
        time.sleep(CALM)
        self.press("y")
        until(lambda: request["outcome"] == "modified", "the decision")
        self.assertEqual(request["action"]["arguments"], {"amount": 50, "to": "bob"})

    def test_a_change_wants_the_code_too(self):
        request = self.ask("Pay five", action={"tool": "pay", "arguments": {"amount": 500}})
        request["requirement"]["confirm"] = "048213"
        editor = Path(self.scratch.name) / "editor"
        editor.write_text("#!/bin/sh\nsed -i s/500/50/ \"$1\"\n")
        editor.chmod(0o755)
        self.open(EDITOR=str(editor))
        self.press("m")
        self.see("+   \"amount\": 50")
        time.sleep(CALM)
        self.press("y")
        self.see("type the code 048213")
        self.assertEqual(self.sent(request), [])
        self.type("048213")
        time.sleep(CALM)
        self.press("Enter")
        until(lambda: request["outcome"] == "modified", "the decision")
        self.assertEqual([body["confirm"] for body in self.sent(request)], ["048213"])

    def test_D9_a_change_that_becomes_critical_asks_for_the_code_that_it_then_takes(self):
        request = self.ask("Pay five", action={"tool": "pay", "arguments": {"amount": 500}})
        self.fake.fail("/decision", status=422, body={"error": {"code": "refused", "message": "needs a code", "field": "confirm", "confirm": "048213"}})
        editor = Path(self.scratch.name) / "editor"
        editor.write_text("#!/bin/sh\nsed -i s/500/5000/ \"$1\"\n")
        editor.chmod(0o755)
        self.open(EDITOR=str(editor))
        self.press("m")
        self.see("+   \"amount\": 5000")
        time.sleep(CALM)
        self.press("y")
        self.see("with these changes a code is asked for; type 048213")
        self.assertEqual(request["state"], "pending")
        self.type("048213")
        time.sleep(CALM)
        self.press("Enter")
        until(lambda: request["outcome"] == "modified", "the decision")
        self.assertEqual([body.get("confirm") for body in self.sent(request)], [None, "048213"])
        self.assertEqual(request["action"]["arguments"], {"amount": 5000})
        self.see("Nothing needs you.")

    def test_an_editor_that_changes_nothing_sends_nothing(self):
        request = self.ask("Pay five")
        self.open(EDITOR="true")
        self.press("m")
        self.see("unchanged")
        self.assertEqual(request["state"], "pending")

    def test_H10_a_question_is_answered(self):
        request = self.ask("Which region?", kind="input", input={"question": "Which region?", "type": "choice",
                                                                "options": ["eu", "us"]})
        self.open()
        self.press("v")
        self.see("answer (choice)")
        self.type("eu")
        time.sleep(CALM)
        self.press("Enter")
        until(lambda: request["outcome"] == "answered", "the decision")
        self.assertEqual(request["decision"]["answer"], "eu")

    def test_H10_defer_escalate_and_abort(self):
        for key, question, text, check in (
                ("d", "tell the agent:", "use the sandbox", lambda r: r["outcome"] == "deferred"),
                ("e", "escalate to", "group:finance", lambda r: r["escalation"]["to"] == "group:finance"),
                ("x", "whole run, because:", "stop it", lambda r: r["outcome"] == "aborted")):
            with self.subTest(key=key):
                self.renew()
                request = self.ask("Pay five")
                self.open()
                self.press(key)
                self.see(question)
                self.type(text)
                self.see(text)
                time.sleep(CALM)
                self.press("Enter")
                until(lambda: check(request), "the decision")
                self.tmux("kill-server")

    def test_somebody_elses_decision_is_told(self):
        request = self.ask("Pay five")
        self.open()
        self.fake.decide(request["id"], decision="reject", reason="mine")
        self.see("rejected by bob")
        self.see("Nothing needs you.")

    def test_a_conflict_names_who_was_first(self):
        request = self.ask("Pay five")
        self.open()
        with self.fake.state.lock:
            # Decided behind the stream's back, as in the moment before its event arrives.
            streams, self.fake.state.streams[:] = list(self.fake.state.streams), []
            self.fake.decide(request["id"], decision="reject", reason="mine")
            self.fake.state.streams[:] = streams
        self.press("a")
        self.see("already settled: rejected by bob")

    def test_new_requests_appear_and_do_not_move_the_selection(self):
        self.ask("Pay low")
        self.open()
        self.see("Pay low")
        self.ask("Drop it", "critical")
        self.see("2 waiting")
        rows = self.tmux("capture-pane", "-p", "-e").stdout.splitlines()
        inverted = [row for row in rows[1:] if re.search(r"\x1b\[(\d+;)*7m", row)]
        self.assertEqual(len(inverted), 1, "one row is selected")
        self.assertIn("Pay low", inverted[0])

    def test_a_lost_connection_is_shown_and_nothing_is_decided_meanwhile(self):
        request = self.ask("Pay five")
        self.open()
        port = self.fake.port
        self.fake.stop()
        self.see("connection lost")
        self.press("a")
        self.see("not connected")
        self.fake.start(port)
        self.see("● live", 20)
        time.sleep(SAME_KEY)
        self.press("a")
        until(lambda: request["outcome"] == "approved", "the decision")

    def test_the_filter_narrows_the_list(self):
        self.ask("Pay five")
        self.ask("Mail bob")
        self.open()
        self.press("/")
        self.see("filter:")
        self.type("mail")
        time.sleep(CALM)
        self.press("Enter")
        self.see("1 match")
        self.assertNotIn("Pay five", self.screen())
        self.press("Escape")
        self.see("Pay five")

    def test_hostile_text_stays_text(self):
        self.ask("\x1b[2J\x1b]0;owned\x07Pay ‮evil", action={"tool": "pay", "arguments": {"x": "\x1b[31m‮"},
                                                                  "description": "a\rb\x9bc"})
        self.open()
        self.see("<U+001B>[2J")
        self.see("<U+202E>evil")
        self.see("\\u202e")

    def test_resizing_redraws_and_too_small_says_so(self):
        self.ask("Pay five")
        self.open(120, 40)
        self.see("sha256:")
        self.tmux("resize-window", "-x", "80", "-y", "24")
        self.see("Pay five")
        self.tmux("resize-window", "-x", "30", "-y", "8")
        self.see("too small")
        self.tmux("resize-window", "-x", "20", "-y", "6")
        self.see("too small: make the\nwindow larger")
        self.tmux("resize-window", "-x", "80", "-y", "24")
        self.see("Pay five")

    def test_quitting_gives_the_terminal_back(self):
        self.open()
        self.press("q")
        self.see("ended with 0")
        self.type("echo typed-visibly")
        self.see("echo typed-visibly")

    def test_signals_and_crashes_give_the_terminal_back(self):
        for signal, code in (("TERM", 130), ("HUP", 130), ("SEGV", 139), ("ABRT", 134)):
            with self.subTest(signal=signal):
                self.open()
                os.kill(self.program_pid(), getattr(signals, "SIG" + signal))
                self.see(f"ended with {code}")
                self.type("echo typed-visibly")
                self.see("echo typed-visibly")
                self.tmux("kill-server")

    def test_an_auditor_can_read_but_not_decide(self):
        request = self.ask("Pay five")
        self.open(role="auditor")
        self.see("read only")
        self.press("a")
        self.see("may read, not decide")
        self.assertEqual(request["state"], "pending")

    def test_a_wrong_key_is_told_on_a_plain_line(self):
        self.open(HOLDPOINT_TOKEN="hp_agent_wrong", wait="ended with 1")
        self.assertIn("no valid credential", self.screen())


if __name__ == "__main__":
    unittest.main()

"""What is asked at a terminal: confirmations, passwords, the editor. Security category 249."""

import json
import os
import pty
import select
import signal
import time
import unittest
from pathlib import Path

from world import PROGRAM, World


class Terminal:
    """A program on a pseudo-terminal of its own."""

    def __init__(self, args, env, stderr=None):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            if stderr:
                os.dup2(os.open(stderr, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 2)
            os.execve(PROGRAM, [PROGRAM, *args], env)
        self.seen = ""
        self.code = None

    def read(self, seconds):
        if select.select([self.fd], [], [], seconds)[0]:
            try:
                data = os.read(self.fd, 65536)
            except OSError:  # the other end is closed
                data = b""
            self.seen += data.decode(errors="replace")
            return bool(data)
        return None

    def expect(self, text, seconds=10):
        deadline = time.monotonic() + seconds
        while text not in self.seen:
            if time.monotonic() > deadline or self.read(0.1) is False:
                raise AssertionError(f"never saw {text!r} in {self.seen!r}")

    def write(self, text):
        os.write(self.fd, text.encode())

    def end(self, seconds=10):
        if self.code is not None:
            return self.code
        deadline = time.monotonic() + seconds
        while self.read(0.1) is not False:
            if time.monotonic() > deadline:
                os.kill(self.pid, signal.SIGKILL)
                break
        self.code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.close(self.fd)
        return self.code


class Prompts(World):
    def terminal(self, *args, role="approver", stderr=None, **env):
        terminal = Terminal([str(a) for a in args], self.environment(role, NO_COLOR="1", **env), stderr)
        self.addCleanup(terminal.end)
        return terminal

    def test_high_risk_is_asked_about(self):
        ident = self.propose("--risk", "high")
        terminal = self.terminal("approve", ident)
        terminal.expect("[y/N]")
        terminal.write("n\n")
        self.assertEqual(terminal.end(), 1)
        self.assertEqual(self.show(ident)["state"], "pending")
        terminal = self.terminal("approve", ident)
        terminal.expect("[y/N]")
        terminal.write("y\n")
        self.assertEqual(terminal.end(), 0)
        self.assertEqual(self.show(ident)["outcome"], "approved")

    def test_errors_that_go_into_a_file_do_not_keep_the_question_from_being_asked(self):
        errors = Path(self.home.name) / "error.json"
        ident = self.propose("--risk", "high")
        terminal = self.terminal("approve", ident, "--json", stderr=errors)
        terminal.expect("[y/N]")
        self.assertIn("process_refund", terminal.seen, "what is released stands above the question")
        terminal.write("n\n")
        self.assertEqual(terminal.end(), 1)
        self.assertEqual(self.show(ident)["state"], "pending")
        self.assertEqual(json.loads(errors.read_text())["error"]["code"], "refused", "nothing but the error is in it")
        terminal = self.terminal("approve", ident, stderr=errors)
        terminal.expect("[y/N]")
        terminal.write("y\n")
        self.assertEqual(terminal.end(), 0)
        self.assertEqual(self.show(ident)["outcome"], "approved")

    def test_a_word_for_what_is_critical_is_asked_for_beside_an_error_file_too(self):
        ident = self.propose("--risk", "critical", tool="drop_table")
        terminal = self.terminal("approve", ident, stderr=Path(self.home.name) / "error.json")
        terminal.expect("type drop_table")
        terminal.write("drop_table\n")
        self.assertEqual(terminal.end(), 0)

    def test_what_was_typed_before_the_question_does_not_answer_it(self):
        ident = self.propose("--risk", "high")
        terminal = self.terminal("approve", ident)
        terminal.write("y\ny\n")
        terminal.expect("[y/N]")
        time.sleep(0.3)
        terminal.write("n\n")
        self.assertEqual(terminal.end(), 1)
        self.assertEqual(self.show(ident)["state"], "pending")

    def test_the_end_of_input_is_no(self):
        ident = self.propose("--risk", "high")
        terminal = self.terminal("approve", ident)
        terminal.expect("[y/N]")
        terminal.write("\x04")
        self.assertEqual(terminal.end(), 1)
        self.assertEqual(self.show(ident)["state"], "pending")

    def test_a_hang_up_during_the_question_decides_nothing(self):
        ident = self.propose("--risk", "high")
        terminal = self.terminal("approve", ident)
        terminal.expect("[y/N]")
        os.kill(terminal.pid, signal.SIGHUP)
        self.assertEqual(terminal.end(), -signal.SIGHUP)
        self.assertEqual(self.show(ident)["state"], "pending")

    def test_yes_is_enough_for_high_and_not_for_critical(self):
        ident = self.propose("--risk", "high")
        self.assertEqual(self.terminal("approve", ident, "--yes").end(), 0)
        ident = self.propose("--risk", "critical", tool="drop_table")
        terminal = self.terminal("approve", ident, "--yes")
        terminal.expect("type drop_table")
        terminal.write("yes\n")
        self.assertEqual(terminal.end(), 1)
        terminal = self.terminal("approve", ident)
        terminal.expect("type drop_table")
        terminal.write("drop_table\n")
        self.assertEqual(terminal.end(), 0)
        self.assertEqual(self.show(ident)["outcome"], "approved")

    def edit(self, ident, script):
        editor = Path(self.home.name) / "editor"
        editor.write_text("#!/bin/sh\n" + script + "\n")
        editor.chmod(0o755)
        return self.terminal("modify", ident, VISUAL=f"{editor} --flag", TMPDIR=self.home.name)

    def test_the_editor_opens_and_the_difference_is_confirmed(self):
        ident = self.propose("--args", '{"amount": 500, "to": "bob"}', "--risk", "low")
        # The file is the last word, after the editor's own flags.
        terminal = self.edit(ident, 'test "$1" = --flag && sed -i s/500/50/ "$2"')
        terminal.expect("with these changes? [y/N]")
        self.assertIn('-   "amount": 500', terminal.seen)
        self.assertIn('+   "amount": 50', terminal.seen)
        terminal.write("y\n")
        self.assertEqual(terminal.end(), 0)
        self.assertEqual(self.show(ident)["action"]["arguments"], {"amount": 50, "to": "bob"})
        self.assertEqual([p.name for p in Path(self.home.name).glob("holdpoint-*")], [], "no file is left behind")

    def test_a_change_that_is_not_json_and_an_editor_that_fails_send_nothing(self):
        ident = self.propose("--args", '{"amount": 500}')
        terminal = self.edit(ident, 'echo "{" > "$2"')
        self.assertEqual(terminal.end(), 2)
        terminal = self.edit(ident, "exit 3")
        self.assertEqual(terminal.end(), 1)
        self.assertIn("nothing was sent", terminal.seen)
        self.assertEqual(self.show(ident)["state"], "pending")

    def test_the_temporary_file_is_for_its_owner_alone(self):
        ident = self.propose("--args", '{"secret": 1}')
        terminal = self.edit(ident, 'stat -c mode=%a "$2" >&2')
        terminal.end()
        self.assertIn("mode=600", terminal.seen)

    def test_a_password_is_asked_for_twice_and_never_shown(self):
        name = f"eve-{os.getpid()}"
        terminal = self.terminal("user", "add", name, "--role", "approver", role="admin")
        terminal.expect("New password: ")
        time.sleep(0.2)
        terminal.write("correct horse battery\n")
        terminal.expect("Once more: ")
        time.sleep(0.2)
        terminal.write("correct horse battery\n")
        self.assertEqual(terminal.end(), 0, terminal.seen)
        self.assertNotIn("horse", terminal.seen)

    def test_two_different_passwords_are_refused(self):
        terminal = self.terminal("user", "add", "mallory", "--role", "approver", role="admin")
        terminal.expect("New password: ")
        time.sleep(0.2)
        terminal.write("one long password\n")
        terminal.expect("Once more: ")
        time.sleep(0.2)
        terminal.write("another password\n")
        self.assertEqual(terminal.end(), 1)
        self.assertIn("differ", terminal.seen)

    def test_a_table_on_a_terminal_shows_short_ids(self):
        ident = self.propose("--session", "short")
        terminal = self.terminal("list", "--session", "short")
        self.assertEqual(terminal.end(), 0)
        self.assertIn(ident[-8:], terminal.seen)
        self.assertNotIn(ident, terminal.seen)


if __name__ == "__main__":
    unittest.main()

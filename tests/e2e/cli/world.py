"""Where the command line is tested: the program, a server, and keys for both sides.

By default the server is the fake one. With HOLDPOINT_URL and HOLDPOINT_ADMIN_TOKEN_FILE the tests of
`test_commands.py` run against that server instead; those that need a server that misbehaves are skipped.
"""

import json
import os
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from fake_server import FakeServer

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = os.environ.get("HOLDPOINT_BIN", str(ROOT / "build" / "holdpoint"))
REAL_URL = os.environ.get("HOLDPOINT_URL")
REAL_ADMIN_FILE = os.environ.get("HOLDPOINT_ADMIN_TOKEN_FILE")
IS_REAL = bool(REAL_URL and REAL_ADMIN_FILE)


def until(condition, what, seconds=10):
    """Waits for a condition with a deadline; its value is returned."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"timed out waiting for {what}")
        time.sleep(0.02)


class World(unittest.TestCase):
    """One server and one empty home per test class."""

    needs_fake = False

    @classmethod
    def setUpClass(cls):
        if cls.needs_fake and IS_REAL:
            raise unittest.SkipTest("needs a server that can misbehave")
        cls.home = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.home.cleanup)
        cls.fake = None
        if IS_REAL:
            cls.url = REAL_URL
            admin = Path(REAL_ADMIN_FILE).read_text().strip()
            cls.keys = {"admin": admin}
            for role, name in (("agent", "cli-bot"), ("approver", "cli-ann"), ("auditor", "cli-aud")):
                made = cls.command("key", "create", "--role", role, "--name", name, "--json", role="admin")
                cls.keys[role] = json.loads(made.stdout)["key"]
            # In `finance`, so that there is somebody to escalate to.
            made = cls.command("key", "create", "--role", "approver", "--name", "cli-bob", "--group", "finance",
                               "--json", role="admin")
            cls.keys["bob"] = json.loads(made.stdout)["key"]
        else:
            cls.fake = FakeServer()
            cls.addClassCleanup(cls.fake.stop)
            cls.url = cls.fake.url
            cls.keys = {"admin": "hp_admin_test", "agent": "hp_agent_test", "approver": "hp_approver_test",
                        "auditor": "hp_auditor_test", "bob": "hp_approver_bob"}

    @classmethod
    def environment(cls, role, **more):
        env = {"PATH": os.environ["PATH"], "HOME": cls.home.name, "HOLDPOINT_URL": cls.url,
               "LANG": "C.UTF-8", "TERM": "xterm-256color"}
        if role:
            env["HOLDPOINT_TOKEN"] = cls.keys[role]
        env.update({key: str(value) for key, value in more.items() if value is not None})
        return env

    @classmethod
    def command(cls, *args, role="approver", stdin="", env=None, timeout=30):
        return subprocess.run([PROGRAM, *map(str, args)], input=stdin, env=cls.environment(role, **(env or {})),
                              capture_output=True, text=True, timeout=timeout)

    @classmethod
    def start(cls, *args, role="agent"):
        process = subprocess.Popen([PROGRAM, *map(str, args)], env=cls.environment(role), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        cls.addClassCleanup(cls.end, process)
        return process

    @staticmethod
    def end(process):
        process.kill()
        process.communicate()

    def propose(self, *args, tool="process_refund"):
        """A pending request; returns its id."""
        made = self.command("request", "--no-wait", "--tool", tool, *args, role="agent")
        self.assertEqual(made.returncode, 0, made.stderr)
        return made.stdout.strip()

    def show(self, ident):
        return json.loads(self.command("show", ident, "--json").stdout)

    def assertExit(self, done, code):
        self.assertEqual(done.returncode, code, f"stdout: {done.stdout}\nstderr: {done.stderr}")

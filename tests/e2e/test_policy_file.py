"""A policy file and the server that runs by it: read at the start, read again on SIGHUP, and never half."""
import os
import pathlib
import signal
import tempfile
import unittest

from harness import Server, eventually

HELD = """holdpoint: 1
policy: pages
defaults: {decision: require}
tools: {read_page: {risk: low}, publish: {risk: low}}
rules:
  - {id: reading, tools: [read_page], then: allow, auto_risk: medium}
"""
OPEN = HELD + "  - {id: publishing, tools: [publish], then: allow, auto_risk: medium}\n"
PAGE = {"page": "home"}
# The seventh line says what no policy can do.
BROKEN = HELD + "  - {id: publishing, tools: [publish], then: perhaps}\n"


class PolicyFileTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "policy.yaml"

    def server(self, text):
        self.path.write_text(text)
        server = Server("--policy", str(self.path))
        self.addCleanup(server.close)
        return server

    def hang_up(self, server, text, line):
        """Writes the file, sends SIGHUP, and waits for what the log says of it."""
        self.path.write_text(text)
        server.process.send_signal(signal.SIGHUP)
        return eventually(lambda: next((said for said in server.log(1000).splitlines() if line in said), None),
                          f"the log says `{line}`")

    def test_SIGHUP_puts_a_changed_file_in_force(self):
        server = self.server(HELD).start()
        agent, before = server.actor("agent", "bot"), server.admin.get("/v1/policy")["version"]
        waiting = agent.propose("publish", PAGE)
        self.assertEqual(waiting["state"], "pending")
        self.hang_up(server, OPEN, "is in force")
        self.assertNotEqual(server.admin.get("/v1/policy")["version"], before)
        passed = agent.propose("publish", PAGE)
        self.assertEqual((passed["outcome"], passed["verdict"]["rule"]), ("allowed", "publishing"))
        self.assertEqual(agent.read(waiting)["state"], "pending", "what waits was judged by the policy of its time")

    def test_X6_a_broken_file_on_SIGHUP_changes_nothing_and_the_log_says_where_it_is_broken(self):
        server = self.server(HELD).start()
        agent, before = server.actor("agent", "bot"), server.admin.get("/v1/policy")["version"]
        said = self.hang_up(server, BROKEN, "the old policy stays in force")
        self.assertIn(str(self.path), said)
        self.assertRegex(said, r"line 7, column \d+")
        self.assertIn("perhaps", said)
        self.assertEqual(server.admin.get("/v1/policy")["version"], before)
        self.assertEqual(agent.propose("publish", PAGE)["state"], "pending")
        self.assertEqual(agent.propose("read_page", PAGE)["outcome"], "allowed")
        self.assertIn("holdpoint_policy_reload_failed 1", server.client().get("/metrics").body.decode())
        # Mended, it is taken.
        self.hang_up(server, OPEN, "is in force")
        self.assertEqual(agent.propose("publish", PAGE)["outcome"], "allowed")
        self.assertIn("holdpoint_policy_reload_failed 0", server.client().get("/metrics").body.decode())

    def test_X6_a_file_that_is_gone_on_SIGHUP_changes_nothing(self):
        server = self.server(HELD).start()
        self.path.unlink()
        server.process.send_signal(signal.SIGHUP)
        eventually(lambda: "the old policy stays in force" in server.log(1000), "the log says so")
        agent = server.actor("agent", "bot")
        self.assertEqual(agent.propose("publish", PAGE)["state"], "pending")
        self.assertEqual(agent.propose("read_page", PAGE)["outcome"], "allowed")

    def test_X6_a_pipe_in_the_place_of_the_file_is_refused_and_holds_nothing_up(self):
        server = self.server(HELD).start()
        self.path.unlink()
        os.mkfifo(self.path)
        for times in (1, 2):
            server.process.send_signal(signal.SIGHUP)
            eventually(lambda: server.log(1000).count("not a regular file") >= times, "the log says so each time")
        self.path.unlink()
        self.hang_up(server, OPEN, "is in force")
        self.assertEqual(server.actor("agent", "bot").propose("publish", PAGE)["outcome"], "allowed")
        server.stop()

    def test_X6_a_server_does_not_start_with_a_folder_or_a_pipe(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        server = Server("--policy", folder.name)
        self.addCleanup(server.close)
        self.assertNotEqual(server.spawn().process.wait(20), 0)
        os.mkfifo(self.path)
        server = Server("--policy", str(self.path))
        self.addCleanup(server.close)
        self.assertNotEqual(server.spawn().process.wait(20), 0)
        self.assertIn("not a regular file", server.log())

    def test_X6_a_server_does_not_start_with_a_broken_file_and_says_where_it_is_broken(self):
        server = self.server(BROKEN).spawn()
        self.assertNotEqual(server.process.wait(20), 0)
        self.assertRegex(server.log(), r"line 7, column \d+")
        self.assertIn(str(self.path), server.log())
        self.assertFalse(server.is_ready())


if __name__ == "__main__":
    unittest.main()

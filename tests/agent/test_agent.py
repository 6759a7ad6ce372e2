"""The agent command against a running server: decisions, a kill in the middle, tools, the demo."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
from harness import ServerTest, binary, eventually  # noqa: E402


class AgentTest(ServerTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.work = self.folder / "work"
        self.work.mkdir()
        self.key = self.server.new_key("agent", self.fresh("agent"))["key"]
        self.person = self.server.actor("approver", self.fresh("person"))

    def start(self, script, *flags, task="Do it"):
        """Starts an agent that plays `script`."""
        path = self.folder / "script.json"
        path.write_text(json.dumps(script))
        environment = dict(os.environ, HOLDPOINT_URL=self.server.url, HOLDPOINT_TOKEN=self.key,
                           XDG_STATE_HOME=str(self.folder / "state"))
        process = subprocess.Popen([binary(), "agent", "--json", "--script", str(path), "--tools", "bash,file,http",
                                    "--folder", str(self.work), *flags, task],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env=environment)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        return process

    def pending(self, session):
        return self.person.get("/v1/requests", query={"session": session, "state": "pending"}).json["requests"]

    def wait_pending(self, session):
        return eventually(lambda: self.pending(session), "a request of the agent")[0]

    def result(self, process):
        out, err = process.communicate(timeout=60)
        self.assertTrue(out, err)
        return json.loads(out.splitlines()[-1]), process.returncode


class Running(AgentTest):
    def test_A7_the_approved_call_runs_and_the_rejected_does_not(self):
        session = self.fresh("s")
        process = self.start([{"call": [{"tool": "write_file", "arguments": {"path": "a.txt", "content": "one"}}]},
                              {"call": [{"tool": "bash", "arguments": {"command": "echo two > b.txt"}}]},
                              {"when": "not on my machine", "say": "I wrote one file."}], "--session", session)
        self.person.decide(self.wait_pending(session))
        second = eventually(lambda: [r for r in self.pending(session) if r["action"]["tool"] == "bash"], "the second call")[0]
        self.person.decide(second, "reject", reason="not on my machine")
        result, code = self.result(process)
        self.assertEqual(code, 0)
        self.assertEqual(result["output"], "I wrote one file.")
        self.assertEqual([step["ran"] for step in result["steps"]], [True, False])
        self.assertEqual((self.work / "a.txt").read_text(), "one")
        self.assertFalse((self.work / "b.txt").exists())
        self.assertEqual(self.person.read(second)["outcome"], "rejected")

    def test_D3_what_a_person_changed_runs_as_changed(self):
        session = self.fresh("s")
        process = self.start([{"call": [{"tool": "bash", "arguments": {"command": "echo many > a.txt"}}]},
                              {"say": "done"}], "--session", session)
        self.person.decide(self.wait_pending(session), "modify", arguments={"command": "echo few > a.txt"})
        self.assertEqual(self.result(process)[1], 0)
        self.assertEqual((self.work / "a.txt").read_text(), "few\n")

    def test_S1_an_agent_killed_while_it_waits_goes_on_with_the_same_request_and_runs_it_once(self):
        session = self.fresh("s")
        script = [{"call": [{"tool": "bash", "arguments": {"command": "echo ran >> log.txt"}}]}, {"say": "done"}]
        process = self.start(script, "--session", session)
        request = self.wait_pending(session)
        process.send_signal(signal.SIGKILL)
        process.wait()
        # Decided while nobody listens.
        self.person.decide(request)
        for _ in range(2):
            result, code = self.result(self.start(script, "--session", session))
            self.assertEqual((code, result["output"]), (0, "done"))
            self.assertEqual(result["steps"][0]["request"], request["id"])
        self.assertEqual((self.work / "log.txt").read_text(), "ran\n")
        self.assertEqual(len(self.person.list(session=session)), 1)

    def test_S1_two_processes_do_not_work_in_one_session(self):
        session = self.fresh("s")
        script = [{"call": [{"tool": "bash", "arguments": {"command": "true"}}]}, {"say": "done"}]
        first = self.start(script, "--session", session)
        self.wait_pending(session)
        second = self.start(script, "--session", session)
        self.assertIn("another process", second.communicate(timeout=30)[1])
        self.assertNotEqual(second.returncode, 0)
        self.person.decide(self.wait_pending(session))
        self.assertEqual(self.result(first)[1], 0)

    def test_D6_an_abort_ends_the_run_with_a_code_of_its_own(self):
        session = self.fresh("s")
        process = self.start([{"call": [{"tool": "bash", "arguments": {"command": "touch a"}}]},
                              {"call": [{"tool": "bash", "arguments": {"command": "touch b"}}]}], "--session", session)
        self.person.decide(self.wait_pending(session), "abort", reason="stop")
        result, code = self.result(process)
        self.assertEqual((code, result["aborted"]), (3, True))
        self.assertEqual(list(self.work.iterdir()), [])

    def test_X6_without_a_server_nothing_runs(self):
        path = self.folder / "script.json"
        path.write_text(json.dumps([{"call": [{"tool": "bash", "arguments": {"command": "touch a"}}]}, {"say": "done"}]))
        done = subprocess.run([binary(), "agent", "--json", "--script", str(path), "--tools", "bash", "--folder", str(self.work),
                               "--patience", "0.2", "Do it"], capture_output=True, text=True, timeout=60,
                              env=dict(os.environ, HOLDPOINT_URL="http://127.0.0.1:9", HOLDPOINT_TOKEN="k"))
        self.assertEqual(json.loads(done.stdout)["steps"][0]["why"], "unavailable", done.stderr)
        self.assertEqual(list(self.work.iterdir()), [])

    def test_A7_files_stay_in_their_folder(self):
        outside = self.folder / "outside.txt"
        outside.write_text("secret")
        (self.work / "link").symlink_to(outside)
        session = self.fresh("s")
        calls = [{"tool": "read_file", "arguments": {"path": path}} for path in ("../outside.txt", str(outside), "link")]
        process = self.start([{"call": calls}, {"say": "done"}], "--session", session)
        for request in eventually(lambda: len(self.pending(session)) == 3 and self.pending(session), "three requests"):
            self.person.decide(request)
        result, _ = self.result(process)
        self.assertEqual([("error" in step["output"]) for step in result["steps"]], [True] * 3)
        self.assertNotIn("secret", json.dumps(result))


class Demo(AgentTest):
    def test_A7_the_demo_reacts_to_what_people_decide(self):
        environment = dict(os.environ, HOLDPOINT_URL=self.server.url, HOLDPOINT_TOKEN=self.key)
        process = subprocess.Popen([binary(), "agent", "--demo", "--every", "0", "--scenes", "6", "--site",
                                    str(self.folder / "site.db")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env=environment)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        name = self.person.get("/v1/whoami").json
        self.assertTrue(name)
        while process.poll() is None:
            waiting = self.person.get("/v1/requests", query={"state": "pending"}).json["requests"]
            for request in waiting:
                if request["kind"] == "input":
                    options = request["input"].get("options")
                    self.person.decide(request, "answer", answer=options[0] if options else "Party!")
                elif request.get("action", {}).get("tool") == "process_refund":
                    self.person.decide(request, "reject", reason="the goods did not come back")
                else:
                    self.person.decide(request)
        out, err = process.communicate(timeout=10)
        self.assertEqual(process.returncode, 0, err)
        for line in ("The spring sale is on the site now.", "The refund was rejected", "The old posts are put away.",
                     "The summer party is announced.", "The about page is gone.", "I am through with the clean-up."):
            self.assertIn(line, out)


if __name__ == "__main__":
    unittest.main()

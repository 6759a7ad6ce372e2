"""The agent command against a running server: decisions, a kill in the middle, tools, the demo."""
import contextlib
import http.server
import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
from harness import ROOT, ServerTest, binary, eventually  # noqa: E402


class AgentTest(ServerTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.work = self.folder / "work"
        self.work.mkdir()
        self.name = self.fresh("agent")
        self.key = self.server.new_key("agent", self.name)["key"]
        self.person = self.server.actor("approver", self.fresh("person"))

    def start(self, script, *flags):
        """Starts an agent that plays `script`."""
        path = self.folder / "script.json"
        path.write_text(json.dumps(script))
        return self.launch("--json", "--script", str(path), "--tools", "bash,file,http", "--folder", str(self.work), *flags,
                           "Do it")

    def launch(self, *arguments, key=None):
        environment = dict(os.environ, HOLDPOINT_URL=self.server.url, HOLDPOINT_TOKEN=key or self.key,
                           XDG_STATE_HOME=str(self.folder / "state"), OPENAI_API_KEY="sk-test")
        process = subprocess.Popen([binary(), "agent", *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, env=environment)
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

    def repository(self):
        """The agent's folder as a repository, told apart from whatever the machine has configured."""
        environment = dict(os.environ, GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_SYSTEM="/dev/null", HOME=str(self.folder))

        def git(*arguments):
            return subprocess.run(["git", "-C", str(self.work), *arguments], env=environment, text=True, capture_output=True,
                                  check=True).stdout.strip()
        git("init", "-q", "-b", "main")
        git("config", "user.name", "Agent")
        git("config", "user.email", "agent@example.test")
        return git

    def test_W4_with_git_the_history_tells_what_was_decided_and_done(self):
        session, git = self.fresh("s"), self.repository()
        call = {"tool": "write_file", "arguments": {"path": "a.txt", "content": "one"}}
        process = self.start([{"call": [call]},
                              {"call": [{"tool": "write_file", "arguments": {"path": "b.txt", "content": "two"}}]},
                              {"call": [{"tool": "write_file", "arguments": {"path": "c.txt", "content": "three"}}]},
                              {"say": "done"}], "--session", session, "--git", str(self.work))
        approved = self.wait_pending(session)
        self.person.decide(approved)
        for path, *decision in (("b.txt", "reject"), ("c.txt", "modify")):
            request = eventually(lambda: [r for r in self.pending(session)  # noqa: B023
                                          if r["action"]["arguments"]["path"] == path], path)[0]  # noqa: B023
            more = {"reason": "not b"} if decision == ["reject"] else {"arguments": {"path": "c.txt", "content": "3"}}
            self.person.decide(request, *decision, **more)
        self.assertEqual(self.result(process)[1], 0)
        subjects = [line.split(" (")[0] for line in git("log", "--reverse", "--format=%s").splitlines()]
        self.assertEqual(subjects, ["[Approval] Approved: write_file", "[Write] Created a.txt", "[Approval] Rejected: write_file",
                                    "[Approval] Modified: write_file", "[Write] Created c.txt"])
        self.assertEqual(git("show", "HEAD:c.txt"), "3")
        trailers = git("log", "--reverse", "--format=%(trailers:only,unfold)")
        self.assertIn(f"Holdpoint-Request: {approved['id']}\nHoldpoint-Digest: {approved['digest']}\nApproved-By: ", trailers)
        self.assertIn("Rejected-By: ", trailers)

    def test_W4_a_repository_that_is_not_there_is_reported_and_holds_nothing_up(self):
        session = self.fresh("s")
        process = self.start([{"call": [{"tool": "write_file", "arguments": {"path": "a.txt", "content": "one"}}]},
                              {"say": "done"}], "--session", session, "--git", str(self.folder / "nowhere"))
        self.person.decide(self.wait_pending(session))
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, err)
        # The output is for data: what is reported stands beside it.
        self.assertEqual(json.loads(out)["output"], "done")
        self.assertEqual((self.work / "a.txt").read_text(), "one")
        self.assertIn("cannot be opened", err)

    def test_S1_an_agent_killed_while_it_waits_goes_on_with_the_same_request_and_runs_it_once(self):
        session = self.fresh("s")
        script = [{"call": [{"tool": "bash", "arguments": {"command": "echo ran >> log.txt"}}]}, {"say": "done"}]
        process = self.start(script, "--session", session)
        request = self.wait_pending(session)
        process.send_signal(signal.SIGKILL)
        process.wait()
        # Decided while nobody listens.
        self.person.decide(request)
        for is_replayed in (False, True):
            result, code = self.result(self.start(script, "--session", session))
            self.assertEqual((code, result["output"]), (0, "done"))
            self.assertEqual((result["steps"][0]["ran"], result["steps"][0]["replayed"]), (True, is_replayed))
            self.assertEqual(result["steps"][0]["request"], request["id"])
        self.assertEqual((self.work / "log.txt").read_text(), "ran\n")
        self.assertEqual(len(self.person.list(session=session)), 1)

    def test_S1_Q11_a_question_survives_a_kill_and_an_interrupt(self):
        for how in (signal.SIGKILL, signal.SIGINT):
            with self.subTest(how=how):
                session = self.fresh("s")
                script = [{"call": [{"tool": "request_human_input", "arguments": {"question": "Which colour?"}}]},
                          {"say": "{{heard}}"}]
                process = self.start(script, "--session", session)
                self.person.decide(self.wait_pending(session))  # that it may ask at all
                question = eventually(lambda: [r for r in self.pending(session) if r["kind"] == "input"], "the question")[0]
                process.send_signal(how)
                process.communicate(timeout=30)
                self.person.decide(question, "answer", answer="blue")
                result, code = self.result(self.start(script, "--session", session))
                self.assertEqual((code, result["output"]), (0, '{"answer":"blue"}'))
                questions = [r for r in self.person.list(session=session) if r["kind"] == "input"]
                self.assertEqual([r["id"] for r in questions], [question["id"]])

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


class Endpoint(http.server.BaseHTTPRequestHandler):
    """A model behind an OpenAI-compatible endpoint: calls a tool, then says what it heard."""

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, self.headers["Authorization"], asked))
        last = asked["messages"][-1]
        if last["role"] == "tool":
            delta = {"content": "It said: " + last["content"]}
        else:
            call = {"name": "bash", "arguments": json.dumps({"command": "echo hello > a.txt; echo written"})}
            delta = {"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": call}]}
        usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
        if asked.get("stream"):
            chunks = [{"choices": [{"index": 0, "delta": delta}]}, {"choices": [], "usage": usage}]
            body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
        else:
            body = json.dumps({"choices": [{"index": 0, "message": {"role": "assistant", **delta}}], "usage": usage})
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_):
        pass


class RealModel(AgentTest):
    def setUp(self):
        super().setUp()
        self.model = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
        self.model.asked = []
        thread = threading.Thread(target=self.model.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(self.model.server_close)
        self.addCleanup(self.model.shutdown)

    def test_A7_an_openai_compatible_model_works_through_the_same_gate(self):
        for flags in ([], ["--no-stream"]):
            with self.subTest(flags=flags):
                session = self.fresh("s")
                process = self.launch("--json", "--model-url", f"http://127.0.0.1:{self.model.server_port}/v1", "--model", "m",
                                      "--tools", "bash", "--folder", str(self.work), "--session", session, *flags, "Write a file")
                waiting = self.wait_pending(session)
                self.assertEqual(waiting["context"]["user_prompt"], "Write a file")
                self.assertEqual(list(self.work.iterdir()), [])
                self.person.decide(waiting)
                result, code = self.result(process)
                self.assertEqual(code, 0)
                self.assertIn("written", result["output"])
                self.assertEqual(result["tokens"], 240)
                path, key, first = self.model.asked[0]
                self.assertEqual((path, key, first["model"]), ("/v1/chat/completions", "Bearer sk-test", "m"))
                self.assertIn("bash", [tool["function"]["name"] for tool in first["tools"]])
                (self.work / "a.txt").unlink()


class Demo(AgentTest):
    """The demo with its own policy: every kind of question, and a reaction to every kind of decision."""
    flags = ("--policy", str(ROOT / "examples" / "site.yaml"))

    def play(self, decide, conversations=7):
        """Plays a round; `decide` answers each request. Returns what the demo said."""
        process = self.launch("--demo", "--every", "0", "--scenes", str(conversations), "--site", str(self.folder / "site.db"))
        decided = set()
        while process.poll() is None:
            for request in self.waiting():
                if request["id"] not in decided:
                    decided.add(request["id"])
                    decide(request)
            time.sleep(0.01)
        out, err = process.communicate(timeout=10)
        self.assertEqual(process.returncode, 0, err)
        return out

    def waiting(self):
        return self.person.list(state="pending", agent=self.name)

    def answer(self, request):
        options = request["input"].get("options")
        self.person.decide(request, "answer", answer=options[-1] if options else "Party!")

    def site(self, sql):
        with contextlib.closing(sqlite3.connect(self.folder / "site.db")) as site:
            return site.execute(sql).fetchall()

    def test_A3_Q9_Q11_Q12_what_is_approved_is_done_on_the_site(self):
        kinds = set()

        def decide(request):
            kinds.add(request["kind"])
            if request["kind"] == "input":
                return self.answer(request)
            self.person.decide(request)

        out = self.play(decide)
        self.assertEqual(kinds, {"action", "plan", "input", "confirmation", "response"})
        for line in ('"Spring sale" is on the site now.', "Order 1234 is settled.", "The old posts are put away.",
                     "The summer party is announced.", "The about page is gone.", "Dear Ms Winter",
                     "I am through with the clean-up."):
            self.assertIn(line, out)
        self.assertEqual(self.site("SELECT state FROM posts WHERE slug = 'spring-sale'"), [("published",)])
        self.assertEqual(self.site("SELECT title FROM posts WHERE slug = 'summer-party'"), [("Party!",)])
        self.assertEqual(self.site("SELECT refunded FROM orders WHERE id = '1234'"), [(50000,)])
        self.assertEqual(self.site("SELECT page FROM pages"), [("home",)])

    def test_A5_what_is_rejected_is_left_and_another_way_is_proposed(self):
        def decide(request):
            if request["kind"] == "input":
                return self.answer(request)
            self.person.decide(request, "reject", reason="the goods did not come back")

        out = self.play(decide)
        for line in ('Then "Spring sale" stays a draft.', "the goods did not come back", "I would pay back 500 cents",
                     "No money was moved", "I did what you allowed and left the rest.", "I left the about page where it is."):
            self.assertIn(line, out)
        self.assertEqual(self.site("SELECT count(*) FROM pages"), [(4,)])
        self.assertEqual(self.site("SELECT sum(refunded) FROM orders"), [(0,)])

    def test_D3_D4_D6_changes_detours_and_an_abort_are_understood(self):
        def decide(request):
            tool = (request.get("action") or {}).get("tool")
            if request["kind"] == "input":
                self.answer(request)
            elif tool == "cms_publishPost":
                self.person.decide(request, "defer", guidance="not before monday")
            elif tool == "process_refund":
                self.person.decide(request, "modify", arguments={"orderId": "1234", "amount": 40000})
            elif tool in ("cms_deleteImage", None):
                self.person.decide(request, "abort", reason="stop here")
            elif not request["batch"]:  # the others of the batch end with the abort
                self.person.decide(request)

        out = self.play(decide)
        for line in ("You want it done another way", '"Spring sale" is archived.', "Order 1234 is settled.", "a person stopped the run"):
            self.assertIn(line, out)
        self.assertEqual(self.site("SELECT refunded FROM orders WHERE id = '1234'"), [(40000,)])
        self.assertEqual(self.site("SELECT state FROM posts WHERE slug = 'spring-sale'"), [("archived",)])

    def test_A6_the_conversation_can_be_told_from_the_requests(self):
        def decide(request):
            if request["kind"] == "input":
                return self.answer(request)
            self.person.decide(request)

        self.play(decide, conversations=2)
        everything = self.person.list(agent=self.name, limit="100")
        sessions = {request["session"] for request in everything}
        published = [r for r in everything if (r.get("action") or {}).get("arguments") == {"slug": "spring-sale"}][0]
        self.assertIn("Spring sale", published["context"]["user_prompt"])
        self.assertIn("still a draft", published["context"]["current_reasoning"])
        last = [r for r in everything if r["session"] == published["session"] and r["kind"] == "response"][0]
        self.assertEqual(last["response"]["text"], '"Spring sale" is on the site now.')
        self.assertTrue(published["report"]["success"])
        self.assertGreaterEqual(len(sessions), 2)

    def test_a_demo_whose_key_may_not_propose_ends(self):
        for key, said in ((self.person.key, "only an agent's can propose"), ("hp_agent_" + "A" * 43, "credential")):
            process = self.launch("--demo", "--every", "0", "--site", str(self.folder / "site.db"), key=key)
            out, err = process.communicate(timeout=20)
            self.assertEqual((process.returncode, out), (1, ""), err)
            self.assertIn(said, err)

    def test_a_demo_whose_key_is_revoked_ends(self):
        made = self.server.new_key("agent", self.fresh("agent"))
        process = self.launch("--demo", "--every", "0", "--site", str(self.folder / "site.db"), key=made["key"])
        eventually(lambda: self.person.list(state="pending", agent=made["name"]), "something that waits")
        self.server.admin.post(f"/v1/keys/{made['id']}/revoke", {})
        self.assertEqual((process.wait(30), process.poll()), (1, 1))

    def test_S1_a_stopped_demo_ends_at_once_and_withdraws_what_it_asked(self):
        process = self.launch("--demo", "--every", "0", "--site", str(self.folder / "site.db"))
        eventually(lambda: len({request["session"] for request in self.waiting()}) == 3, "three conversations that wait")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=10)
        eventually(lambda: not self.waiting(), "nothing that waits")


if __name__ == "__main__":
    unittest.main()

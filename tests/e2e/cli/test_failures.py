"""What happens when the server is missing, slow, wrong or hostile."""

import json
import shutil
import signal
import socket
import ssl
import subprocess
import unittest
from pathlib import Path

from fake_server import large_and_deep
from world import PROGRAM, World, until


class Unreachable(World):
    def test_no_server_exits_5_with_the_address_and_what_to_try(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{free.getsockname()[1]}"
        for args in (["list"], ["request", "--tool", "x"], ["approve", "req_00000000000000000000000000"], ["watch"],
                     ["inbox", "--plain"], ["whoami"]):
            done = self.command(*args, env={"HOLDPOINT_URL": url}, role="agent")
            self.assertExit(done, 5)
            self.assertEqual(done.stdout, "")
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertIn(url, done.stderr)
            self.assertIn("holdpoint serve", done.stderr)

    def test_doctor_exits_1_when_the_server_is_missing(self):
        done = self.command("doctor", env={"HOLDPOINT_URL": "http://127.0.0.1:1"})
        self.assertExit(done, 1)
        self.assertIn("FAIL", done.stdout)

    def test_a_key_never_goes_unencrypted_to_another_machine(self):
        done = self.command("list", "--url", "http://holdpoint.example:7480")
        self.assertExit(done, 2)
        self.assertIn("unencrypted", done.stderr)

    def test_a_loopback_server_is_not_asked_through_a_proxy(self):
        done = self.command("whoami", env={"http_proxy": "http://127.0.0.1:1", "ALL_PROXY": "http://127.0.0.1:1"})
        self.assertExit(done, 0)


@unittest.skipUnless(shutil.which("openssl"), "needs openssl to make a certificate")
class Encrypted(World):
    needs_fake = True

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.certificate = Path(cls.home.name) / "cert.pem"
        key = Path(cls.home.name) / "key.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-keyout", key, "-out", cls.certificate, "-days", "2", "-subj", "/CN=localhost",
                        "-addext", "subjectAltName=DNS:localhost"], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cls.certificate, key)
        cls.fake.httpd.socket = context.wrap_socket(cls.fake.httpd.socket, server_side=True)
        cls.url = f"https://localhost:{cls.fake.port}"

    def test_an_unknown_certificate_is_refused(self):
        done = self.command("whoami")
        self.assertExit(done, 5)
        self.assertIn("--ca-file", done.stderr)

    def test_a_certificate_that_is_trusted_is_taken(self):
        self.assertExit(self.command("whoami", "--ca-file", self.certificate), 0)
        done = self.command("doctor", env={"HOLDPOINT_CA_FILE": self.certificate})
        self.assertExit(done, 0)
        self.assertIn("encrypted", done.stdout)

    def test_a_certificate_for_another_name_is_refused(self):
        done = self.command("whoami", "--ca-file", self.certificate, "--url", self.url.replace("localhost", "127.0.0.1"))
        self.assertExit(done, 5)


class Settings(World):
    def test_flags_win_over_the_environment_and_that_over_the_file(self):
        folder = Path(self.home.name) / ".config" / "holdpoint"
        folder.mkdir(parents=True, exist_ok=True)
        config = folder / "config.toml"
        self.addCleanup(config.unlink)
        token = folder / "token"
        token.write_text(self.keys["approver"] + "\n")
        config.write_text(f'url = "{self.url}"\ntoken_file = "{token}"\n')
        done = self.command("whoami", role=None, env={"HOLDPOINT_URL": ""})
        self.assertExit(done, 0)
        self.assertIn(str(token), done.stderr)
        done = self.command("list", role=None, env={"HOLDPOINT_URL": "http://127.0.0.1:1"})
        self.assertExit(done, 5)
        done = self.command("list", "--url", self.url, role=None, env={"HOLDPOINT_URL": "http://127.0.0.1:1"})
        self.assertExit(done, 0)

    def test_a_broken_config_file_is_named_with_its_line(self):
        config = Path(self.home.name) / "broken.toml"
        config.write_text("\nurl = nonsense\n")
        done = self.command("list", "--config", config)
        self.assertExit(done, 2)
        self.assertIn("broken.toml: line 2", done.stderr)

    def test_the_admin_key_is_pointed_at_but_not_used(self):
        data = Path(self.home.name) / "data"
        data.mkdir(mode=0o700, exist_ok=True)
        (data / "admin.key").write_text("hp_admin_test\n")
        (data / "admin.key").chmod(0o644)
        done = self.command("doctor", "--data", data, role=None, env={"HOLDPOINT_DATA": data})
        self.assertExit(done, 1)
        self.assertIn("HOLDPOINT_TOKEN_FILE=", done.stdout)
        self.assertIn("can be read by others", done.stdout)
        self.assertExit(self.command("list", role=None, env={"HOLDPOINT_DATA": data}), 1)

    def test_a_folder_is_no_config_file_and_no_token_file(self):
        for flag in ("--config", "--token-file"):
            done = self.command("whoami", flag, self.home.name)
            self.assertExit(done, 2)
            self.assertIn("Is a directory", done.stderr)
            self.assertIn(self.home.name, done.stderr)

    def test_what_is_not_utf8_is_refused_and_never_sent_as_something_else(self):
        ident = self.propose()
        bad = b"a\xff"
        for field, role, args in (("name", "admin", ["key", "create", "--role", "agent", "--name", bad]),
                                  ("groups[1]", "admin", ["key", "create", "--role", "approver", "--name", "a",
                                                          "--group", "g", "--group", bad]),
                                  ("note", "approver", ["approve", ident, "--note", bad]),
                                  ("reason", "approver", ["reject", ident, "--reason", bad]),
                                  ("reason", "agent", ["cancel", ident, "--reason", bad]),
                                  ("session", "agent", ["request", "--no-wait", "--tool", "t", "--session", bad]),
                                  ("action.tool", "agent", ["request", "--no-wait", "--tool", bad]),
                                  ("--session", "agent", ["agent", "--session", bad, "--script", "x", "task"]),
                                  ("task", "agent", ["agent", "--script", "x", bad]),
                                  ("session", "approver", ["list", "--session", bad])):
            with self.subTest(args=args):
                done = subprocess.run([PROGRAM, *args], env=self.environment(role), capture_output=True, timeout=30)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(f"is not UTF-8 (field `{field}`)".encode(), done.stderr)
                self.assertEqual(done.stdout, b"")
        self.assertEqual(self.show(ident)["state"], "pending")

    def test_a_password_that_is_not_utf8_is_refused(self):
        done = subprocess.run([PROGRAM, "user", "add", "latin", "--role", "approver", "--password-stdin"],
                              env=self.environment("admin"), input="pässword number one\n".encode("latin-1"),
                              capture_output=True, timeout=30)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(b"is not UTF-8 (field `password`)", done.stderr)

    def test_serve_refuses_empty_words_and_what_would_have_no_effect(self):
        data = Path(self.home.name) / "never"
        def refused(*args, env=None):
            done = self.command("serve", "--data", data, "--listen", "127.0.0.1:1", *args, env=env)
            self.assertExit(done, 2)
            self.assertFalse(data.exists(), "nothing was made")
            return done.stderr
        # What comes of a variable that was never set: a group that is empty would be anybody.
        for flag in ("--group", "--require-tool", "--allow-tool", "--notify", "--escalate-to", "--tls-cert", "--undo-max"):
            with self.subTest(flag=flag):
                self.assertIn(f"must not be empty (field `{flag}`)", refused(flag, ""))
        self.assertIn("must not be empty (field `--group`)", refused("--group", "finance", "--group", ""))
        config = Path(self.home.name) / "serve.toml"
        for line in ('group = [""]', 'group = ["finance", ""]', 'tls-cert = ""'):
            with self.subTest(line=line):
                config.write_text(f"[serve]\n{line}\n")
                said = refused("--config", config)
                self.assertIn("serve.toml: line 2", said)
                self.assertIn("must not be empty", said)
        for flag, value, why in (("--rate-per-key", "nan", "finite"), ("--rate-per-address", "-nan", "finite"),
                                 ("--decisions-per-key", "inf", "finite"), ("--base-url", "ftp://x", "--base-url"),
                                 ("--base-url", "https://x/y?z", "--base-url"), ("--timeout", "31d", "at most 30d"),
                                 ("--remind-every", "31d", "at most 30d"), ("--timeout", "0s", "at least a second"),
                                 ("--default-decision", "approve", "--on-timeout default"),
                                 ("--on-timeout", "default", "needs a decision")):
            with self.subTest(flag=flag, value=value):
                said = refused(flag, value)
                self.assertIn(why, said)
                self.assertIn(flag if flag != "--on-timeout" else "--default-decision", said)

    def test_a_standard_output_that_was_closed_is_written_into_nothing_else(self):
        self.propose()
        for command in ("version", "list"):
            done = subprocess.run(["sh", "-c", 'exec "$0" "$1" >&-', PROGRAM, command], stderr=subprocess.PIPE, text=True,
                                  env=self.environment("approver"))
            self.assertEqual(done.returncode, 1)
            self.assertIn("cannot write to standard output", done.stderr)

    def test_a_server_whose_descriptors_were_closed_writes_to_no_file_of_its_own(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{free.getsockname()[1]}"
        data = Path(self.home.name) / "closed"
        server = subprocess.Popen(["sh", "-c", 'exec "$0" "$@" <&- >&- 2>&-', PROGRAM, "serve", "--data", data, "--listen", address],
                                  env=self.environment(None))
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        until(lambda: b"is ready" in subprocess.run([PROGRAM, "doctor", "--url", "http://" + address], capture_output=True,
                                                    env={}).stdout, "the server", 30)
        self.assertEqual([str(Path(f"/proc/{server.pid}/fd/{fd}").readlink()) for fd in (0, 1, 2)], ["/dev/null"] * 3)
        server.terminate()
        self.assertEqual(server.wait(30), 0)

    def test_an_unknown_option_is_named_also_where_something_is_missing(self):
        for args in (["show", "--bogus"], ["approve", "--bogus=1"], ["key", "create", "--bogus"], ["--bogus", "list"]):
            done = self.command(*args)
            self.assertExit(done, 2)
            self.assertIn("--bogus", done.stderr)
        self.assertIn("required", self.command("show").stderr)

    def test_a_full_disk_is_not_success(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([PROGRAM, "version"], stdout=full, stderr=subprocess.PIPE, text=True,
                                  env=self.environment("approver"))
        self.assertEqual(done.returncode, 1)

    def test_usage_errors_exit_2_on_one_line(self):
        for args in ([], ["frobnicate"], ["approve"], ["list", "--risk", "huge"], ["request", "--tool", "x", "--args", "{"],
                     ["request", "--tool", "x", "--timeout", "soon"]):
            done = self.command(*args)
            self.assertExit(done, 2)
            self.assertEqual(done.stdout, "")
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertTrue(done.stderr.startswith("holdpoint: "), done.stderr)


class JsonErrors(World):
    def error_of(self, done, code):
        self.assertExit(done, code)
        self.assertEqual(done.stdout, "")
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        return json.loads(done.stderr)["error"]

    def test_a_lost_race_and_a_wrong_key_can_be_told_apart(self):
        request = self.propose()
        self.assertExit(self.command("reject", request, "--json"), 0)
        error = self.error_of(self.command("approve", request, "--json"), 1)
        self.assertEqual(error["code"], "conflict")
        self.assertEqual(error["request"]["outcome"], "rejected")
        error = self.error_of(self.command("list", "--json", env={"HOLDPOINT_TOKEN": "hp_agent_" + "A" * 43}), 1)
        self.assertEqual(error["code"], "unauthenticated")
        self.assertNotIn("request", error)

    def test_an_unknown_id_and_a_server_that_is_not_there(self):
        error = self.error_of(self.command("show", "req_00000000000000000000000000", "--json"), 1)
        self.assertEqual(error["code"], "not_found")
        error = self.error_of(self.command("list", "--json", "--url", "http://127.0.0.1:1"), 5)
        self.assertEqual(error["code"], "unavailable")

    def test_a_wrong_command_line_and_wrong_settings(self):
        config = Path(self.home.name) / "other.toml"
        config.write_text("[server]\n")
        for args in (["frobnicate", "--json"], ["--json", "approve"], ["list", "--risk", "huge", "--json"],
                     ["request", "--tool", "x", "--args", "{", "--json"], ["list", "--config", config, "--json"],
                     ["serve", "--json"], ["serve", "--config", config, "--json"],
                     ["serve", "--data", self.home.name, "--listen", "nonsense", "--json"]):
            with self.subTest(args=args):
                error = self.error_of(self.command(*args), 2)
                self.assertEqual(error["code"], "invalid_argument")
                self.assertTrue(error["message"])

    def test_what_controls_a_terminal_comes_out_as_escapes(self):
        done = self.command("list", "--session", "x", "--url", "http://127.0.0.1:1/\x1b[31m", "--json")
        self.assertNotIn("\x1b", done.stderr)
        self.error_of(done, 2)


class Colour(World):
    def test_colour_follows_flag_and_environment(self):
        self.propose("--session", "colour", "--risk", "high")
        def has_colour(*args, **env):
            return "\033[" in self.command("list", "--session", "colour", *args, env=env).stdout
        self.assertFalse(has_colour())
        self.assertTrue(has_colour("--color=always"))
        self.assertTrue(has_colour(CLICOLOR_FORCE="1"))
        self.assertFalse(has_colour(CLICOLOR_FORCE="1", NO_COLOR="1"))
        self.assertFalse(has_colour("--color=never", CLICOLOR_FORCE="1"))


class Misbehaving(World):
    needs_fake = True

    def test_an_answer_that_got_lost_is_asked_for_again_and_asks_people_once(self):
        self.fake.fail("POST /v1/requests", do="drop", after=True)
        ident = self.propose("--session", "lost")
        self.assertEqual(len(self.command("list", "--session", "lost", "--json").stdout.splitlines()), 1)
        self.assertEqual(self.show(ident)["session"], "lost")

    def test_a_decision_whose_answer_got_lost_counts_once(self):
        ident = self.propose()
        self.fake.fail("/decision", do="drop", after=True)
        self.assertExit(self.command("approve", ident), 0)
        self.assertEqual(len(self.show(ident)["votes"]), 1)

    def test_the_decision_carries_the_digest_that_was_shown(self):
        ident = self.propose()
        self.assertExit(self.command("approve", ident), 0)
        sent = [json.loads(body) for method, path, _, body in self.fake.state.seen if path.endswith(ident + "/decision")]
        self.assertEqual(sent[0]["digest"], self.show(ident)["digest"])

    def test_a_stale_page_is_refused(self):
        ident = self.propose()
        stands = self.fake.state.requests[ident]
        shown = dict(self.show(ident), digest="sha256:" + "0" * 64)
        self.fake.fail(f"GET /v1/requests/{ident}", status=200, body=shown)
        self.assertExit(self.command("approve", ident), 1)
        self.assertEqual(stands["state"], "pending")

    def test_half_a_request_is_not_decided_on(self):
        ident = self.propose()
        shown = self.show(ident)
        del shown["action"]
        self.fake.fail(f"GET /v1/requests/{ident}", status=200, body=shown)
        self.assertExit(self.command("approve", ident), 1)
        self.assertEqual(self.show(ident)["state"], "pending")

    def test_waiting_goes_on_across_a_restart_of_the_server(self):
        waiting = self.start("request", "--tool", "pay", "--session", "restart")
        until(lambda: self.command("list", "--session", "restart", "--json").stdout, "the request")
        ident = json.loads(self.command("list", "--session", "restart", "--json").stdout)["id"]
        for _ in range(2):
            self.fake.fail(f"GET /v1/requests/{ident}[?]wait", do="drop", times=2)
            with self.fake.state.lock:
                self.fake.state.changed.notify_all()
        port = self.fake.port
        self.fake.stop()
        self.fake.start(port)
        self.fake.decide(ident, decision="approve")
        out, err = waiting.communicate(timeout=30)
        self.assertEqual((waiting.returncode, out), (0, "{}\n"), err)

    def test_too_many_requests_are_told_with_the_time(self):
        error = {"error": {"code": "rate_limited", "message": "too many"}}
        self.fake.fail("POST /v1/requests", status=429, body=error, headers=[("Retry-After", "60")])
        done = self.command("request", "--tool", "x", "--no-wait", role="agent")
        self.assertExit(done, 1)
        self.assertIn("try again in 60 s", done.stderr)

    def test_errors_name_the_field(self):
        error = {"error": {"code": "invalid_argument", "message": "too long", "field": "action.tool"}}
        self.fake.fail("POST /v1/requests", status=400, body=error)
        done = self.command("request", "--tool", "x", "--no-wait", role="agent")
        self.assertExit(done, 2)
        self.assertIn("action.tool", done.stderr)

    def test_a_redirect_is_not_followed(self):
        self.fake.fail("/v1/me", status=302, body={}, headers=[("Location", "http://evil.example/")])
        done = self.command("whoami")
        self.assertExit(done, 1)
        self.assertIn("evil.example", done.stderr)

    def test_what_is_not_a_holdpoint_server_is_told(self):
        for raw in (b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nhi",
                    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 13\r\n\r\n{\"a\":1,\"a\":2}"):
            self.fake.fail("/v1/me", do="raw", bytes=raw)
            self.assertExit(self.command("whoami"), 1)
        self.fake.fail("/v1/me", do="raw", bytes=b"SSH-2.0-OpenSSH\r\n")
        self.assertExit(self.command("whoami"), 5)

    def test_a_hostile_message_cannot_control_the_terminal(self):
        error = {"error": {"code": "internal", "message": "\x1b[2Joops\r\nholdpoint: fine"}}
        self.fake.fail("/v1/me", status=500, body=error)
        done = self.command("whoami")
        self.assertNotIn("\x1b", done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1)

    def start_watching(self):
        # Streams of other tests may still be going away.
        before = list(self.fake.state.streams)
        watching = self.start("watch", "--json", role="approver")
        until(lambda: any(stream not in before for stream in self.fake.state.streams), "the stream")
        return watching

    def test_watch_comes_back_and_misses_nothing(self):
        watching = self.start_watching()
        first = self.fake.propose(action={"tool": "one"})
        self.assertEqual(json.loads(watching.stdout.readline())["request"]["id"], first["id"])
        port = self.fake.port
        self.fake.stop()
        second = self.fake.propose(action={"tool": "two"})
        self.fake.start(port)
        self.assertEqual(json.loads(watching.stdout.readline())["request"]["id"], second["id"])
        last = [headers.get("Last-Event-ID") for _, path, headers, _ in self.fake.state.seen if "/v1/events" in path]
        self.assertTrue(last[-1])

    def test_a_large_request_reaches_who_watches(self):
        watching = self.start_watching()
        made = self.fake.propose(action={"tool": "one", "arguments": large_and_deep()})
        self.assertEqual(json.loads(watching.stdout.readline())["request"]["id"], made["id"])

    def test_a_large_request_reaches_the_plain_inbox_and_half_a_request_is_told(self):
        inbox = subprocess.Popen([PROGRAM, "inbox", "--plain", "--session", "none yet"], text=True,
                                 env=self.environment("approver"), stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(self.end, inbox)
        self.assertEqual(inbox.stdout.readline(), "Nothing needs you.\n")
        headline = {"headline": "Pay much at once"}
        self.fake.propose(metadata=headline, action={"tool": "pay", "arguments": large_and_deep()})
        with self.fake.state.lock:
            for stream in self.fake.state.streams:
                stream.put((99, "approval-required", {"request": {"id": "req_half"}}))
        self.assertIn("skipped an event that cannot be read", inbox.stderr.readline())
        out, _ = inbox.communicate("quit\n", timeout=10)
        self.assertIn("Pay much at once", out)

    def test_an_interrupt_before_the_answer_names_the_key_to_go_on_with(self):
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen()
            env = self.environment("agent", HOLDPOINT_URL=f"http://127.0.0.1:{silent.getsockname()[1]}")
            asking = subprocess.Popen([PROGRAM, "request", "--tool", "x"], env=env, stderr=subprocess.PIPE, text=True)
            connection, _ = silent.accept()
            self.addCleanup(connection.close)
            asking.send_signal(signal.SIGINT)
            _, err = asking.communicate(timeout=10)
        self.assertEqual(asking.returncode, 130)
        self.assertIn("--idempotency-key cli-", err)


if __name__ == "__main__":
    unittest.main()

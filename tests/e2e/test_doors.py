"""How the server is reached: TLS, addresses, flags, and what protects its pages."""
import pathlib
import subprocess
import tempfile
import unittest

from harness import Server, binary, free_port


class DoorTest(unittest.TestCase):
    def certificate(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        cert, key = folder / "cert.pem", folder / "key.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-keyout", key, "-out", cert, "-days", "2", "-subj", "/CN=localhost", "-addext",
                        "subjectAltName=IP:127.0.0.1,DNS:localhost"], check=True, capture_output=True)
        return str(cert), str(key)

    def test_X3_TLS_serves_and_the_cookie_is_bound_to_the_host(self):
        cert, key = self.certificate()
        with Server("--tls-cert", cert, "--tls-key", key) as server:
            agent, ann = server.actor("agent", "bot"), server.actor("approver", "ann")
            request = agent.propose()
            self.assertEqual(ann.decide(request)["outcome"], "approved")
            server.admin.post("/v1/users", {"name": "sid", "role": "approver", "password": "correct horse battery"})
            answer = server.client().post("/v1/session", {"name": "sid", "password": "correct horse battery"})
            cookie = answer.headers["Set-Cookie"]
            self.assertTrue(cookie.startswith("__Host-holdpoint_session="))
            for part in ("Secure", "HttpOnly", "SameSite=Strict", "Path=/"):
                self.assertIn(part, cookie)
            self.assertNotIn("Domain", cookie)
            session = server.client(cookie=cookie.split(";")[0], csrf=answer["csrf"])
            self.assertEqual(session.get("/v1/me")["name"], "sid")
            # Plain HTTP on the TLS port gets no answer that a client could take for one.
            import socket
            with socket.create_connection(("127.0.0.1", server.port), timeout=5) as sock:
                sock.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
                sock.settimeout(5)
                try:
                    self.assertNotIn(b"HTTP/1.1 200", sock.recv(1000))
                except OSError:
                    pass

    def test_X3_old_TLS_is_refused(self):
        cert, key = self.certificate()
        with Server("--tls-cert", cert, "--tls-key", key) as server:
            for version in ("-tls1", "-tls1_1"):
                out = subprocess.run(["openssl", "s_client", version, "-cipher", "ALL:@SECLEVEL=0", "-connect",
                                      f"127.0.0.1:{server.port}"], input=b"", capture_output=True, timeout=20)
                self.assertNotEqual(out.returncode, 0, version)
            for version in ("-tls1_2", "-tls1_3"):
                out = subprocess.run(["openssl", "s_client", version, "-connect", f"127.0.0.1:{server.port}"], input=b"",
                                     capture_output=True, timeout=20)
                self.assertEqual(out.returncode, 0, version)

    def run_and_fail(self, *flags):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([binary(), "serve", "--data", folder, *flags], capture_output=True, text=True, timeout=20)
        self.assertNotEqual(done.returncode, 0)
        self.assertTrue(done.stderr.strip(), "it must say why")
        return done.stderr

    def test_X3_a_public_address_needs_TLS_or_a_proxy(self):
        for address in ("0.0.0.0", "[::]", "192.0.2.7"):
            with self.subTest(address=address):
                words = self.run_and_fail("--listen", f"{address}:{free_port()}")
                self.assertIn("--behind-proxy", words)
                self.assertIn("--tls-cert", words)

    def test_bad_flags_say_so(self):
        for flags in (("--listen", "nonsense"), ("--listen", "127.0.0.1:99999"), ("--nonsense",),
                      ("--default-verdict", "maybe"), ("--tls-cert", "/nonexistent", "--tls-key", "/nonexistent",
                                                        "--listen", f"127.0.0.1:{free_port()}")):
            with self.subTest(flags=flags):
                self.run_and_fail(*flags)

    def test_P9_a_policy_file_and_flags_that_it_would_overrule_are_refused_together(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "policy.yaml"
            path.write_text("holdpoint: 1\npolicy: pages\ndefaults: {decision: require}\n")
            for flags in (("--require-tool", "pay"), ("--default-verdict", "allow"), ("--quorum", "2"), ("--timeout", "5m"),
                          ("--on-timeout", "approve"), ("--not-modifiable",)):
                with self.subTest(flags=flags):
                    words = self.run_and_fail("--policy", str(path), *flags)
                    self.assertIn(flags[0], words)
                    self.assertIn("--policy", words)
            config = pathlib.Path(folder) / "config.toml"
            config.write_text("[serve]\ntimeout = \"1h\"\n")
            self.assertIn("--timeout", self.run_and_fail("--policy", str(path), "--config", str(config)), "a config file is no other way")

    def test_X6_a_config_file_that_is_not_understood_starts_nothing(self):
        shapes = {
            "[server]\nexclude-requester = true\n": ("line 1", "[server]"),
            "quorum = 5\n[serve]\n": ("line 1", "quorum"),
            "[serve.policy]\nquorum = 5\n": ("line 1", "[serve.policy]"),
            "[serve\nquorum = 5\n": ("line 1", "not closed"),
            '[serve]\nrequire-tool = ["a", "b\n': ("line 2", "not closed"),
            '[serve]\nrequire-tool = ["a", "b"\n': ("line 2", "not closed"),
            "[serve]\nquorum = 5\nquorum = 1\n": ("line 3", "twice"),
            "[serve]\nquorums = 5\n": ("line 2", "quorums"),
            "[serve]\nhelp = true\n": ("line 2", "help"),
            "[serve]\nquorum = 500\n": ("line 2", "quorum"),
            "[serve]\nquorum = [2, 3]\n": ("line 2", "quorum"),
            "[serve]\nquorum = true\n": ("line 2", "quorum"),
            "[serve]\nexclude-requester = tru\n": ("line 2", "true"),
            '[serve]\nexclude-requester = "yes please"\n': ("line 2", "exclude-requester"),
            "[serve]\nexclude-requester = 1\n": ("line 2", "exclude-requester"),
            "[serve]\nnotify = []\n": ("line 2", "notify"),
        }
        with tempfile.TemporaryDirectory() as folder:
            config = pathlib.Path(folder) / "config.toml"
            for text, reasons in shapes.items():
                with self.subTest(text=text):
                    config.write_text(text)
                    words = self.run_and_fail("--listen", f"127.0.0.1:{free_port()}", "--config", str(config))
                    for reason in (str(config), *reasons):
                        self.assertIn(reason, words)

    def test_a_config_file_says_what_flags_say(self):
        with tempfile.TemporaryDirectory() as folder:
            config = pathlib.Path(folder) / "config.toml"
            config.write_text('url = "http://127.0.0.1:1"  # for the client\n[serve]\nexclude-requester = true\nreason-required = false\n'
                              'quorum = 2\nrequire-tool = [\n  "pay", # money\n  "wipe",\n]\ndefault-verdict = "allow"\n')
            with Server("--config", str(config), "--quorum", "3") as server:
                server.actor("approver", "ann")
                agent = server.actor("agent", "config-bot", owner="ann")
                asked = agent.propose(tool="wipe")
                self.assertEqual(asked["requirement"]["lines"][0]["quorum"], 3, "a flag wins")
                self.assertTrue(asked["requirement"]["exclude_requester"])
                self.assertFalse(asked["requirement"]["reason_required"])
                self.assertEqual(agent.propose(tool="look")["outcome"], "allowed")

    def test_X3_a_key_or_certificate_that_cannot_be_used_says_what_to_do(self):
        cert, key = self.certificate()
        folder = pathlib.Path(cert).parent
        locked = folder / "locked.pem"
        subprocess.run(["openssl", "pkey", "-in", key, "-aes256", "-passout", "pass:secret", "-out", locked], check=True, capture_output=True)
        (folder / "junk.pem").write_text("nothing\n")
        other, other_key = self.certificate()
        for files, reasons in {(cert, str(locked)): ("--tls-key", "passphrase"), (key, key): ("--tls-cert", "private key"),
                               (cert, cert): ("--tls-key", "certificate"), (cert, other_key): ("--tls-key", "does not belong"),
                               (str(folder / "junk.pem"), key): ("--tls-cert", "no certificate"),
                               (cert, str(folder / "junk.pem")): ("--tls-key", "no private key")}.items():
            with self.subTest(files=files):
                words = self.run_and_fail("--tls-cert", files[0], "--tls-key", files[1], "--listen", f"127.0.0.1:{free_port()}")
                for reason in reasons:
                    self.assertIn(reason, words)

    def test_a_port_in_use_is_said(self):
        with Server() as server:
            words = self.run_and_fail("--listen", f"127.0.0.1:{server.port}")
            self.assertIn(str(server.port), words)

    def test_X3_plain_http_cookies_are_for_this_host_too(self):
        with Server() as server:
            server.admin.post("/v1/users", {"name": "sid", "role": "approver", "password": "correct horse battery"})
            cookie = server.client().post("/v1/session", {"name": "sid", "password": "correct horse battery"}).headers["Set-Cookie"]
            self.assertTrue(cookie.startswith("holdpoint_session="))
            for part in ("HttpOnly", "SameSite=Strict", "Path=/"):
                self.assertIn(part, cookie)

    def test_the_pages_run_nothing_that_is_not_ours(self):
        with Server() as server:
            for path in ("/", "/sign-in", "/r/req_00000000000000000000000000"):
                headers = server.client().get(path).headers
                self.assertIn("default-src", headers["Content-Security-Policy"])
                self.assertNotIn("unsafe-inline", headers["Content-Security-Policy"])
                self.assertIn("frame-ancestors 'none'", headers["Content-Security-Policy"])
                self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
                self.assertEqual(headers["Referrer-Policy"], "no-referrer")


if __name__ == "__main__":
    unittest.main()

"""When things break: clients that vanish, a server that is killed, disks that are full or read-only, wrong data."""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import disk
from harness import FastClient, Server, binary, eventually, free_port


class DamagedRowTest(unittest.TestCase):
    def test_T4_one_request_that_cannot_be_read_stops_no_other_deadline(self):
        with Server() as server:
            agent, ann = server.actor("agent", "bot"), server.actor("approver", "ann")
            broken, whole = agent.propose(timeout_s=3), agent.propose(timeout_s=3)
            self.assertEqual(server.stop(), 0)
            with sqlite3.connect(next(server.data.glob("*.db"))) as store:
                store.execute("UPDATE request SET requirement='[' WHERE row=(SELECT MIN(row) FROM request)")
            store.close()
            server.start()
            self.assertEqual(agent.read(whole, wait=15)["outcome"], "expired")
            answer = ann.get(f"/v1/requests/{broken['id']}")
            self.assertEqual(answer.status, 500, answer)
            later = agent.propose(timeout_s=1, wait=10)
            self.assertEqual(later["outcome"], "expired", "nor those that come later")


class ClientFaultTest(unittest.TestCase):
    def test_a_client_killed_while_waiting_leaves_nothing_behind_and_hears_it_later(self):
        with Server() as server:
            agent, ann = server.actor("agent", "bot"), server.actor("approver", "ann")
            request = agent.propose()
            script = ("import socket,sys,time\n"
                      "s=socket.create_connection((sys.argv[1],int(sys.argv[2])))\n"
                      "s.sendall(f'GET /v1/requests/{sys.argv[3]}?wait=60 HTTP/1.1\\r\\nHost: x\\r\\nAuthorization: Bearer {sys.argv[4]}\\r\\n\\r\\n'.encode())\n"
                      "print('sent',flush=True)\ns.recv(1)\n")
            children = [subprocess.Popen([sys.executable, "-c", script, server.host, str(server.port), request["id"], agent.key],
                                         stdout=subprocess.PIPE) for _ in range(5)]
            eventually(lambda: ann.get("/v1/stats")["waiters"] == 5, "five agents wait")
            for child in children:
                child.send_signal(signal.SIGKILL)
                child.wait()
                child.stdout.close()
            eventually(lambda: ann.get("/v1/stats")["waiters"] == 0, "those that died are forgotten")
            ann.decide(request)
            self.assertEqual(agent.read(request, wait=5)["outcome"], "approved")

    def test_a_client_that_vanishes_before_the_answer_has_still_proposed_once(self):
        """Whether the answer arrived or not, the key tells which request it was."""
        with Server() as server:
            agent, ann = server.actor("agent", "bot"), server.actor("approver", "ann")
            body = b'{"action":{"tool":"t"},"session":"gone"}'
            for i in range(50):
                client = FastClient(server.host, server.port, agent.key)
                client.send(client.encode("POST", "/v1/requests", body, f"Idempotency-Key: gone-{i}\r\n"))
                client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")  # RST
                client.close()
            ids = set()
            for i in range(50):
                answer = agent.call("POST", "/v1/requests", raw=body, headers={
                    "Idempotency-Key": f"gone-{i}", "Content-Type": "application/json"})
                self.assertIn(answer.status, (200, 201))
                ids.add(answer["id"])
            self.assertEqual(len(ids), 50)
            listed = ann.get("/v1/requests", query={"session": "gone", "limit": 100})["requests"]
            self.assertEqual({r["id"] for r in listed}, ids)


class ServerFaultTest(unittest.TestCase):
    def test_S1_a_server_killed_while_answering_loses_nothing_it_acknowledged(self):
        with Server() as server:
            agent_key, ann = server.actor("agent", "bot").key, server.actor("approver", "ann")
            acknowledged = []

            def work():
                client = FastClient(server.host, server.port, agent_key, timeout_s=5)
                n = 0
                try:
                    while True:
                        n += 1
                        status, body = client.call("POST", "/v1/requests", {"action": {"tool": "t"}, "metadata": {"n": n}})
                        if status == 201:
                            acknowledged.append(json.loads(body)["id"])
                except OSError:
                    client.close()

            for _ in range(3):
                threads = [threading.Thread(target=work) for _ in range(4)]
                for thread in threads:
                    thread.start()
                wanted = len(acknowledged) + 100
                eventually(lambda: len(acknowledged) > wanted, "a hundred acknowledgements")
                server.kill()
                for thread in threads:
                    thread.join()
                server.start()
            reader = FastClient(server.host, server.port, ann.key)
            answers = reader.many([("GET", f"/v1/requests/{id}", None, "") for id in acknowledged])
            reader.close()
            self.assertEqual({status for status, _ in answers}, {200})
            self.assertGreaterEqual(len(acknowledged), 300)

    def test_a_stop_during_load_answers_everybody_or_nobody(self):
        with Server() as server:
            agent_key, ann = server.actor("agent", "bot").key, server.actor("approver", "ann")
            acknowledged, statuses = [], set()

            def work():
                client = FastClient(server.host, server.port, agent_key, timeout_s=10)
                try:
                    while True:
                        status, body = client.call("POST", "/v1/requests", {"action": {"tool": "t"}})
                        statuses.add(status)
                        if status == 201:
                            acknowledged.append(json.loads(body)["id"])
                        else:
                            return
                except OSError:
                    client.close()

            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads:
                thread.start()
            eventually(lambda: len(acknowledged) > 200, "load")
            self.assertEqual(server.stop(), 0)
            for thread in threads:
                thread.join()
            self.assertLessEqual(statuses, {201, 503})
            server.start()
            reader = FastClient(server.host, server.port, ann.key)
            answers = reader.many([("GET", f"/v1/requests/{id}", None, "") for id in acknowledged])
            reader.close()
            self.assertEqual({status for status, _ in answers}, {200})


class BrokenDiskTest(unittest.TestCase):
    """A disk that answers a sync or a write with an error may have lost anything: the server says so and ends."""

    def setUp(self):
        self.crash_binary = os.environ.get("HOLDPOINT_CRASH_BIN", str(pathlib.Path(binary()).with_name("holdpoint_crash")))
        if not os.access(self.crash_binary, os.X_OK):
            self.skipTest(f"no {self.crash_binary}")

    def test_S1_an_io_error_ends_the_server_and_what_was_acknowledged_is_there_afterwards(self):
        # What was not synced is lost as well, as it may be on such a disk.
        for fault in ("volatile,fail=sync:40:ioerr", "volatile,fail=write:400:ioerr"):
            with self.subTest(fault=fault), Server(binary_path=self.crash_binary) as server:
                agent, ann = server.actor("agent", "bot"), server.actor("approver", "ann")
                self.assertEqual(server.stop(), 0)
                server.env["HOLDPOINT_TEST_FAULTS"] = fault
                server.start()
                acknowledged, ending = self.propose_until_it_fails(server, agent)
                self.assertIn(ending, (503, "cut"), "nobody is told that it worked")
                self.assertEqual(server.process.wait(20), 70, server.log())
                for words in (str(server.data), "Check the disk", "start again"):
                    self.assertIn(words, server.log())
                del server.env["HOLDPOINT_TEST_FAULTS"]
                server.forget_connections()
                server.start()
                self.assertGreater(len(acknowledged), 5, "it broke while it worked, not before")
                for id in acknowledged:
                    request = ann.read(id)
                    self.assertEqual((request["state"], request["release"]), ("pending", None))
                self.assertEqual([request["id"] for request in ann.list(limit=100) if request["release"]], [])
                self.assertEqual(ann.decide(acknowledged[0])["outcome"], "approved", "it works again")

    def propose_until_it_fails(self, server, agent):
        """(ids that were acknowledged, the status that was not 201 or `cut`)"""
        client = FastClient(server.host, server.port, agent.key, timeout_s=20)
        acknowledged = []
        try:
            for _ in range(2000):
                status, body = client.call("POST", "/v1/requests", {"action": {"tool": "t"}})
                if status != 201:
                    return acknowledged, status
                acknowledged.append(json.loads(body)["id"])
        except OSError:
            return acknowledged, "cut"
        finally:
            client.close()
        return acknowledged, "never"


class OldRecordsTest(unittest.TestCase):
    def test_old_idempotency_records_are_forgotten_however_many_there_are(self):
        with Server() as server:
            agent = server.actor("agent", "bot")
            server.stop()
            database = server.data / "holdpoint.db"
            with contextlib.closing(sqlite3.connect(database)) as connection, connection:
                connection.execute(
                    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<25000) INSERT INTO idempotency"
                    "(principal, key, body_hash, requests, at) SELECT zeroblob(16), 'old-'||i, zeroblob(32), x'', 1 FROM n")
            server.start()
            for _ in range(60):  # each takes its turn in the store; the steps come between them
                agent.propose()
            server.stop()
            with contextlib.closing(sqlite3.connect(database)) as connection:
                left, = connection.execute("SELECT count(*) FROM idempotency").fetchone()
            self.assertEqual(left, 0, "all of them, not only as many as one step takes")


class DiskFaultTest(unittest.TestCase):
    def setUp(self):
        reason = disk.why_not()
        if reason:
            print(f"skipped: {reason}")
            self.skipTest(reason)

    def test_X6_a_full_disk_refuses_and_recovers_when_space_returns(self):
        with disk.SmallDisk(24) as small, Server(data=small.path / "data") as server:
            agent, ann = server.actor("agent", "bot"), server.actor("approver", "ann")
            before = agent.propose(session="before")
            waiting = agent.propose(session="waiting")
            acknowledged = []
            for _ in range(3):
                small.fill()
                refused = None
                deadline = time.monotonic() + 20
                while refused is None and time.monotonic() < deadline:
                    answer = agent.post("/v1/requests", {"action": {"tool": "t", "arguments": {"pad": "x" * 20000}}})
                    if answer.status == 201:
                        acknowledged.append(answer["id"])
                    else:
                        refused = answer
                self.assertIsNotNone(refused, "the disk never filled")
                self.assertEqual((refused.status, refused.error["code"]), (503, "unavailable"))
                self.assertIsNone(server.process.poll(), f"the server ended:\n{server.log()}")
                # Fail closed: nothing is decided that cannot be recorded, and what was there can be read.
                answer = ann.post(f"/v1/requests/{before['id']}/decision", {"decision": "approve", "note": "x" * 2000})
                if answer.status != 200:
                    self.assertEqual(answer.status, 503)
                    self.assertEqual(ann.read(before)["state"], "pending")
                    self.assertIsNone(ann.read(before)["release"])
                small.free()
                eventually(lambda: agent.post("/v1/requests", {"action": {"tool": "t"}}).status == 201,
                           "works again without a restart")
                for id in acknowledged:
                    self.assertEqual(ann.read(id)["id"], id)
            self.assertEqual(ann.decide(waiting)["outcome"], "approved")
            server.restart()
            for id in acknowledged:
                self.assertEqual(ann.read(id)["id"], id)
            self.assertEqual(ann.read(waiting)["outcome"], "approved")

    def test_T4_a_deadline_that_passes_on_a_full_disk_fires_when_space_returns(self):
        with disk.SmallDisk(24) as small, Server(data=small.path / "data") as server:
            agent = server.actor("agent", "bot")
            request = agent.propose(timeout_s=2)
            small.fill()
            deadline = time.monotonic() + 20
            while time.monotonic() < deadline:
                if agent.post("/v1/requests", {"action": {"tool": "t", "arguments": {"pad": "x" * 20000}}}).status == 503:
                    break
            time.sleep(2.5)
            self.assertIsNone(server.process.poll(), server.log())
            small.free()
            settled = agent.read(request, wait=20)
            self.assertEqual((settled["outcome"], settled["release"]), ("expired", None))

    def test_a_start_on_a_full_disk_says_so(self):
        with disk.SmallDisk(1) as small:
            small.fill()
            done = subprocess.run([binary(), "serve", "--data", str(small.path / "data"), "--listen", f"127.0.0.1:{free_port()}"],
                                  capture_output=True, text=True, timeout=30)
            self.assertNotEqual(done.returncode, 0)
            self.assertTrue(done.stderr.strip())


class StartFaultTest(unittest.TestCase):
    def fail_to_start(self, data, *words, timeout_s=30):
        """The server must end by itself, not with a crash, and say something that helps."""
        done = subprocess.run([binary(), "serve", "--data", str(data), "--listen", f"127.0.0.1:{free_port()}"],
                              capture_output=True, text=True, timeout=timeout_s)
        self.assertGreater(done.returncode, 0, f"{done.returncode}: {done.stderr}")
        self.assertLess(done.returncode, 128, "a crash is no message")
        for word in words:
            self.assertIn(word, done.stderr)
        return done.stderr

    def test_a_second_server_on_the_same_data_is_refused_and_harms_nothing(self):
        with Server() as server:
            agent = server.actor("agent", "bot")
            request = agent.propose()
            self.fail_to_start(server.data, str(server.data))
            self.assertEqual(agent.read(request)["id"], request["id"])
            agent.propose()

    def test_after_a_kill_the_data_is_free_again(self):
        with Server() as server:
            server.kill()
            server.start()

    def made_data(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        server = Server(data=folder / "data").start()
        server.actor("agent", "bot").propose()
        server.stop()
        server.close()
        return folder / "data"

    def test_data_of_a_newer_version_is_refused(self):
        data = self.made_data()
        database, = [p for p in data.iterdir() if p.read_bytes()[:15] == b"SQLite format 3"]
        with sqlite3.connect(database) as connection:
            connection.execute("PRAGMA user_version = 999999")
        connection.close()
        self.fail_to_start(data, "newer")

    def test_a_database_of_another_program_is_refused(self):
        data = self.made_data()
        database, = [p for p in data.iterdir() if p.read_bytes()[:15] == b"SQLite format 3"]
        database.unlink()
        for rest in data.glob(database.name + "-*"):
            rest.unlink()
        with sqlite3.connect(database) as connection:
            connection.execute("CREATE TABLE other (x)")
            connection.execute("PRAGMA application_id = 12345")
        connection.close()
        self.fail_to_start(data)

    def test_a_damaged_database_is_refused(self):
        data = self.made_data()
        database, = [p for p in data.iterdir() if p.read_bytes()[:15] == b"SQLite format 3"]
        content = bytearray(database.read_bytes())
        for at in range(0, 16):
            content[at] ^= 0xFF
        database.write_bytes(content)
        self.fail_to_start(data)

    def test_a_store_that_is_gone_is_not_silently_begun_anew(self):
        for lose in (lambda path: path.unlink(), lambda path: path.write_bytes(b"")):
            data = self.made_data()
            key = (data / "admin.key").read_bytes()
            database, = [p for p in data.iterdir() if p.read_bytes()[:15] == b"SQLite format 3"]
            lose(database)
            self.fail_to_start(data, "admin.key", "backup")
            self.assertEqual((data / "admin.key").read_bytes(), key)
            (data / "admin.key").unlink()
            Server(data=data).start().close()

    def test_a_new_admin_key_is_a_way_in_also_where_admin_was_disabled(self):
        data = self.made_data()
        with Server(data=data) as server:
            root = server.actor("admin", "root")
            self.assertEqual(root.post("/v1/users/admin/disable").status, 200)
            self.assertEqual(server.admin.get("/v1/me").status, 401)
        old = (data / "admin.key").read_bytes()
        with Server("--new-admin-key", data=data) as server:
            self.assertNotEqual((data / "admin.key").read_bytes(), old)
            self.assertEqual(server.admin.get("/v1/me").json["role"], "admin")

    def test_a_start_that_ended_while_it_made_the_admin_key_loses_none(self):
        data = self.made_data()
        key, staged = data / "admin.key", data / "admin.key.new"
        old = key.read_bytes()
        for left in (b"hp_admin_" + b"A" * 43 + b"\n", b"hp_adm", b""):  # written, not stored
            staged.write_bytes(left)
            with Server(data=data) as server:
                self.assertEqual(server.admin.get("/v1/me").status, 200)
            self.assertEqual((key.read_bytes(), staged.exists()), (old, False))
        key.rename(staged)  # stored, not named
        with Server(data=data) as server:
            self.assertEqual(server.admin.get("/v1/me").status, 200)
        self.assertEqual((key.read_bytes(), staged.exists()), (old, False))

    def test_a_data_directory_that_is_a_file_is_refused(self):
        with tempfile.NamedTemporaryFile() as file:
            self.fail_to_start(file.name, file.name)

    def test_a_data_directory_below_nothing_is_refused_or_made(self):
        self.fail_to_start("/proc/holdpoint-cannot-be-here", "/proc/holdpoint-cannot-be-here")

    def test_a_read_only_data_directory_is_refused(self):
        if os.geteuid() == 0:
            reason = disk.why_not()
            if reason:
                print(f"skipped: {reason}")
                self.skipTest(reason)
            with disk.SmallDisk(4) as small:
                subprocess.run(["mount", "-o", "remount,ro", str(small.path)], check=True, capture_output=True)
                self.fail_to_start(small.path, str(small.path))
            return
        folder = tempfile.mkdtemp()
        os.chmod(folder, 0o500)
        try:
            self.fail_to_start(folder, folder)
        finally:
            shutil.rmtree(folder)

    def test_existing_data_that_became_read_only_is_refused(self):
        reason = disk.why_not()
        if reason:
            print(f"skipped: {reason}")
            self.skipTest(reason)
        with disk.SmallDisk(24) as small:
            server = Server(data=small.path / "data").start()
            server.actor("agent", "bot").propose()
            server.stop()
            server.close()
            subprocess.run(["mount", "-o", "remount,ro", str(small.path)], check=True, capture_output=True)
            self.fail_to_start(small.path / "data")


if __name__ == "__main__":
    unittest.main()

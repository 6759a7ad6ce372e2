"""Starts and stops what is measured. Everything listens on loopback and is ended again."""

import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CLIENTS_MAX = 64


class Failed(Exception):
    """A figure that could not be taken; the run goes on with the next."""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for_port(port, process, seconds=20, path=None):
    """Until the port answers (with 200 for `path`, if there is one, which is asked for without TLS)."""
    start = time.monotonic()
    while time.monotonic() - start < seconds:
        if process.poll() is not None:
            raise Failed(f"ended with status {process.returncode} while starting")
        try:
            with socket.create_connection(("127.0.0.1", port), 1) as connection:
                if path is None:
                    return
                connection.settimeout(5)
                connection.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
                if connection.recv(64).startswith(b"HTTP/1.1 200"):
                    return
        except OSError:
            pass
        time.sleep(0.0005)
    raise Failed(f"does not answer within {seconds} s")


class Process:
    """A server under measurement; a context manager that never leaves it behind."""

    def __init__(self, command, log, port):
        self.port = port
        self.started = time.monotonic()
        with open(log, "ab") as sink:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=sink, stderr=sink)
        self.pid = self.process.pid
        self.ready_s = 0.0

    def wait(self, path=None):
        try:
            wait_for_port(self.port, self.process, path=path)
        except Failed:
            self.kill()
            raise
        self.ready_s = time.monotonic() - self.started
        return self

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(15)
            except subprocess.TimeoutExpired:
                self.kill()

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


class Holdpoint:
    """A data directory, with the keys of its agents and people."""

    def __init__(self, binary, directory):
        self.binary = binary
        self.directory = directory
        self.data = os.path.join(directory, "data")
        self.agents = os.path.join(directory, "agents")
        self.people = os.path.join(directory, "people")
        self.database = os.path.join(self.data, "holdpoint.db")
        shutil.rmtree(directory, ignore_errors=True)
        os.makedirs(directory, mode=0o700)

    def start(self, *flags):
        port = free_port()
        # The agents of a benchmark have more waiting than any real one, and for longer; its people decide faster.
        process = Process(
            [self.binary, "serve", "--data", self.data, "--listen", f"127.0.0.1:{port}",
             "--pending-max", "100000000", "--timeout", "24h", "--connections-max", "1000000", "--decisions-per-key", "0",
             "--log-level", "warn", *flags],
            os.path.join(self.directory, "log"), port)
        process.wait(None if "--tls-cert" in flags else "/readyz")
        if not os.path.exists(self.people):
            self.make_keys(port)
        return process

    def make_keys(self, port):
        with open(os.path.join(self.data, "admin.key"), encoding="utf-8") as file:
            admin = file.read().strip()
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        for role, name, path in (("agent", "bench-agent", self.agents),
                                 ("approver", "bench-person", self.people)):
            keys = [self.make_key(connection, admin, role, f"{name}-{i}") for i in range(CLIENTS_MAX)]
            with open(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
                file.write("\n".join(keys) + "\n")
        connection.close()

    @staticmethod
    def make_key(connection, admin, role, name):
        connection.request("POST", "/v1/keys", json.dumps({"role": role, "name": name}),
                           {"Content-Type": "application/json", "Authorization": f"Bearer {admin}"})
        response = connection.getresponse()
        body = json.load(response)
        if response.status != 201:
            raise Failed(f"no key for {name}: {body}")
        return body["key"]

    def stats(self, port):
        with open(self.people, encoding="utf-8") as file:
            key = file.readline().strip()
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("GET", "/v1/stats", headers={"Authorization": f"Bearer {key}"})
        body = json.load(connection.getresponse())
        connection.close()
        return body

    def remove(self):
        shutil.rmtree(self.directory, ignore_errors=True)

"""What every end-to-end test needs: the real server in a process of its own, clients, and an event reader.

    HOLDPOINT_BIN     the server's binary (default: build/holdpoint of this checkout)
    HOLDPOINT_FLAGS   further flags for every `holdpoint serve`
    HOLDPOINT_KEEP    keep data directories and logs of failed tests

Every answer that a `Client` gets is checked against spec/openapi.yaml: status documented, headers present, body valid.
"""
import collections
import http.client
import json
import os
import pathlib
import queue
import re
import secrets
import shlex
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
sys.path.insert(0, str(ROOT / "tests" / "e2e"))

import openapi_json  # noqa: E402
import schema  # noqa: E402

# Far above what any test should need: the machine may be busy, and a deadline only turns a hang into a failure.
PATIENCE_S = 20.0

REFUND = {"orderId": "1234", "amount": 50000}

# One of each kind.
SUBJECTS = {
    "action": {"tool": "process_refund", "arguments": {"orderId": "1234", "amount": 50000}},
    "plan": {"title": "Clean up", "steps": [{"action": "list"}, {"action": "delete"}, {"action": "tell", "optional": True}]},
    "input": {"question": "Which?", "type": "text"},
    "confirmation": {"message": "Publish the post?"},
    "response": {"text": "Done."},
}


def binary():
    return os.environ.get("HOLDPOINT_BIN", str(ROOT / "build" / "holdpoint"))


def eventually(condition, what, timeout_s=PATIENCE_S, every_s=0.02):
    """Waits until `condition()` is true and returns its value; fails with `what` when it never is."""
    deadline = time.monotonic() + timeout_s
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {timeout_s} s: {what}")
        time.sleep(every_s)


def free_port():
    """One below those from which the system takes the ports of outgoing connections: none of them takes it meanwhile, or while
    a server restarts."""
    while True:
        port = 20_000 + secrets.randbelow(12_000)
        with socket.socket() as probe:
            try:
                probe.bind(("0.0.0.0", port))
                return port
            except OSError:
                continue


class Spec:
    """spec/openapi.yaml, with its operations found by method and path."""

    def __init__(self):
        self.document = openapi_json.load(ROOT / "spec" / "openapi.yaml")
        self.validator = schema.Validator(self.document)
        self.engine = self.document["x-engine-responses"]
        self.operations = {}
        self.paths = []
        for path, item in self.document["paths"].items():
            # Literal segments win over parameters: /api/approvals/pending is no id.
            pattern = re.compile("^" + re.sub(r"\\\{[^}]*\\\}", "[^/]+", re.escape(path)) + "$")
            methods = {}
            for method in ("get", "post", "put", "patch", "delete", "head", "options"):
                if method in item:
                    operation = dict(item[method])
                    operation["path"] = path
                    operation["method"] = method.upper()
                    operation["parameters"] = [self.validator.follow(p) for p in
                                               item.get("parameters", []) + operation.get("parameters", [])]
                    methods[method.upper()] = operation
                    self.operations[operation["operationId"]] = operation
            self.paths.append((path.count("{"), pattern, methods))
        self.paths.sort(key=lambda entry: entry[0])

    def find(self, method, target):
        path = target.split("?", 1)[0]
        for _, pattern, methods in self.paths:
            if pattern.match(path):
                return methods.get(method)
        return None

    def problems(self, method, target, status, headers, body):
        """What an answer does that the document does not say."""
        operation = self.find(method, target)
        documented = dict(self.engine)
        if operation:
            documented |= operation["responses"]
        else:
            # No such operation: the path is unknown, or the method is.
            documented |= {"404": {"$ref": "#/components/responses/NotFound"},
                           "400": {"$ref": "#/components/responses/InvalidArgument"}}
        name = operation["operationId"] if operation else f"{method} {target}"
        if str(status) not in documented:
            return [f"{name} answered {status}, which is not documented: {body[:300]!r}"]
        response = self.validator.follow(documented[str(status)])
        found = []
        for header, rule in response.get("headers", {}).items():
            rule = self.validator.follow(rule)
            value = headers.get(header)
            if value is None:
                if rule.get("required"):
                    found.append(f"{name} {status}: header {header} is missing")
            else:
                found += [f"{name} {status}: header {header}: {error}"
                          for error in self.validator.errors(value, rule["schema"])]
        content = response.get("content", {})
        if not content and not body:
            return found
        given = (headers.get("Content-Type") or "").split(";")[0].strip().lower()
        if given not in content:
            return found + [f"{name} {status}: content type `{given}` instead of {list(content)}"]
        if given == "application/json":
            try:
                value = json.loads(body)
            except ValueError as error:
                return found + [f"{name} {status}: the body is not JSON: {error}: {body[:300]!r}"]
            found += [f"{name} {status}: {error}" for error in self.validator.errors(value, content[given]["schema"])]
        return found


SPEC = Spec()

# Every (operationId, status) that any client of this process saw; the contract test asks for all of them.
SEEN = collections.Counter()


class Answer:
    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def json(self):
        return json.loads(self.body)

    def __getitem__(self, name):
        return self.json[name]

    @property
    def error(self):
        return self.json["error"]

    def __repr__(self):
        return f"<{self.status} {self.body[:600]!r}>"


class Client:
    """A keep-alive connection with a credential. Not for several threads."""

    address_count = 0

    def __init__(self, server, key=None, cookie=None, csrf=None, checked=True, timeout_s=PATIENCE_S + 40, wanders=False):
        self.server = server
        self.wanders = wanders  # every call from another loopback address, for limits that count by address
        self.key = key
        self.cookie = cookie
        self.csrf = csrf
        self.checked = checked
        self.timeout_s = timeout_s
        self.connection = None

    def close(self):
        if self.connection:
            self.connection.close()
            self.connection = None

    def connect(self):
        if self.server.is_tls:
            context = ssl.create_default_context(cafile=self.server.ca_file)
            context.check_hostname = False
            return http.client.HTTPSConnection(self.server.host, self.server.port, timeout=self.timeout_s,
                                               context=context)
        source = None
        if self.wanders:
            Client.address_count += 1
            n = Client.address_count
            source = (f"127.{1 + os.getpid() % 200}.{n // 250 % 250}.{1 + n % 250}", 0)
        return http.client.HTTPConnection(self.server.host, self.server.port, timeout=self.timeout_s,
                                          source_address=source)

    def credentials(self, method):
        headers = {}
        if self.key is not None:
            headers["Authorization"] = f"Bearer {self.key}"
        if self.cookie is not None:
            headers["Cookie"] = self.cookie
            if method != "GET" and self.csrf is not None:
                headers["X-Holdpoint-CSRF"] = self.csrf
        return headers

    def call(self, method, path, body=None, headers=None, query=None, raw=None):
        """`body` is sent as JSON; `raw` bytes are sent as they are, without a content type of their own."""
        sent = self.credentials(method)
        data = raw
        if body is not None:
            data = json.dumps(body).encode()
            sent["Content-Type"] = "application/json"
        elif raw is None and method == "POST":
            sent["Content-Length"] = "0"
        for name, value in (headers or {}).items():
            if value is None:
                sent.pop(name, None)
            else:
                sent[name] = value
        target = path + ("?" + urllib.parse.urlencode(query) if query else "")
        answer = self.exchange(method, target, data, sent)
        if self.checked:
            operation = SPEC.find(method, target)
            if operation:
                SEEN[operation["operationId"], str(answer.status)] += 1
            problems = SPEC.problems(method, target, answer.status, answer.headers, answer.body)
            if problems:
                raise AssertionError(f"{method} {target} -> {answer}\n  " + "\n  ".join(problems))
        return answer

    def exchange(self, method, target, data, headers):
        # A kept connection may have been closed by the server meanwhile; that is no answer, so it is tried anew, once.
        for is_last in (False, True):
            fresh = self.connection is None
            if fresh:
                self.connection = self.connect()
            try:
                self.connection.request(method, target, data, headers)
                response = self.connection.getresponse()
                answer = Answer(response.status, response.headers, response.read())
                if response.will_close or self.wanders:
                    self.close()
                return answer
            except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError):
                self.close()
                if fresh or is_last:
                    raise
        raise AssertionError("unreachable")

    def get(self, path, **more):
        return self.call("GET", path, **more)

    def post(self, path, body=None, **more):
        return self.call("POST", path, body, **more)

    def delete(self, path, **more):
        return self.call("DELETE", path, **more)

    # The calls that nearly every test makes; each insists on success.
    def propose(self, tool="process_refund", arguments=None, wait=None, status=201, headers=None, **more):
        body = dict(more)
        if not any(kind in body for kind in ("plan", "input", "confirmation", "response", "action")):
            body["action"] = {"tool": tool, "arguments": REFUND if arguments is None else arguments}
        answer = self.post("/v1/requests", body, headers=headers, query={"wait": wait} if wait is not None else None)
        assert answer.status == status, answer
        return answer.json

    def decide(self, request, decision="approve", status=200, headers=None, **more):
        id = request if isinstance(request, str) else request["id"]
        answer = self.post(f"/v1/requests/{id}/decision", {"decision": decision, **more}, headers=headers)
        assert answer.status == status, answer
        return answer.json

    def read(self, request, wait=None):
        id = request if isinstance(request, str) else request["id"]
        answer = self.get(f"/v1/requests/{id}", query={"wait": wait} if wait is not None else None)
        assert answer.status == 200, answer
        return answer.json

    def timeline(self, request):
        id = request if isinstance(request, str) else request["id"]
        answer = self.get(f"/v1/requests/{id}/events")
        assert answer.status == 200, answer
        return answer["events"]

    def list(self, **query):
        answer = self.get("/v1/requests", query=query)
        assert answer.status == 200, answer
        return answer["requests"]


class Server:
    """`holdpoint serve` with a data directory of its own. Usable as a context; start() again after stop() or kill()."""

    def __init__(self, *flags, data=None, env=None, binary_path=None, host="127.0.0.1", listen_host=None, wrapper=()):
        self.flags = list(flags)
        self.owns_data = data is None
        self.data = pathlib.Path(data or tempfile.mkdtemp(prefix="holdpoint-e2e-"))
        self.env = env or {}
        self.binary = binary_path or binary()
        self.host = host
        self.listen_host = listen_host or host
        self.wrapper = list(wrapper)
        self.port = free_port()
        self.is_tls = "--tls-cert" in self.flags
        self.ca_file = self.flags[self.flags.index("--tls-cert") + 1] if self.is_tls else None
        self.process = None
        self.log_path = pathlib.Path(tempfile.mkstemp(prefix="holdpoint-log-")[1])
        self.clients = []
        self.keys = {}

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.close()

    @property
    def url(self):
        return f"{'https' if self.is_tls else 'http'}://{self.host}:{self.port}"

    def command(self):
        extra = shlex.split(os.environ.get("HOLDPOINT_FLAGS", ""))
        return [*self.wrapper, self.binary, "serve", "--data", str(self.data), "--listen",
                f"{self.listen_host}:{self.port}", *extra, *self.flags]

    def spawn(self):
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            env={**os.environ, **self.env})
        return self

    def start(self, timeout_s=PATIENCE_S):
        self.spawn()
        self.wait_ready(timeout_s)
        return self

    def wait_ready(self, timeout_s=PATIENCE_S):
        deadline = time.monotonic() + timeout_s
        while True:
            if self.process.poll() is not None:
                raise AssertionError(f"the server ended with {self.process.returncode} instead of serving:\n{self.log()}")
            if self.is_ready():
                return
            if time.monotonic() > deadline:
                self.kill()
                raise AssertionError(f"the server is not ready after {timeout_s} s:\n{self.log()}")
            time.sleep(0.003)

    def is_ready(self):
        probe = Client(self, checked=False, timeout_s=5)
        try:
            return probe.get("/readyz").status == 200
        except OSError:
            return False
        except http.client.HTTPException:
            return False
        finally:
            probe.close()

    def stop(self, timeout_s=PATIENCE_S):
        """Graceful; returns the exit code."""
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"the server did not stop within {timeout_s} s:\n{self.log()}")
        finally:
            self.forget_connections()

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        self.forget_connections()

    def restart(self):
        self.stop()
        return self.start()

    def forget_connections(self):
        for client in self.clients:
            client.close()

    def close(self):
        self.kill()
        if self.owns_data and not os.environ.get("HOLDPOINT_KEEP"):
            shutil.rmtree(self.data, ignore_errors=True)
        self.log_path.unlink(missing_ok=True)

    def log(self, lines=60):
        try:
            return "\n".join(self.log_path.read_text(errors="replace").splitlines()[-lines:])
        except OSError:
            return ""

    @property
    def admin_key(self):
        return (self.data / "admin.key").read_text().strip()

    def client(self, key=None, **more):
        client = Client(self, key, **more)
        self.clients.append(client)
        return client

    @property
    def admin(self):
        return self.client(self.admin_key)

    def new_key(self, role, name, **more):
        answer = self.admin.post("/v1/keys", {"role": role, "name": name, **more})
        assert answer.status == 201, answer
        return answer.json

    def actor(self, role, name, **more):
        """A client with a key of this role; the key is made once and kept."""
        if (role, name) not in self.keys:
            self.keys[role, name] = self.new_key(role, name, **more)["key"]
        return self.client(self.keys[role, name])

    def sign_in(self, name, password):
        answer = self.client(wanders=True).post("/v1/session", {"name": name, "password": password})
        assert answer.status == 201, answer
        cookie = answer.headers["Set-Cookie"].split(";")[0]
        return self.client(cookie=cookie, csrf=answer["csrf"])

    def assets(self):
        """The scripts and styles that the inbox's page names; empty if this binary was built without it."""
        return re.findall(r'"(/assets/[^"]+)"', self.client().get("/").body.decode())

    def person_with_session(self, name, role="approver", password="correct horse battery", groups=()):
        answer = self.admin.post("/v1/users", {"name": name, "role": role, "password": password,
                                               "groups": list(groups)})
        assert answer.status == 201, answer
        return self.sign_in(name, password)


class ServerTest(unittest.TestCase):
    """One server for the whole class, with an agent, another agent, two approvers, an auditor and an admin."""

    flags = ()
    server = None

    @classmethod
    def setUpClass(cls):
        cls.server = Server(*cls.flags).start()
        cls.agent = cls.server.actor("agent", "billing-bot")
        cls.other_agent = cls.server.actor("agent", "mail-bot")
        cls.ann = cls.server.actor("approver", "ann")
        cls.bob = cls.server.actor("approver", "bob")
        cls.auditor = cls.server.actor("auditor", "olga")
        cls.admin = cls.server.admin

    @classmethod
    def tearDownClass(cls):
        if cls.server:
            cls.server.close()

    def run(self, result=None):
        before = len(result.failures) + len(result.errors) if result else 0
        outcome = super().run(result)
        if result and len(result.failures) + len(result.errors) > before and self.server:
            print(f"--- log of the server in {self.id()} ---\n{self.server.log()}\n---", file=sys.stderr)
        return outcome

    def fresh(self, label="s"):
        """A label that no other test of this process uses."""
        ServerTest.count = getattr(ServerTest, "count", 0) + 1
        return f"{label}-{os.getpid()}-{ServerTest.count}"

    def assertStatus(self, answer, status, code=None, field=None):
        self.assertEqual(answer.status, status, answer)
        if code is not None:
            self.assertEqual(answer.error["code"], code, answer)
        if field is not None:
            self.assertEqual(answer.error.get("field"), field, answer)


def about(data):
    """The id of the request that an event is about."""
    request = data["request"]
    return request if isinstance(request, str) else request["id"]


class EventReader:
    """Reads /v1/events on a thread of its own. `events` are those received; `next()` takes them one by one."""

    def __init__(self, client, query=None, last_event_id=None, checked=True):
        self.checked = checked
        self.events = []
        self.comments = []
        self.beats = []  # how many events had come by each of them
        self.retry = None
        self.problems = []
        self.closed = threading.Event()
        self.queue = queue.Queue()
        self.connection = client.connect()
        headers = {**client.credentials("GET"), "Accept": "text/event-stream"}
        if last_event_id is not None:
            headers["Last-Event-ID"] = str(last_event_id)
        target = "/v1/events" + ("?" + urllib.parse.urlencode(query) if query else "")
        self.connection.request("GET", target, headers=headers)
        self.response = self.connection.getresponse()
        assert self.response.status == 200, (self.response.status, self.response.read())
        assert self.response.headers["Content-Type"].startswith("text/event-stream"), self.response.headers
        SEEN["streamEvents", "200"] += 1
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        event = {}
        try:
            for line in self.lines():
                line = line.decode().rstrip("\r")
                if line.startswith(":"):
                    self.comments.append(line)
                elif line == "":
                    if "event" in event or "data" in event:
                        self.take(event)
                    event = {}
                else:
                    name, _, value = line.partition(":")
                    value = value.removeprefix(" ")
                    if name == "retry":
                        self.retry = int(value)
                    elif name == "data" and "data" in event:
                        event["data"] += "\n" + value
                    else:
                        event[name] = value
        except (OSError, http.client.HTTPException, ValueError, AttributeError):
            pass
        finally:
            self.closed.set()
            self.queue.put(None)

    def lines(self):
        # Not readline(): on a chunked body it goes byte by byte.
        rest = b""
        while chunk := self.response.read1(65536):
            *whole, rest = (rest + chunk).split(b"\n")
            yield from whole

    def take(self, event):
        if event.get("event") == "beat":
            if event != {"event": "beat", "data": "{}"}:
                self.problems.append(f"a beat is not only a beat: {event}")
            return self.beats.append(len(self.events))
        data = json.loads(event["data"])
        entry = {"id": event.get("id"), "event": event.get("event"), "data": data}
        if self.checked and entry["event"] == "presence":
            self.problems += SPEC.validator.errors(data, {"$ref": "#/components/schemas/Viewers"})
        elif self.checked and entry["event"] != "reconnect":
            self.problems += SPEC.validator.errors(data, {"$ref": "#/components/schemas/Event"})
            if str(data.get("seq")) != entry["id"] or data.get("type") != entry["event"]:
                self.problems.append(f"id or name differ from the data: {entry['id']} {entry['event']}")
        self.events.append(entry)
        self.queue.put(entry)

    def next(self, timeout_s=PATIENCE_S):
        try:
            entry = self.queue.get(timeout=timeout_s)
        except queue.Empty:
            raise AssertionError(f"no event within {timeout_s} s; so far {[e['event'] for e in self.events]}")
        assert not self.problems, self.problems
        assert entry is not None, "the stream ended"
        return entry

    def until(self, name, id=None):
        """Takes events up to the first with this name (and about this request), and returns them all."""
        taken = []
        while True:
            entry = self.next()
            taken.append(entry)
            if entry["event"] == name and (id is None or about(entry["data"]) == id):
                return taken

    def close(self):
        # The reader blocks in recv; shutting the socket down wakes it, closing the file alone does not.
        try:
            sock = self.connection.sock or getattr(self.response.fp.raw, "_sock", None)
            if sock:
                sock.shutdown(socket.SHUT_RDWR)
        except (OSError, AttributeError):
            pass
        self.thread.join(5)
        self.connection.close()


def raw_exchange(server, data, timeout_s=15.0, half_close=True):
    """Sends bytes as they are and returns everything that comes back until the server closes or the time is over."""
    with socket.create_connection((server.host, server.port), timeout=timeout_s) as sock:
        try:
            sock.sendall(data)
            if half_close:
                sock.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # refused while still sending: what it said before is what counts
        received = b""
        try:
            while chunk := sock.recv(65536):
                received += chunk
        except OSError:
            pass
        return received


def raw_statuses(received):
    """The status codes of the answers in a byte stream."""
    return [int(code) for code in re.findall(rb"HTTP/1\.[01] (\d{3}) ", received)]


class FastClient:
    """A bare socket with pipelining, for races and crashes: little more than the bytes themselves."""

    def __init__(self, host, port, key, timeout_s=30.0):
        self.where = (host, port)
        self.auth = f"Host: {host}:{port}\r\nAuthorization: Bearer {key}\r\n"
        self.timeout_s = timeout_s
        self.sock = None
        self.buffer = b""

    def close(self):
        if self.sock:
            self.sock.close()
        self.sock = None
        self.buffer = b""

    def encode(self, method, target, body=None, headers=""):
        if body is None:
            return f"{method} {target} HTTP/1.1\r\n{self.auth}{headers}\r\n".encode()
        data = body if isinstance(body, bytes) else json.dumps(body, separators=(",", ":")).encode()
        head = (f"{method} {target} HTTP/1.1\r\n{self.auth}{headers}Content-Type: application/json\r\n"
                f"Content-Length: {len(data)}\r\n\r\n")
        return head.encode() + data

    def connect(self):
        if self.sock is None:
            self.sock = socket.create_connection(self.where, timeout=self.timeout_s)
            self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.buffer = b""

    def send(self, data):
        self.connect()
        self.sock.sendall(data)

    def receive(self):
        """One answer: (status, body). Raises OSError when the connection ends before it is complete."""
        while True:
            end = self.buffer.find(b"\r\n\r\n")
            if end >= 0:
                break
            self.more()
        head = self.buffer[:end].lower()
        status = int(head[9:12])
        at = head.find(b"content-length:")
        length = int(head[at + 15:].split(b"\r\n", 1)[0]) if at >= 0 else 0
        while len(self.buffer) < end + 4 + length:
            self.more()
        body = self.buffer[end + 4:end + 4 + length]
        self.buffer = self.buffer[end + 4 + length:]
        return status, body

    def more(self):
        chunk = self.sock.recv(262144)
        if not chunk:
            raise ConnectionError("the server closed the connection")
        self.buffer += chunk

    def call(self, method, target, body=None, headers=""):
        self.send(self.encode(method, target, body, headers))
        return self.receive()

    def many(self, calls, window=16):
        """Pipelines (method, target, body, headers) and returns the answers in order."""
        answers = []
        for start in range(0, len(calls), window):
            part = calls[start:start + window]
            self.send(b"".join(self.encode(*call) for call in part))
            answers += [self.receive() for _ in part]
        return answers

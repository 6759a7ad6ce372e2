"""The same afternoon's work on asyncio and sqlite3, for machines whose Node has no node:sqlite.

    python3 approvals.py PORT memory
    python3 approvals.py PORT sqlite FILE     one synced write per change

Speaks HTTP/1.1 by hand, since the standard library has no asynchronous server: faster than a
framework would be.
"""

import asyncio
import json
import sqlite3
import sys
import uuid


class MemoryStore:
    def insert(self, request_id, body):
        pass

    def update(self, request_id, decision):
        pass


class SqliteStore:
    def __init__(self, path):
        self.db = sqlite3.connect(path, isolation_level=None)
        self.db.execute("PRAGMA journal_mode=WAL")
        self.db.execute("PRAGMA synchronous=FULL")
        self.db.execute(
            "CREATE TABLE request (id TEXT PRIMARY KEY, body TEXT, decision TEXT) WITHOUT ROWID")

    def insert(self, request_id, body):
        self.db.execute("INSERT INTO request (id, body) VALUES (?, ?)", (request_id, body))

    def update(self, request_id, decision):
        self.db.execute("UPDATE request SET decision = ? WHERE id = ?", (decision, request_id))


class Request:
    def __init__(self, body):
        self.id = str(uuid.uuid4())
        self.body = body
        self.decision = None
        self.waiting = []

    def resource(self):
        outcome = '"approved"' if self.decision else "null"
        decision = self.decision or "null"
        return f'{{"id":"{self.id}","outcome":{outcome},"request":{self.body},"decision":{decision}}}'


class Connection(asyncio.Protocol):
    def __init__(self, requests, store):
        self.requests = requests
        self.store = store
        self.buffer = b""

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.buffer += data
        while (head_end := self.buffer.find(b"\r\n\r\n")) >= 0:
            head = self.buffer[:head_end]
            at = head.find(b"Content-Length: ")
            length = int(head[at + 16:].split(b"\r\n", 1)[0]) if at >= 0 else 0
            end = head_end + 4 + length
            if len(self.buffer) < end:
                return
            body = self.buffer[head_end + 4:end].decode()
            self.buffer = self.buffer[end:]
            method, target, _ = head.split(b" ", 2)
            self.handle(method, target.decode().split("?")[0].split("/"), body)

    def handle(self, method, path, body):
        if len(path) == 3:
            return self.create(body)
        request = self.requests.get(path[3])
        if request is None:
            return self.answer(404, "{}")
        if method == b"GET":
            return self.wait(request)
        return self.decide(request, body)

    def create(self, body):
        json.loads(body)
        request = Request(body)
        self.store.insert(request.id, body)
        self.requests[request.id] = request
        self.answer(201, request.resource())

    def wait(self, request):
        if request.decision is None:
            request.waiting.append(self)
            return
        self.answer(200, request.resource())
        del self.requests[request.id]

    def decide(self, request, body):
        if request.decision is not None:
            return self.answer(409, "{}")
        # Written as the driver looks for it, without spaces.
        decision = json.dumps(json.loads(body), separators=(",", ":"))
        self.store.update(request.id, decision)
        request.decision = decision
        text = request.resource()
        for waiter in request.waiting:
            waiter.answer(200, text)
        self.answer(200, text)
        if request.waiting:
            del self.requests[request.id]

    def answer(self, status, text):
        body = text.encode()
        head = f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        self.transport.write(head.encode() + body)


async def main():
    port, kind = int(sys.argv[1]), sys.argv[2]
    store = SqliteStore(sys.argv[3]) if kind == "sqlite" else MemoryStore()
    requests = {}
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: Connection(requests, store), "127.0.0.1", port, backlog=1024)
    await server.serve_forever()


asyncio.run(main())

#!/usr/bin/env python3
"""Many who wait: every one of them is answered, nobody is forgotten, and they cost little (S1, X4).

    load_test.py [--waiters N] [--streams N]

Prints one line of JSON with what was measured. It is a check, not a benchmark: `bench/` measures.
"""
import argparse
import json
import pathlib
import resource
import selectors
import socket
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "e2e"))

from harness import FastClient, Server, eventually  # noqa: E402

# Far above the target of the design, which `bench/` checks: this only catches a thread or a page per waiter.
KIB_PER_WAITER_MAX = 16


def memory_kib(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise AssertionError("no VmRSS")


def open_descriptors(pid):
    return len(list(pathlib.Path(f"/proc/{pid}/fd").iterdir()))


def open_many(server, texts):
    """One connection for each text, written and left open."""
    sockets = []
    for text in texts:
        sock = socket.create_connection((server.host, server.port))
        sock.sendall(text.encode())
        sockets.append(sock)
    return sockets


def read_until(sockets, needle, timeout_s):
    """Reads from all of them until each has had `needle`; returns how many have."""
    selector = selectors.DefaultSelector()
    received = {}
    for sock in sockets:
        sock.setblocking(False)
        selector.register(sock, selectors.EVENT_READ)
        received[sock] = b""
    missing = set(sockets)
    deadline = time.monotonic() + timeout_s
    while missing and time.monotonic() < deadline:
        for key, _ in selector.select(1):
            chunk = key.fileobj.recv(1 << 16)
            if not chunk:
                selector.unregister(key.fileobj)
                missing.discard(key.fileobj) if needle in received[key.fileobj] else None
                continue
            received[key.fileobj] += chunk
            if needle in received[key.fileobj]:
                missing.discard(key.fileobj)
    selector.close()
    return len(sockets) - len(missing)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--waiters", type=int, default=1000)
    parser.add_argument("--streams", type=int, default=100)
    options = parser.parse_args()
    wanted = options.waiters + options.streams + 200
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(max(soft, wanted), hard), hard))

    with Server("--decisions-per-key", "0") as server:
        agent, ann = server.actor("agent", "bot"), server.actor("approver", "ann")
        quick = FastClient(server.host, server.port, agent.key)
        body = {"action": {"tool": "t", "arguments": {"a": 1}}, "session": "load", "timeout_s": 3600}
        ids = [json.loads(text)["id"] for _, text in quick.many([("POST", "/v1/requests", body, "")] * options.waiters)]
        pid = server.process.pid
        before_kib, before_fds = memory_kib(pid), open_descriptors(pid)

        head = f"HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {agent.key}\r\n\r\n"
        waiting = open_many(server, [f"GET /v1/requests/{id}?wait=250 {head}" for id in ids])
        streams = open_many(server, [f"GET /v1/events?session=load {head}"] * options.streams)
        eventually(lambda: ann.get("/v1/stats")["waiters"] == options.waiters, "everybody waits", timeout_s=60)
        eventually(lambda: ann.get("/v1/stats")["streams"] == options.streams, "everybody listens", timeout_s=60)
        per_waiter = (memory_kib(pid) - before_kib) / (options.waiters + options.streams)

        person = FastClient(server.host, server.port, ann.key)
        started = time.monotonic()
        answers = person.many([("POST", f"/v1/requests/{id}/decision", {"decision": "approve"}, "") for id in ids[:-1]])
        assert {status for status, _ in answers} == {200}
        last = person.call("POST", f"/v1/requests/{ids[-1]}/decision", {"decision": "reject", "reason": "the last one"})
        assert last[0] == 200, last
        answered = read_until(waiting, b'"state":"settled"', 60)
        told = read_until(streams, b"the last one", 60)
        took = time.monotonic() - started
        for sock in waiting + streams:
            sock.close()
        eventually(lambda: ann.get("/v1/stats")["waiters"] == 0, "no waiter is left")
        eventually(lambda: ann.get("/v1/stats")["streams"] == 0, "no stream is left")
        eventually(lambda: open_descriptors(pid) <= before_fds + 8, "every connection is closed")
        print(json.dumps({"waiters": options.waiters, "answered": answered, "streams": options.streams, "told": told,
                          "seconds": round(took, 2), "kib_per_waiter": round(per_waiter, 2)}))
        if answered != options.waiters or told != options.streams:
            print("somebody was forgotten", file=sys.stderr)
            return 1
        if per_waiter > KIB_PER_WAITER_MAX:
            print(f"a waiter costs {per_waiter:.1f} KiB", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

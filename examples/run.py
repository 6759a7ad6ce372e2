#!/usr/bin/env python3
"""Runs an example on a terminal of its own, types what a person would, and compares what it prints.

    run.py PROGRAM EXPECTED          EXPECTED.out is the output, EXPECTED.in what is typed (may be missing)
    run.py --write PROGRAM EXPECTED  writes EXPECTED.out instead
    run.py --server PROGRAM EXPECTED runs it with a server of its own, where a person sits who approves refunds up to 100,
                                     cuts those up to 1000 down to that and rejects the rest

Each line is typed when the program asks for something: when its output ends in "> ".
"""
import contextlib
import difflib
import os
import pathlib
import pty
import select
import subprocess
import sys
import termios
import threading
import time

DEADLINE_S = 50


@contextlib.contextmanager
def server():
    """A server, and in the environment how an agent reaches it."""
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "e2e"))
    from harness import Server  # noqa: PLC0415
    with Server() as running:
        os.environ.update(HOLDPOINT_URL=running.url, HOLDPOINT_TOKEN=running.new_key("agent", "clerk")["key"])
        ann = running.actor("approver", "ann")
        is_over = threading.Event()
        person = threading.Thread(target=decide, args=(ann, is_over))
        person.start()
        try:
            yield
        finally:
            is_over.set()
            person.join()


def decide(ann, is_over):
    while not is_over.wait(0.05):
        for request in ann.get("/v1/requests", query={"state": "pending"}).json["requests"]:
            arguments = request["action"]["arguments"]
            if arguments["amount"] <= 100:
                ann.decide(request)
            elif arguments["amount"] <= 1000:
                ann.decide(request, "modify", arguments=dict(arguments, amount=100))
            else:
                ann.decide(request, "reject", reason="ask the boss")


def run(program, lines):
    ours, theirs = pty.openpty()
    attributes = termios.tcgetattr(theirs)
    attributes[3] &= ~termios.ECHO
    attributes[1] &= ~termios.OPOST
    termios.tcsetattr(theirs, termios.TCSANOW, attributes)
    environment = dict(os.environ, NO_COLOR="1", TERM="xterm")
    process = subprocess.Popen([program], stdin=theirs, stdout=theirs, stderr=subprocess.STDOUT, env=environment)
    os.close(theirs)
    output, deadline, lines = b"", time.monotonic() + DEADLINE_S, list(lines)
    while time.monotonic() < deadline:
        ready, _, _ = select.select([ours], [], [], 0.1)
        if not ready:
            continue
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the program has ended
            break
        if not piece:
            break
        output += piece
        if output.endswith(b"> ") and lines:
            line = lines.pop(0)
            os.write(ours, line.encode() + b"\n")
            output += line.encode() + b"\n"
    process.kill() if process.poll() is None and time.monotonic() >= deadline else None
    return output.decode(), process.wait(), lines


def main():
    arguments = sys.argv[1:]
    writes = "--write" in arguments
    program, expected = arguments[-2:]
    typed = pathlib.Path(expected + ".in")
    with server() if "--server" in arguments else contextlib.nullcontext():
        output, code, left = run(program, typed.read_text().splitlines() if typed.exists() else [])
    target = pathlib.Path(expected + ".out")
    if writes:
        target.write_text(output)
        return 0
    difference = list(difflib.unified_diff(target.read_text().splitlines(), output.splitlines(), "expected", "printed", lineterm=""))
    print("\n".join(difference) or output)
    if code or left:
        print(f"ended with {code}; lines nobody asked for: {left}")
    return 1 if difference or code or left else 0


if __name__ == "__main__":
    sys.exit(main())

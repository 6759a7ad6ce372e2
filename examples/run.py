#!/usr/bin/env python3
"""Runs an example on a terminal of its own, types what a person would, and compares what it prints.

    run.py PROGRAM EXPECTED          EXPECTED.out is the output, EXPECTED.in what is typed (may be missing)
    run.py --write PROGRAM EXPECTED  writes EXPECTED.out instead

Each line is typed when the program asks for something: when its output ends in "> ".
"""
import difflib
import os
import pathlib
import pty
import select
import subprocess
import sys
import termios
import time

DEADLINE_S = 50


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
    writes = arguments[0] == "--write"
    program, expected = arguments[-2:]
    typed = pathlib.Path(expected + ".in")
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

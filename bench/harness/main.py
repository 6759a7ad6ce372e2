"""Takes every figure of docs/benchmarks.md in one run. See bench/run."""

import datetime
import json
import os
import platform
import shutil
import sqlite3
import subprocess
import sys
import time
import traceback

import machine
import peers
import policy
import tls
from figures import Figures, aligned, comparisons, markdown, number
from server import ROOT, Failed, Holdpoint, Process, free_port

# Of the thousand ids that fill writes down; the rest stays pending, for the lists to find.
DECIDED_MAX = 900
PART_NAMES = ("limits", "roundtrip", "latency", "create", "park", "peers", "rows", "micro",
              "policy", "installed")


def setting(name, otherwise):
    return type(otherwise)(os.environ.get(name) or otherwise)


class Bench:
    """One run. Each part adds its figures; a part that fails costs only its own."""

    def __init__(self, build):
        self.build = build
        self.binary = os.path.join(build, "holdpoint")
        self.seconds = setting("BENCH_SECONDS", 2.0)
        self.runs = setting("BENCH_RUNS", 3)
        self.rows = setting("BENCH_ROWS", 1_000_000)
        self.parked = setting("BENCH_PARKED", 10_000)
        # Their own driver holds fifty times as much memory for each as the server does.
        self.parked_over_tls = min(self.parked, 1_000)
        self.pin = setting("BENCH_PIN", str(os.cpu_count() - 1) if os.cpu_count() > 1 else "none")
        self.end = time.monotonic() + setting("BENCH_TOTAL", 360.0)
        # Beside the build, not in /tmp: that may be memory, where a sync costs nothing.
        self.directory = os.path.abspath(
            os.environ.get("BENCH_DIR") or os.path.join(build, "bench-data"))
        self.figures = Figures()
        self.notes = []
        shutil.rmtree(self.directory, ignore_errors=True)
        os.makedirs(self.directory, mode=0o700)

    # --- tools

    def program(self, name):
        return os.path.join(self.build, "bench", name)

    def say(self, text):
        print(f"  {text}", file=sys.stderr, flush=True)

    def left(self):
        return self.end - time.monotonic()

    def fresh(self, name):
        return Holdpoint(self.binary, os.path.join(self.directory, name))

    def run_json(self, command, timeout):
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
        except subprocess.TimeoutExpired:
            raise Failed(f"{os.path.basename(command[0])} did not end within {timeout:.0f} s") from None
        if done.returncode != 0:
            raise Failed(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else
                         f"status {done.returncode}")
        return json.loads(done.stdout)

    def load(self, process, mode, *options, holdpoint=None, seconds=None):
        """Drives `process` once; the answer, with the cores that others used meanwhile."""
        seconds = seconds or self.seconds
        command = [self.program("load"), mode, "--port", str(process.port), "--seconds", str(seconds)]
        if self.pin != "none":
            command += ["--pin", self.pin]
        if holdpoint:
            command += ["--agent-keys", holdpoint.agents, "--person-keys", holdpoint.people]
        meter = machine.Meter(process.pid)
        answer = self.run_json(command + [str(o) for o in options], seconds + 120)
        answer["foreign"], answer["server_cores"] = meter.stop()
        if answer.get("errors"):
            raise Failed(f"{answer['errors']} wrong answers")
        return answer

    def add(self, key, name, unit, group, value, foreign=None):
        figure = self.figures.declare(key, name, unit, group)
        figure.values.append(value)
        if foreign is not None:
            figure.foreign.append(foreign)

    # --- the machine itself

    def limits(self):
        group = "This machine"
        for _ in range(self.runs):
            found = self.run_json([self.program("limits"), self.directory, str(self.seconds / 2)],
                                  self.seconds * 2 + 30)
            for key, name in (("sync_4k", "append 4 KB + fdatasync"),
                              ("sync_64k", "append 64 KB + fdatasync"),
                              ("ping_pong", "one byte there and back over loopback")):
                self.add(key, name, "/s", group, found[key + "_per_s"])
                self.add(key + "_p50", f"{name}, p50", "ms", group, found[key + "_ms"]["p50"])
        port = free_port()
        log = os.path.join(self.directory, "bare_http.log")
        with Process([self.program("bare_http"), str(port)], log, port).wait() as process:
            for _ in range(self.runs):
                found = self.load(process, "create", "--clients", 64, seconds=self.seconds / 2)
                self.add("bare_http", "bare epoll server, answers to 1 KB posts, 64 clients", "/s", group,
                         found["per_s"], found["foreign"])

    # --- Holdpoint

    def roundtrip(self):
        holdpoint = self.fresh("roundtrip")
        with holdpoint.start() as process:
            for clients in (1, 16, 64):
                for _ in range(self.runs):
                    found = self.load(process, "roundtrip", "--clients", clients, holdpoint=holdpoint)
                    name = f"round trips, {clients} client{'s' if clients > 1 else ''}"
                    self.add(f"rt{clients}", name, "/s", "Holdpoint", found["per_s"], found["foreign"])
                    self.add(f"rt{clients}_p99", f"{name}: decision → resumed, p99", "ms", "Holdpoint",
                             found["resume_ms"]["p99"])
                    self.say(f"{name}: {found['per_s']:,.0f}/s, server {found['server_cores']:.2f} "
                             f"cores, driver {found['driver_cores']:.2f}, others {found['foreign']:.2f}")
        holdpoint.remove()

    def latency(self):
        holdpoint = self.fresh("latency")
        with holdpoint.start() as process:
            for _ in range(self.runs):
                found = self.load(process, "latency", holdpoint=holdpoint)
                self.add_latency("latency", "decision → resumed, one client", "Holdpoint", found)
        holdpoint.remove()

    def add_latency(self, key, name, group, found):
        for part in ("p50", "p99"):
            self.add(f"{key}_{part}", f"{name}, {part}", "ms", group, found["resume_ms"][part],
                     found["foreign"])

    def create(self):
        # A store of its own for every run: otherwise each would have more rows than the last.
        for turn in range(self.runs):
            holdpoint = self.fresh(f"create-{turn}")
            with holdpoint.start() as process:
                found = self.load(process, "create", "--clients", 64, holdpoint=holdpoint)
                self.add("create64", "creates, 64 clients, saturated", "/s", "Holdpoint", found["per_s"],
                         found["foreign"])
                self.add("create64_p99", "creates, 64 clients, saturated: p99", "ms", "Holdpoint",
                         found["create_ms"]["p99"])
                self.say(f"creates: {found['per_s']:,.0f}/s, server {found['server_cores']:.2f} cores, "
                         f"driver {found['driver_cores']:.2f}, others {found['foreign']:.2f}")
            holdpoint.remove()
        for turn in range(self.runs):
            holdpoint = self.fresh(f"rate-{turn}")
            with holdpoint.start() as process:
                found = self.load(process, "create", "--clients", 64, "--rate", 20_000,
                                  holdpoint=holdpoint)
                self.add("create_rate", "creates answered when 20,000/s come", "/s", "Holdpoint",
                         found["per_s"], found["foreign"])
                for part in ("p50", "p99"):
                    self.add(f"create_rate_{part}", f"creates at 20,000/s, {part} from when due", "ms",
                             "Holdpoint", found["create_ms"][part], found["foreign"])
            holdpoint.remove()

    def park(self):
        for kind in ("long-poll", "sse"):
            for turn in range(self.runs):
                if self.left() < 15:
                    raise Failed("out of time")
                self.park_once(kind, turn)
        for _ in range(self.runs):
            tls.measure(self, self.parked_over_tls)

    def park_once(self, kind, turn):
        holdpoint = self.fresh(f"park-{kind}-{turn}")
        ids = os.path.join(holdpoint.directory, "ids")
        with holdpoint.start() as process:
            self.load(process, "create", "--clients", 64, "--count", self.parked, "--ids", ids,
                      holdpoint=holdpoint)
        # The server is started anew: memory left free by the creates would hide the waiters'.
        with holdpoint.start() as process:
            options = ["--sse"] if kind == "sse" else []
            found = self.load(process, "park", "--ids", ids, "--parked", self.parked, "--pid", process.pid,
                              *options, holdpoint=holdpoint)
            name = f"{self.parked:,} parked {'event streams' if kind == 'sse' else 'long polls'}"
            self.add(f"park_{kind}_bytes", f"{name}: resident memory each", "bytes", "Holdpoint",
                     found["bytes_per_waiter"])
            self.add(f"park_{kind}_rss", f"{name}: the whole process", "MB", "Holdpoint",
                     found["rss_after"] / 1e6)
            for part in ("p50", "p99"):
                self.add(f"park_{kind}_wake_{part}", f"{name}: decision → wake-up, {part}", "ms", "Holdpoint",
                         found["wake_ms"][part], found["foreign"])
            self.say(f"{name}: {found['bytes_per_waiter']:,.0f} bytes each "
                     f"({found['private_bytes_per_waiter']:,.0f} private)")
            process.kill()  # ten thousand farewells would cost a second
        holdpoint.remove()

    def stored_rows(self):
        """Restarts and lists: an empty store, a thousand rows, and as many as asked."""
        empty, small, big = self.fresh("empty"), self.fresh("small"), self.fresh("big")
        for holdpoint in (empty, small, big):
            with holdpoint.start():
                pass
        self.fill(small, 1000)
        made = self.fill(big, self.rows)
        for holdpoint, key, name in ((empty, "empty", "an empty store"),
                                     (big, "big", f"{made:,} pending")):
            self.restarts(holdpoint, key, name, made if key == "big" else 0)
        for holdpoint, key, rows in ((small, "small", 1000), (big, "big", made)):
            self.lists(holdpoint, key, rows)
        for holdpoint in (empty, small, big):
            holdpoint.remove()

    def fill(self, holdpoint, rows):
        seconds_max = max(10.0, min(self.left() / 2, 120.0))
        found = self.run_json(
            [self.program("fill"), holdpoint.database, str(rows), "bench-agent-0",
             os.path.join(holdpoint.directory, "ids"), str(seconds_max)], seconds_max + 120)
        if rows > 1000:
            self.say(f"stored {found['rows']:,} requests in {found['seconds']} s")
            if found["rows"] < rows:
                self.notes.append(f"The big store has {found['rows']:,} rows instead of {rows:,}: "
                                  "there was no time for more.")
        return found["rows"]

    def restarts(self, holdpoint, key, name, pending):
        for _ in range(self.runs):
            with holdpoint.start() as process:
                self.add(f"restart_{key}_clean", f"restart with {name}, after a clean stop", "ms",
                         "Holdpoint", process.ready_s * 1000)
                found = holdpoint.stats(process.port)["pending"]
                if found != pending:
                    raise Failed(f"{found} pending after a restart instead of {pending}")
                process.kill()
            with holdpoint.start() as process:
                self.add(f"restart_{key}_killed", f"restart with {name}, after kill -9", "ms", "Holdpoint",
                         process.ready_s * 1000)

    def lists(self, holdpoint, key, rows):
        share = DECIDED_MAX // self.runs
        with holdpoint.start() as process:
            for turn in range(self.runs):
                # Each run decides requests of its own.
                found = self.load(process, "list", "--ids", os.path.join(holdpoint.directory, "ids"),
                                  "--offset", turn * share, "--count", share, holdpoint=holdpoint)
                self.add(f"{key}_decide", f"decide, {rows:,} stored, p50", "ms", "Holdpoint",
                         found["decide_ms"]["p50"], found["foreign"])
                for question, times in found["list_ms"].items():
                    self.add(f"{key}_{question}", f"list `{question}`, {rows:,} stored, p50", "ms",
                             "Holdpoint", times["p50"], found["foreign"])

    def micro(self):
        found = self.run_json([self.program("micro"), "--benchmark_format=json",
                               f"--benchmark_repetitions={self.runs}", "--benchmark_min_time=0.05"], 60)
        for entry in found["benchmarks"]:
            if entry["run_type"] == "iteration":
                self.add("micro_" + entry["run_name"], entry["run_name"], "ns", "One call in the processor",
                         entry["cpu_time"])

    # --- all of it

    def run(self, parts):
        plan = {"limits": self.limits, "roundtrip": self.roundtrip, "latency": self.latency,
                "create": self.create, "park": self.park, "peers": lambda: peers.own(self),
                "rows": self.stored_rows, "micro": self.micro,
                "policy": lambda: policy.measure(self), "installed": lambda: peers.installed(self)}
        has_failed = False
        for name in parts:
            if self.left() <= 0:
                self.notes.append(f"`{name}` was left out: no time (BENCH_TOTAL).")
                continue
            print(f"== {name}", file=sys.stderr, flush=True)
            try:
                plan[name]()
            except Failed as failure:
                has_failed = True
                self.notes.append(f"`{name}` failed: {failure}.")
                self.say(f"failed: {failure}")
            except Exception as bug:  # five minutes of other figures must not be lost to it
                has_failed = True
                self.notes.append(f"`{name}` broke off: {type(bug).__name__}: {bug}.")
                traceback.print_exc()
        return not has_failed

    def machine_lines(self):
        build_type = next((line.split("=", 1)[1] for line in
                           machine.read(os.path.join(self.build, "CMakeCache.txt")).splitlines()
                           if line.startswith("CMAKE_BUILD_TYPE:")), "")
        return [
            f"Date: {datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M} UTC",
            f"Processor: {machine.cpu_model()}, {os.cpu_count()} cores; memory {machine.memory_gb()} GB",
            f"System: {platform.system()} {platform.release()}; data on {machine.filesystem(self.directory)}",
            f"Versions: {machine.output_of(self.binary, '--version')}; {machine.compiler(self.build)}, "
            f"{build_type}; SQLite {sqlite3.sqlite_version}; Python {platform.python_version()}; "
            f"Node {machine.output_of('node', '--version') or 'none'}",
            f"Each figure: median of {self.runs} runs of {self.seconds:g} s, driver on the same machine, "
            + (f"pinned to core {self.pin}" if self.pin != "none" else "not pinned"),
            f"Others on this machine used up to {number(self.figures.max_foreign(), 'cores')} while a figure "
            "was taken",
        ]

    def report(self):
        head = ["comparison", "value", "target", "met", "against"]
        lines = [line.cells() for line in comparisons(self.figures)]
        print(aligned(head, lines))
        for note in self.notes:
            print(note)
        with open(os.path.join(ROOT, "bench", "RESULTS.md"), "w", encoding="utf-8") as file:
            file.write(self.results(head, lines))

    def results(self, head, lines):
        text = ["# Benchmark results", "", "Written by `make bench`; how to read it: `docs/benchmarks.md`.", ""]
        text += ["- " + line for line in self.machine_lines() + self.notes]
        text += ["", "## Against the targets", "", markdown(head, lines)]
        groups = dict.fromkeys(figure.group for figure in self.figures.by_key.values())
        for group in groups:
            rows = [[f.name, f.shown(), f.spread(), f"{max(f.foreign):.2f}" if f.foreign else ""]
                    for f in self.figures.by_key.values() if f.group == group]
            text += ["", f"## {group}", "", markdown(["what", "median", "min–max", "others' cores"], rows)]
        return "\n".join(text) + "\n"


def main():
    build, parts = os.path.abspath(sys.argv[1]), sys.argv[2:] or list(PART_NAMES)
    unknown = [part for part in parts if part not in PART_NAMES]
    if unknown:
        sys.exit(f"bench: no part `{unknown[0]}`; there are {', '.join(PART_NAMES)}")
    bench = Bench(build)
    try:
        is_fine = bench.run(parts)
        bench.report()
    finally:
        shutil.rmtree(bench.directory, ignore_errors=True)
    sys.exit(0 if is_fine else 1)


main()

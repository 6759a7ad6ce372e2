"""The policy engine, and beside it those of npm on the same ten rules."""

import os
import shutil
import subprocess

from server import ROOT, Failed

GROUP = "Policy"
PEERS_GROUP = "Policy engines from npm, the same ten rules"
FOLDER = os.path.join(ROOT, "bench", "policy_peers")
ENGINES = ("@marcbachmann/cel-js", "casbin", "@cedar-policy/cedar-wasm")
NAMES = {
    "ungated_tool": "a tool that nothing looks at",
    "ten_rules_allowed": "ten candidate rules, allowed",
    "ten_rules_held": "ten candidate rules, held",
    "thousand_rules_each": "1,000 rules over 100 tools, with paths and regular expressions",
    "bytes_to_verdict": "from the bytes of a proposal to the verdict, ten rules",
    "lists_held": "lists of tools only, held",
    "load_thousand_rules": "load 1,000 rules",
}


def measure(bench):
    found = bench.run_json([bench.program("policy_bench"), "--benchmark_format=json",
                            f"--benchmark_repetitions={bench.runs}", "--benchmark_min_time=0.1"], 300)
    for entry in found["benchmarks"]:
        if entry["run_type"] != "iteration":
            continue
        if entry.get("error_occurred"):
            raise Failed(f"{entry['run_name']}: {entry['error_message']}")
        key, name = entry["run_name"], NAMES[entry["run_name"]]
        if key == "load_thousand_rules":
            bench.add("policy_" + key, name, "ms", GROUP, entry["cpu_time"] / 1e6)
        else:
            bench.add("policy_" + key, name, "ns", GROUP, entry["cpu_time"])
        if "p99_ns" in entry:
            bench.add(f"policy_{key}_p99", f"{name}, p99", "ns", GROUP, entry["p99_ns"])
    measure_peers(bench)


def measure_peers(bench):
    for engine in ENGINES:
        bench.figures.declare("policy_peer_" + engine, engine, "ns", PEERS_GROUP)
    problem, folder = install(bench)
    if problem:
        for engine in ENGINES:
            bench.figures.by_key["policy_peer_" + engine].problem = problem
        return
    for engine in bench.run_json([shutil.which("node"), os.path.join(folder, "bench.mjs")], 60)["engines"]:
        figure = bench.figures.by_key["policy_peer_" + engine["name"]]
        if "problem" in engine:
            figure.problem = "failed: " + engine["problem"]
        else:
            figure.name = f"{engine['name']} {engine['version']}"
            figure.values.append(engine["ns"])


def install(bench):
    """Puts the packages beside the build, once: (what is in the way or nothing, the folder)."""
    folder = os.path.join(bench.build, "policy_peers")
    npm = shutil.which("npm")
    if not npm or not shutil.which("node"):
        return "not installed: needs `node` and `npm` on PATH", folder
    os.makedirs(folder, exist_ok=True)
    for name in ("package.json", "package-lock.json", "bench.mjs"):
        shutil.copy(os.path.join(FOLDER, name), folder)
    if all(os.path.exists(os.path.join(folder, "node_modules", engine)) for engine in ENGINES):
        return "", folder
    bench.say("installing policy engines from npm")
    try:
        done = subprocess.run([npm, "ci", "--no-audit", "--no-fund"], cwd=folder, timeout=120,
                              capture_output=True, text=True, check=False)
    except subprocess.TimeoutExpired:
        return "not installed: npm took more than two minutes", folder
    if done.returncode != 0:
        return "not installed: npm could not install them", folder
    return "", folder

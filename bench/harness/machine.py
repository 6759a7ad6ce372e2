"""What the figures were taken on, and who else used the processor meanwhile."""

import os
import platform
import resource
import signal
import subprocess
import time

TICKS = os.sysconf("SC_CLK_TCK")


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def cpu_model():
    for line in read("/proc/cpuinfo").splitlines():
        if line.startswith(("model name", "Model")):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def filesystem(path):
    """Type and options of the mount that holds `path`; what a sync costs depends on it."""
    best = ("", "unknown")
    real = os.path.realpath(path)
    for line in read("/proc/self/mounts").splitlines():
        device, mount, kind, options = line.split()[:4]
        is_parent = mount == "/" or real == mount or real.startswith(mount + "/")
        if is_parent and len(mount) >= len(best[0]):
            name = os.path.basename(device)
            shown = [o for o in options.split(",") if o.split("=")[0] in ("data", "barrier", "nobarrier")]
            best = (mount, " ".join([kind, "on", name] + shown))
    return best[1]


def memory_gb():
    for line in read("/proc/meminfo").splitlines():
        if line.startswith("MemTotal:"):
            return round(int(line.split()[1]) / 1024 / 1024, 1)
    return 0


def resident_bytes(pid):
    for line in read(f"/proc/{pid}/status").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return 0


def output_of(*command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    lines = (done.stdout.strip() or done.stderr.strip()).splitlines()
    return lines[0] if lines and done.returncode == 0 else ""


def compiler(build):
    for line in read(os.path.join(build, "CMakeCache.txt")).splitlines():
        if line.startswith("CMAKE_CXX_COMPILER:"):
            return output_of(line.split("=", 1)[1], "--version")
    return ""


def children_of(pid):
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []
    return [int(child) for thread in threads
            for child in read(f"/proc/{pid}/task/{thread}/children").split()]


def kill_tree(pid):
    """The process and all it started, sessions of their own included."""
    children = children_of(pid)
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    for child in children:
        kill_tree(child)


def busy_s():
    """Processor seconds all cores together spent on programs since boot."""
    user, nice, system = (int(n) for n in read("/proc/stat").split("\n", 1)[0].split()[1:4])
    return (user + nice + system) / TICKS


def process_s(pid):
    fields = read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS if fields else 0.0


def own_s():
    """This program and its children that have ended."""
    mine, theirs = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return mine.ru_utime + mine.ru_stime + theirs.ru_utime + theirs.ru_stime


class Meter:
    """Cores that others used between start and stop: above 0.2 a figure is doubtful."""

    def __init__(self, pid):
        self.pid = pid
        self.start = (time.monotonic(), busy_s(), own_s(), process_s(pid))

    def stop(self):
        seconds = time.monotonic() - self.start[0]
        others = (busy_s() - self.start[1]) - (own_s() - self.start[2])
        server = process_s(self.pid) - self.start[3]
        return max(0.0, others - server) / seconds, server / seconds

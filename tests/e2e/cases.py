"""Plays spec/cases/*.json against a server; see spec/cases/README.md."""
import json
import os
import re
import time

from harness import ROOT

ACTORS = {"agent": ("agent", "billing-bot"), "other_agent": ("agent", "mail-bot"), "approver": ("approver", "ann"),
          "approver2": ("approver", "bob"), "auditor": ("auditor", "olga")}


def load_all():
    """(file name, case) of every case."""
    found = []
    for path in sorted((ROOT / "spec" / "cases").glob("*.json")):
        found += [(path.stem, case) for case in json.loads(path.read_text())]
    return found


def fill(value, names):
    """Puts captured values in the place of `${name}`."""
    if isinstance(value, str):
        whole = re.fullmatch(r"\$\{(\w+)\}", value)
        if whole:
            return names[whole[1]]
        return re.sub(r"\$\{(\w+)\}", lambda match: str(names[match[1]]), value)
    if isinstance(value, list):
        return [fill(item, names) for item in value]
    if isinstance(value, dict):
        return {key: fill(item, names) for key, item in value.items()}
    return value


MISSING = object()


def differences(expected, actual, path="body"):
    """How `actual` falls short of the expected subset; empty when it fits."""
    if isinstance(expected, dict) and len(expected) == 1 and next(iter(expected)).startswith("$"):
        (matcher, argument), = expected.items()
        return match(matcher, argument, actual, path)
    if actual is MISSING:
        return [f"{path} is missing"]
    if isinstance(expected, dict):
        if not isinstance(actual, dict):
            return [f"{path} is no object: {actual!r}"]
        return [d for name, value in expected.items()
                for d in differences(value, actual.get(name, MISSING), f"{path}.{name}")]
    if isinstance(expected, list):
        if not isinstance(actual, list) or len(actual) != len(expected):
            return [f"{path} is not an array of {len(expected)}: {actual!r}"[:300]]
        return [d for i, value in enumerate(expected) for d in differences(value, actual[i], f"{path}[{i}]")]
    if type(expected) is bool or type(actual) is bool:
        return [] if expected is actual else [f"{path} is {actual!r} instead of {expected!r}"]
    return [] if expected == actual else [f"{path} is {actual!r} instead of {expected!r}"]


def match(matcher, argument, actual, path):
    if matcher == "$absent":
        return [] if actual is MISSING else [f"{path} is there: {actual!r}"]
    if actual is MISSING:
        return [f"{path} is missing"]
    if matcher == "$any":
        return []
    if matcher == "$match":
        ok = isinstance(actual, str) and re.search(argument, actual)
        return [] if ok else [f"{path} is {actual!r}, which `{argument}` does not find"]
    if matcher == "$length":
        ok = isinstance(actual, list) and len(actual) == argument
        return [] if ok else [f"{path} has not {argument} items"]
    if matcher == "$has":
        ok = isinstance(actual, list) and any(not differences(argument, item) for item in actual)
        return [] if ok else [f"{path} has no item like {argument}"]
    raise ValueError(f"unknown matcher {matcher}")


def pick(answer, where):
    if where.startswith("header:"):
        name = where.removeprefix("header:")
        value = answer.headers[name]
        return value.split(";")[0] if name == "Set-Cookie" else value
    value = answer.json
    for part in where.split("."):
        value = value[int(part)] if isinstance(value, list) else value[part]
    return value


class Player:
    count = 0

    def __init__(self, server):
        self.server = server
        self.clients = {}

    def client(self, who):
        if who not in self.clients:
            if who == "none":
                self.clients[who] = self.server.client()
            elif who == "admin":
                self.clients[who] = self.server.admin
            else:
                self.clients[who] = self.server.actor(*ACTORS[who])
        return self.clients[who]

    def play(self, case):
        """Raises AssertionError at the first step that goes another way than written."""
        Player.count += 1
        names = {"run": f"run{os.getpid()}x{Player.count}x{time.monotonic_ns() % 100000}"}
        for number, step in enumerate(case["steps"], 1):
            step = fill({k: v for k, v in step.items() if k not in ("capture", "expect")}, names) | {
                "expect": step["expect"], "capture": step.get("capture", {})}
            unknown = set(step) - {"as", "do", "query", "headers", "body", "text", "expect", "capture"}
            assert not unknown, f"unknown members in a step: {unknown}"
            method, path = step["do"].split(" ", 1)
            answer = self.client(step["as"]).call(
                method, path, step.get("body"), headers=step.get("headers"), query=step.get("query"),
                raw=step["text"].encode() if "text" in step else None)
            expect = fill(step["expect"], names)
            problems = [] if answer.status == expect["status"] else [f"status {answer.status} instead of {expect['status']}"]
            if not problems:
                for name, wanted in expect.get("headers", {}).items():
                    problems += differences(wanted, answer.headers.get(name, MISSING), f"header {name}")
                if "body" in expect:
                    problems += differences(expect["body"], answer.json)
            if problems:
                raise AssertionError(f"`{case['name']}`, step {number}, {step['as']}: {step['do']}\n  "
                                     + "\n  ".join(problems) + f"\n  {answer}")
            for name, where in step["capture"].items():
                names[name] = pick(answer, where)

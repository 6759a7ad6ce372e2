#!/usr/bin/env python3
"""Writes docs/requirements.md: which tests prove which requirement.

    requirements.py          writes the file
    requirements.py --check  fails when the file is stale or a row has no test

A test proves a row when its name carries the row's id: `D8_a_second_decision_…`, `D1_to_D7_…`, `test_S1_…`; in the
titles of the inbox's tests `D8 two people decide at once: …`.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
TARGET = ROOT / "docs" / "requirements.md"

# The rows this version answers, in the words of our own documents.
ROWS = {
    "Q1": "an action to approve: tool, arguments, description, risk, timeout",
    "Q2": "a plan: steps, optional steps, approved in part, changed where allowed",
    "Q3": "a question of six types, with limits and a checked answer",
    "Q4": "a confirmation with its two labels",
    "Q5": "a proposed action: expected outcome, reversible, estimated cost",
    "Q6": "context: task, summary, steps done, reasoning, history, the user's prompt",
    "Q8": "suggested response, metadata, deadline",
    "Q9": "several calls of one turn: stored together, decided one by one or together",
    "D1": "approve, with an optional note",
    "D2": "reject; the reason reaches the model and is required where the gate says so",
    "D3": "modify: checked, run instead of the original, refused where forbidden",
    "D4": "defer: not run, the guidance reaches the model",
    "D5": "escalate to a person or a group",
    "D6": "abort: the whole run stops",
    "D7": "answer a question",
    "D8": "exactly one decision takes effect; late ones learn which",
    "D10": "several approvers: groups, quorum, what counts when they disagree",
    "T1": "seven timeout actions",
    "T2": "reminders at an interval, up to a maximum",
    "T3": "escalation after its own time to its own target",
    "T4": "deadlines hold across restarts and clock jumps",
    "T5": "the model is told in plain words that it timed out",
    "H6": "web inbox: list, detail, every decision, plans, forms, live, on a phone; hostile content stays text",
    "H7": "server-sent events, resumable",
    "H8": "push messages with approve, deny and view",
    "H10": "terminal inbox and command line",
    "S1": "what waits survives restarts; whoever reconnects goes on waiting",
    "S2": "listing with every filter, paged",
    "S3": "who decided, when, from where; expiry",
    "S4": "the embedded store and its contract",
    "S5": "statistics for monitoring",
    "W1": "versioned REST API with an OpenAPI document",
    "W2": "the routes of the source documents",
    "X1": "identity is checked; agents cannot decide; the requester is excluded where asked",
    "X3": "TLS or loopback only; secrets hashed at rest",
    "X4": "rate limits",
    "X5": "nobody there: limits and deadlines, never an undefined state",
    "X6": "a policy, gate or store that fails holds or denies; only a gate's own word lets low risk pass, recorded",
    "G1": "tool_execution: every tool call is held",
    "G2": "specific_tools: the named tools are held",
    "G3": "destructive_actions: by what the operator, or the agent itself, says of the tool",
    "G4": "final_response: the final answer is held",
    "G5": "plan_approval: a plan is held",
    "G6": "threshold_based: held when the stated confidence is too low",
    "G7": "budget_based: held when cost or tokens of the action, task, session or day go beyond",
    "G8": "custom: an expression in the file, a callable in the library",
    "G9": "what a gate carries: people, quorum, times, reason, modification, what a failure means",
    "G10": "presets minimal, standard, strict, paranoid",
    "G11": "facts about tools: risk, reversibility, cost, arguments, words for people",
    "G12": "policies composed in code; whatever asks for a person wins",
    "P1": "tools that always need a person and tools that never do",
    "P2": "patterns over the concrete action; shell commands read as shell commands",
    "P3": "trust after N approvals of the same call, capped, reset, sampled, off by default",
    "P4": "the highest risk that passes without a person",
    "P5": "default timeout and timeout action",
    "P6": "a verdict explains itself: rule, values, what nearly matched",
    "P7": "grants: pinned, bounded, metered, expiring, listed, revocable",
    "P8": "rules suggested from what people decided, never applied by themselves",
    "P9": "master switch: everything passes and is recorded",
    "Q7": "risk: level, factors, consequences, reversibility; pluggable",
    "Q10": "message templates for each tool, without secrets",
    "D9": "critical risk needs a confirmation code beside the click",
    "U1": "fewer questions: grants instead of the same question again",
    "F1": "feedback of four kinds, kept with who and when",
    "F2": "a rejected action is not proposed again: on the avoid list, and a repeat is refused without asking",
    "F3": "modifications become preferences, guidance enters the next prompts",
    "F4": "what people do again and again is said before it happens again",
    "W4": "git: approvals and actions in the session's history",
    "U2": "one key for a routine approval, and one press is one decision",
    "U3": "what people decided before is remembered for the session",
    "A1": "a C++ library whose request suspends the caller, blocking or as a coroutine, until decision or timeout",
    "A2": "the human-in-the-loop pattern around an agent: execute, approval, guidance, feedback, audit",
    "A3": "every tool call is checked, also of workers and around an inner pattern; a lying model runs nothing",
    "A4": "what a run's result holds: requests, responses, rejections, modifications, audit, usage, times",
    "A5": "tool results tell the model what happened",
    "A6": "events flow while a call is held",
    "A7": "a client for OpenAI-compatible models, and a scripted one",
    "A8": "prompt text for the confirmation workflow",
    "H1": "one interface for people: approval, input, notification, whether anybody is there",
    "H2": "the console: detailed and compact, colour, never without a terminal",
    "H3": "callbacks of an application",
    "Q11": "request_human_input: the agent asks for what it lacks",
    "Q12": "tools confirmed in the conversation: a person's yes makes a single-use token",
    "X2": "a release is bound to the exact action; answers that do not fit run nothing",
    "U4": "the request shows enough to decide: context, risk, outcome, what differs from before",
}


def ids_of(name):
    """The requirement ids at the head of a test's name."""
    name = name.removeprefix("test_")
    found, parts = [], name.split("_")
    position = 0
    while position < len(parts):
        part = parts[position]
        if re.fullmatch(r"[GPQDTHAFSWLXU]\d{1,2}", part):
            found.append(part)
        elif part == "to" and found and position + 1 < len(parts):
            last = parts[position + 1]
            if re.fullmatch(found[-1][0] + r"\d{1,2}", last):
                found += [f"{last[0]}{n}" for n in range(int(found[-1][1:]) + 1, int(last[1:]) + 1)]
                position += 1
        else:
            break
        position += 1
    return found


def tests():
    """(file, name shown, ids) of every test."""
    for path in sorted(ROOT.glob("src/**/*_test.cpp")) + sorted(ROOT.glob("tests/**/*_test.cpp")):
        for suite, name in re.findall(r"^\s*(?:TYPED_)?TEST(?:_F|_P)?\((\w+),\s*(\w+)\)", path.read_text(), re.M):
            yield path, f"{suite}.{name}", ids_of(name)
    for path in sorted(ROOT.glob("tests/**/test_*.py")):
        for name in re.findall(r"^\s+def (test_\w+)\(", path.read_text(), re.M):
            yield path, name, ids_of(name)
    for path in sorted(ROOT.glob("tests/browser/*.test.mjs")) + sorted(ROOT.glob("web/src/**/*.test.ts*")):
        for _, title in re.findall(r"^\s*(?:test|it)\((['`])(.+?)\1,", path.read_text(), re.M):
            # A title is a sentence; what is filled in while running becomes an ellipsis.
            shown = re.sub(r"\$\{[^}]*\}", "…", title).replace("|", "\\|")
            yield path, shown, ids_of(title.replace(" ", "_"))


def render():
    proofs = {row: [] for row in ROWS}
    for path, name, ids in tests():
        for row in ids:
            if row in proofs:
                proofs[row].append(f"`{name}` ({path.relative_to(ROOT)})")
    lines = ["# Requirements and the tests that prove them", "",
             "Made by `tools/requirements.py` from the names of the tests; `make test` checks that it is up to date and that no row",
             "is without a test.", "", "| id | what | tests |", "|---|---|---|"]
    for row, what in ROWS.items():
        lines.append(f"| {row} | {what} | {'<br>'.join(proofs[row])} |")
    return "\n".join(lines) + "\n", [row for row in ROWS if not proofs[row]]


def main():
    text, missing = render()
    if missing:
        print("no test names these requirements: " + ", ".join(missing))
    if "--check" in sys.argv[1:]:
        is_fresh = TARGET.exists() and TARGET.read_text() == text
        if not is_fresh:
            print("docs/requirements.md is stale: run tools/requirements.py")
        return 1 if missing or not is_fresh else 0
    TARGET.write_text(text)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())

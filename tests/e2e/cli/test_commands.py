"""What each command promises, against the fake server or a real one."""

import json
import os
import signal
import unittest

from world import IS_REAL, World, until


class Requests(World):
    def test_H10_released_arguments_come_on_stdout_and_the_sentence_on_stderr(self):
        waiting = self.start("request", "--tool", "pay", "--args", '{"amount": 5}', "--session", "released")
        listed = until(lambda: self.command("list", "--session", "released", "--json").stdout, "the request")
        self.assertExit(self.command("approve", json.loads(listed)["id"]), 0)
        out, err = waiting.communicate(timeout=20)
        self.assertEqual(waiting.returncode, 0, err)
        self.assertEqual(json.loads(out), {"amount": 5})
        self.assertIn("approved", err)

    def test_a_rejection_exits_3_prints_nothing_and_tells_why(self):
        waiting = self.start("request", "--tool", "pay", "--session", "rejected")
        listed = until(lambda: self.command("list", "--session", "rejected", "--json").stdout, "the request")
        self.assertExit(self.command("reject", json.loads(listed)["id"], "--reason", "too much"), 0)
        out, err = waiting.communicate(timeout=20)
        self.assertEqual((waiting.returncode, out), (3, ""))
        self.assertIn("too much", err)

    def test_modified_arguments_are_the_ones_that_are_released(self):
        ident = self.propose("--args", '{"amount": 500}')
        self.assertExit(self.command("modify", ident, "--args", '{"amount": 50}'), 0)
        done = self.command("show", ident, "--released", role="agent")
        self.assertExit(done, 0)
        self.assertEqual(json.loads(done.stdout), {"amount": 50})

    def test_unchanged_arguments_are_not_sent(self):
        ident = self.propose("--args", '{"amount": 500}')
        done = self.command("modify", ident, "--args", '{ "amount" : 500 }')
        self.assertExit(done, 0)
        self.assertIn("unchanged", done.stderr)
        self.assertEqual(self.show(ident)["state"], "pending")

    def test_expiry_exits_4(self):
        self.assertExit(self.command("request", "--tool", "pay", "--timeout", "1s", role="agent"), 4)

    def test_a_wait_that_ends_before_the_decision_exits_3_and_leaves_it_pending(self):
        done = self.command("request", "--tool", "pay", "--wait=1s", "--json", role="agent")
        self.assertExit(done, 3)
        self.assertEqual(json.loads(done.stdout)["state"], "pending")

    def test_the_same_idempotency_key_asks_once(self):
        first = self.propose("--idempotency-key", "once-" + self.id())
        self.assertEqual(self.propose("--idempotency-key", "once-" + self.id()), first)

    def test_ctrl_c_leaves_the_request_pending_and_says_how_to_go_on(self):
        waiting = self.start("request", "--tool", "pay", "--session", "interrupted")
        ident = json.loads(until(lambda: self.command("list", "--session", "interrupted", "--json").stdout,
                                 "the request"))["id"]
        waiting.send_signal(signal.SIGINT)
        out, err = waiting.communicate(timeout=10)
        self.assertEqual((waiting.returncode, out), (130, ""))
        self.assertIn(f"holdpoint show {ident} --wait", err)
        self.assertEqual(self.show(ident)["state"], "pending")

    def test_H10_every_kind_can_be_asked(self):
        for flags, kind in ((["--title", "Move", "--step", "a", "--optional-step", "b", "--step", "c"], "plan"),
                            (["--question", "Which?", "--option", "eu", "--option", "us"], "input"),
                            (["--message", "Sure?", "--confirm-label", "Do it"], "confirmation"),
                            (["--text", "Hello"], "response")):
            done = self.command("request", "--no-wait", "--json", *flags, role="agent")
            self.assertExit(done, 0)
            made = json.loads(done.stdout)
            self.assertEqual(made["kind"], kind)
            if kind == "plan":
                self.assertEqual([(s["action"], s["optional"]) for s in made["plan"]["steps"]],
                                 [("a", False), ("b", True), ("c", False)])

    def test_a_complete_proposal_comes_from_standard_input(self):
        body = {"action": {"tool": "pay", "arguments": {"a": [1, 2]}}, "session": "from-stdin"}
        done = self.command("request", "--no-wait", "--json", "--json-file", "-", role="agent", stdin=json.dumps(body))
        self.assertExit(done, 0)
        self.assertEqual(json.loads(done.stdout)["action"]["arguments"], {"a": [1, 2]})

    def test_an_agent_cannot_decide_and_a_person_cannot_propose(self):
        ident = self.propose()
        self.assertExit(self.command("approve", ident, role="agent"), 1)
        self.assertEqual(self.show(ident)["state"], "pending")
        self.assertExit(self.command("request", "--tool", "x", "--no-wait", role="approver"), 1)


class Decisions(World):
    def test_a_unique_end_of_the_id_is_enough(self):
        ident = self.propose()
        self.assertExit(self.command("approve", ident[-9:]), 0)
        self.assertEqual(self.show(ident)["outcome"], "approved")

    def test_a_part_that_could_mean_two_is_refused(self):
        self.propose(), self.propose()
        done = self.command("approve", "req_")
        self.assertExit(done, 2)
        self.assertIn("could mean", done.stderr)

    def test_several_are_decided_alone_and_the_worst_counts(self):
        first, second = self.propose(), self.propose()
        done = self.command("reject", first, "req_00000000000000000000000000", second, "--reason", "no")
        self.assertExit(done, 1)
        self.assertEqual(self.show(first)["outcome"], "rejected")
        self.assertEqual(self.show(second)["outcome"], "rejected")

    def test_the_second_decision_is_told_who_was_first(self):
        ident = self.propose()
        self.assertExit(self.command("reject", ident, "--reason", "mine", role="bob"), 0)
        done = self.command("approve", ident)
        self.assertExit(done, 1)
        self.assertRegex(done.stderr, r"rejected by \S*bob .*mine")

    def test_H10_defer_and_abort_and_escalate(self):
        ident = self.propose()
        self.assertExit(self.command("defer", ident, "--guidance", "use the test account"), 0)
        self.assertEqual(self.show(ident)["outcome"], "deferred")
        ident = self.propose()
        self.assertExit(self.command("abort", ident, "--reason", "stop"), 0)
        self.assertEqual(self.show(ident)["outcome"], "aborted")
        ident = self.propose()
        self.assertExit(self.command("escalate", ident, "--to", "group:finance"), 0)
        self.assertEqual(self.show(ident)["state"], "pending")

    def test_H10_cancel_and_extend(self):
        ident = self.propose("--timeout", "60s")
        before = self.show(ident)["expires_at"]
        self.assertExit(self.command("extend", ident, "10m"), 0)
        self.assertGreater(self.show(ident)["expires_at"], before)
        self.assertExit(self.command("cancel", ident, role="agent"), 0)
        self.assertEqual(self.show(ident)["outcome"], "cancelled")

    def test_H10_questions_are_answered_by_their_type(self):
        def ask(*flags):
            return self.command("request", "--no-wait", "--question", "?", *flags, role="agent").stdout.strip()

        ident = ask("--option", "eu", "--option", "us")
        self.assertExit(self.command("answer", ident, "mars"), 2)
        self.assertExit(self.command("answer", ident, "us"), 0)
        done = self.command("show", ident, "--released", role="agent")
        self.assertEqual((done.returncode, done.stdout), (0, '"us"\n'))
        ident = ask("--type", "number", "--min", "1", "--max", "9")
        self.assertExit(self.command("answer", ident, "10"), 2)
        self.assertExit(self.command("answer", ident, "4.5"), 0)
        ident = ask("--type", "multi_choice", "--option", "a", "--option", "b", "--option", "c")
        self.assertExit(self.command("answer", ident, "a", "c"), 0)
        self.assertEqual(self.show(ident)["decision"]["answer"], ["a", "c"])
        ident = ask("--type", "date")
        self.assertExit(self.command("answer", ident, "2026-02-30"), 2)
        self.assertExit(self.command("answer", ident, "2026-02-28"), 0)

    def test_critical_without_a_terminal_wants_the_code_or_the_tools_name(self):
        ident = self.propose("--risk", "critical", tool="drop_table")
        word = self.show(ident)["requirement"]["confirm"] or "drop_table"
        self.assertExit(self.command("approve", ident, "--yes"), 1)
        self.assertExit(self.command("approve", ident, "--confirm", "drop"), 1)
        self.assertEqual(self.show(ident)["state"], "pending")
        self.assertExit(self.command("approve", ident, "--confirm", word), 0)


class Reading(World):
    def test_H10_list_pages_through_everything(self):
        for _ in range(7):
            self.propose("--thread", "paged")
        done = self.command("list", "--thread", "paged", "--json", "--limit", 3)
        self.assertEqual(len(done.stdout.splitlines()), 3)
        done = self.command("list", "--thread", "paged", "--json", "--all")
        self.assertEqual(len(done.stdout.splitlines()), 7)

    def test_the_table_names_id_risk_agent_and_headline(self):
        ident = self.propose("--session", "table", "--risk", "high")
        done = self.command("list", "--session", "table")
        self.assertExit(done, 0)
        self.assertIn(ident, done.stdout)
        self.assertIn("▲ high", done.stdout)
        self.assertNotIn("\033", done.stdout)

    def test_show_marks_the_agents_words_and_hides_nothing(self):
        ident = self.propose("--args", json.dumps({"to": "a‮b\x1b[2J"}), "--description", "trust\x1b]0;me\x07")
        done = self.command("show", ident)
        self.assertExit(done, 0)
        self.assertNotIn("\x1b", done.stdout)
        self.assertNotIn("‮", done.stdout)
        self.assertIn("\\u202e", done.stdout)
        self.assertIn("The agent says", done.stdout)
        self.assertIn("<U+001B>", done.stdout)
        self.assertIn("Timeline", done.stdout)

    def test_H10_watch_prints_one_event_per_line(self):
        watching = self.start("watch", "--json", "--session", "watched", role="approver")
        # The stream is open once an event arrives; proposals before that are not its business.
        made = []
        until(lambda: made.append(self.propose("--session", "watched")) or self.readable(watching), "an event", 15)
        event = json.loads(watching.stdout.readline())
        self.assertEqual(event["type"], "approval-required")
        self.assertIn(event["request"]["id"], made)
        watching.send_signal(signal.SIGINT)
        watching.communicate(timeout=10)
        self.assertEqual(watching.returncode, 0)

    @staticmethod
    def readable(process):
        import select
        return select.select([process.stdout], [], [], 0.3)[0]

    def test_whoami_stats_and_doctor(self):
        done = self.command("whoami", "--json")
        self.assertEqual(json.loads(done.stdout)["role"], "approver")
        self.assertIn("pending", json.loads(self.command("stats", "--json").stdout))
        done = self.command("doctor")
        self.assertExit(done, 0)
        self.assertIn("role approver", done.stdout)
        self.assertNotIn(self.keys["approver"], done.stdout + done.stderr)


class Identity(World):
    def test_H10_a_key_is_made_listed_and_revoked(self):
        done = self.command("key", "create", "--role", "agent", "--name", "fresh-bot", "--json", role="admin")
        self.assertExit(done, 0)
        key = json.loads(done.stdout)
        self.assertEqual({"id", "role", "name", "key"} & key.keys(), {"id", "role", "name", "key"})
        self.assertIn(key["id"], self.command("key", "list", role="admin").stdout)
        self.assertNotIn(key["key"], self.command("key", "list", "--json", role="admin").stdout)
        self.assertExit(self.command("key", "revoke", key["id"], role="admin"), 0)

    def test_people_are_added_changed_and_listed(self):
        name = "carol" + ("-" + str(os.getpid()) if IS_REAL else "")
        done = self.command("user", "add", name, "--role", "approver", "--group", "ops", "--password-stdin",
                            role="admin", stdin="a long enough password\n")
        self.assertExit(done, 0)
        self.assertExit(self.command("user", "groups", name, "ops", "finance", role="admin"), 0)
        self.assertExit(self.command("user", "disable", name, role="admin"), 0)
        listed = [json.loads(line) for line in self.command("user", "list", "--json", role="admin").stdout.splitlines()]
        carol = next(user for user in listed if user["name"] == name)
        self.assertEqual((sorted(carol["groups"]), carol["disabled"]), (["finance", "ops"], True))
        self.assertExit(self.command("user", "enable", name, role="admin"), 0)
        self.assertExit(self.command("user", "passwd", name, "--password-stdin", role="admin",
                                     stdin="another long password\n"), 0)
        self.assertIn("/sign-in#", self.command("user", "link", name, role="admin").stdout)

    def test_without_a_terminal_a_password_is_never_asked_for(self):
        done = self.command("user", "add", "dave", "--role", "approver", role="admin")
        self.assertExit(done, 2)
        self.assertIn("--password-stdin", done.stderr)


class PlainInbox(World):
    def test_H10_requests_are_decided_by_their_number(self):
        ident = self.propose("--session", "plain", "--risk", "low")
        done = self.command("inbox", "--plain", "--session", "plain", stdin="show 1\nreject 1 not today\nquit\n")
        self.assertExit(done, 0)
        self.assertIn("1 waiting", done.stdout)
        self.assertIn("What will run", done.stdout)
        self.assertEqual(self.show(ident)["decision"]["reason"], "not today")

    def test_unknown_numbers_and_verbs_decide_nothing(self):
        ident = self.propose("--session", "plain-wrong")
        done = self.command("inbox", "--plain", "--session", "plain-wrong", stdin="approve 2\napprove\nbless 1\n")
        self.assertExit(done, 2)
        self.assertEqual(self.show(ident)["state"], "pending")

    def test_the_end_of_input_decides_nothing(self):
        ident = self.propose("--session", "plain-end")
        self.assertExit(self.command("inbox", "--plain", "--session", "plain-end"), 0)
        self.assertEqual(self.show(ident)["state"], "pending")


if __name__ == "__main__":
    unittest.main()

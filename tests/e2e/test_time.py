"""Time (T1 to T5): what silence does, reminders, escalation, retries, restarts, and clocks that are set."""
import datetime
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

from harness import ROOT, EventReader, Server, ServerTest, eventually

FAKETIME = next((path for path in ("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
                                   "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1") if os.path.exists(path)), None)


def parse(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def seconds_between(a, b):
    return (parse(b) - parse(a)).total_seconds()


class TimeTest(ServerTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.finance = cls.server.actor("approver", "fiona", groups=["finance"])

    def types(self, request):
        return [event["type"] for event in self.ann.timeline(request)]

    def timed_out(self, wait=10, **more):
        request = self.agent.propose(timeout_s=1, wait=wait, **more)
        self.assertEqual(request["state"], "settled", request)
        return request

    def test_T1_reject_expires_and_does_not_run(self):
        for more in ({}, {"on_timeout": "reject"}):
            request = self.timed_out(**more)
            self.assertEqual((request["outcome"], request["timed_out"]), ("expired", {"action": "reject"}))
            self.assertIsNone(request["release"])
            self.assertIsNone(request["decision"], "silence is nobody's decision")
            self.assertEqual(self.types(request), ["approval-required", "request-settled"])
            last = self.ann.timeline(request)[-1]
            self.assertEqual((last["actor"], last["via"]), (None, "timer"))

    def test_T1_abort_expires_and_says_stop(self):
        request = self.timed_out(on_timeout="abort")
        self.assertEqual((request["outcome"], request["timed_out"]), ("expired", {"action": "abort"}))
        self.assertIsNone(request["release"])
        self.assertIn("top", request["message_for_agent"])

    def test_T1_abort_ends_what_else_waits_in_the_run(self):
        session = self.fresh("run")
        siblings = [self.agent.propose(session=session, timeout_s=600) for _ in range(3)]
        elsewhere = self.agent.propose(session=self.fresh("other"), timeout_s=600)
        cause = self.timed_out(session=session, on_timeout="abort")
        for sibling in siblings:
            ended = self.agent.read(sibling)
            self.assertEqual((ended["state"], ended["outcome"], ended["timed_out"]), ("settled", "expired", {"action": "abort"}))
            self.assertIsNone(ended["decision"], "silence is nobody's decision")
            self.assertIsNone(ended["release"])
            self.assertIn("Stop this run", ended["message_for_agent"])
            last = self.ann.timeline(sibling)[-1]
            self.assertEqual((last["actor"], last["via"], last["detail"]["because_of"]), (None, "timer", cause["id"]))
        self.assertEqual(self.agent.read(elsewhere)["state"], "pending")

    def test_T1_skip_is_skipped_and_not_released(self):
        request = self.timed_out(on_timeout="skip")
        self.assertEqual((request["outcome"], request["timed_out"]), ("skipped", {"action": "skip"}))
        self.assertIsNone(request["release"])

    def test_T1_approve_and_default_are_not_the_agents_to_ask(self):
        for action in ("approve", "default"):
            answer = self.agent.post("/v1/requests", {"action": {"tool": "t"}, "on_timeout": action})
            self.assertStatus(answer, 422, "refused", "on_timeout")

    def test_T1_retry_asks_again_and_then_expires(self):
        request = self.agent.propose(timeout_s=1, on_timeout="retry", retries_max=2, wait=15)
        self.assertEqual((request["outcome"], request["retries"]), ("expired", {"max": 2, "done": 2}))
        self.assertEqual(self.types(request), ["approval-required", "request-retried", "request-retried", "request-settled"])
        self.assertGreaterEqual(seconds_between(request["created_at"], request["settled_at"]), 2.9)

    def test_T1_a_retried_request_can_still_be_decided(self):
        request = self.agent.propose(timeout_s=1, on_timeout="retry", retries_max=1)
        eventually(lambda: self.ann.read(request)["retries"]["done"] == 1, "a second round")
        self.assertEqual(self.ann.decide(request)["outcome"], "approved")

    def test_T1_escalate_asks_others_and_then_expires(self):
        request = self.agent.propose(timeout_s=1, on_timeout="escalate", escalate_to="group:finance")
        eventually(lambda: "request-escalated" in self.types(request), "escalated")
        now = self.ann.read(request)
        self.assertEqual(now["escalation"]["done"], True)
        self.assertEqual([(line["group"], line["quorum"]) for line in now["requirement"]["lines"]], [("finance", 1)])
        self.assertStatus(self.ann.post(f"/v1/requests/{request['id']}/decision", {"decision": "approve"}), 403)
        settled = self.agent.read(request, wait=10)
        self.assertEqual((settled["outcome"], settled["timed_out"]["action"]), ("expired", "reject"))

    def test_T1_the_escalated_can_decide(self):
        request = self.agent.propose(timeout_s=1, on_timeout="escalate", escalate_to="group:finance")
        eventually(lambda: "request-escalated" in self.types(request), "escalated", every_s=0.01)
        self.assertEqual(self.finance.decide(request)["outcome"], "approved")

    def test_T1_escalation_without_a_target_is_refused(self):
        answer = self.agent.post("/v1/requests", {"action": {"tool": "t"}, "on_timeout": "escalate"})
        self.assertStatus(answer, 422, "refused", "escalate_to")

    def test_T2_reminders_come_at_their_interval_up_to_their_maximum(self):
        session = self.fresh("remind")
        reader = EventReader(self.ann, {"session": session})
        self.addCleanup(reader.close)
        request = self.agent.propose(session=session, timeout_s=4, remind_every_s=1, reminders_max=2, wait=10)
        self.assertEqual(request["outcome"], "expired")
        self.assertEqual(request["reminders"], {"every_s": 1, "max": 2, "sent": 2})
        events = reader.until("request-settled")
        reminded = [e for e in events if e["event"] == "request-reminded"]
        self.assertEqual(len(reminded), 2)
        for n, event in enumerate(reminded, 1):
            after = seconds_between(request["created_at"], event["data"]["at"])
            self.assertTrue(n <= after < n + 0.9, f"reminder {n} after {after} s")

    def test_T2_a_settled_request_is_not_reminded_of(self):
        request = self.agent.propose(timeout_s=60, remind_every_s=1, reminders_max=5)
        self.ann.decide(request)
        time.sleep(1.5)  # the reminder's own time has to pass for its absence to mean anything
        self.assertEqual(self.types(request), ["approval-required", "request-settled"])

    def test_T3_escalation_has_its_own_time_and_target(self):
        request = self.agent.propose(timeout_s=60, escalate_after_s=1, escalate_to="fiona")
        self.assertEqual(request["escalation"], {"after_s": 1, "to": "fiona", "done": False})
        eventually(lambda: self.ann.read(request)["escalation"]["done"], "escalated")
        event = self.ann.timeline(request)[-1]
        self.assertEqual(event["type"], "request-escalated")
        self.assertTrue(1 <= seconds_between(request["created_at"], event["at"]) < 2)
        self.assertEqual(self.finance.decide(request)["outcome"], "approved")

    def test_T5_the_model_is_told_in_plain_words(self):
        for action, words in (("reject", "not a rejection"), ("skip", "without it"), ("abort", "Stop this run")):
            request = self.timed_out(on_timeout=action)
            self.assertTrue(request["message_for_agent"].startswith("Timed out"), request["message_for_agent"])
            self.assertIn(words, request["message_for_agent"])

    def test_the_deadline_is_kept_to_within_half_a_second(self):
        started = time.monotonic()
        request = self.timed_out()
        took = time.monotonic() - started
        self.assertTrue(1.0 <= took < 2.0, took)
        self.assertLess(seconds_between(request["expires_at"], request["settled_at"]), 0.5)
        self.assertGreaterEqual(request["settled_at"], request["expires_at"])

    def test_an_extended_request_expires_later(self):
        request = self.agent.propose(timeout_s=1)
        longer = self.ann.post(f"/v1/requests/{request['id']}/extend", {"seconds": 1}).json
        self.assertAlmostEqual(seconds_between(request["expires_at"], longer["expires_at"]), 1, places=3)
        settled = self.agent.read(request, wait=10)
        self.assertGreaterEqual(seconds_between(request["created_at"], settled["settled_at"]), 2)

    def test_many_deadlines_at_once_are_all_kept(self):
        session = self.fresh("many")
        batch = [{"action": {"tool": "t"}, "timeout_s": 1, "session": session}] * 100
        made = self.agent.post("/v1/batches", {"requests": batch}, query={"wait": 20})
        self.assertStatus(made, 201)
        self.assertEqual({r["outcome"] for r in made["requests"]}, {"expired"})


class PolicyTimeTest(unittest.TestCase):
    """What only policy may say about silence."""

    def expire(self, *flags, **more):
        with Server("--timeout", "1s", *flags) as server:
            agent, ann = server.actor("agent", "bot"), server.actor("approver", "ann")
            request = agent.propose(wait=10, **more)
            self.assertEqual(request["state"], "settled")
            self.assertIsNone(request["decision"], "silence is nobody's decision")
            late = ann.post(f"/v1/requests/{request['id']}/decision", {"decision": "approve"})
            self.assertEqual(late.status, 410)
            return request

    def test_T1_approve_releases_low_risk_only_and_stays_an_expiry(self):
        request = self.expire("--on-timeout", "approve", "--risk", "low")
        self.assertEqual((request["outcome"], request["timed_out"]), ("expired", {"action": "approve"}))
        self.assertEqual(request["release"]["arguments"], {"orderId": "1234", "amount": 50000})

    def test_T1_approve_never_above_the_risk_allowed(self):
        for risk in ("medium", "high", "critical"):
            request = self.expire("--on-timeout", "approve", "--risk", risk)
            self.assertEqual((request["outcome"], request["on_timeout"], request["release"]), ("expired", "reject", None))
        raised = self.expire("--on-timeout", "approve", "--risk", "low", risk="medium")
        self.assertEqual((raised["outcome"], raised["release"]), ("expired", None))

    def test_T1_an_agent_cannot_loosen_what_policy_says(self):
        for asked in ("skip", "retry", "reject"):
            request = self.expire("--on-timeout", "abort", on_timeout=asked)
            self.assertEqual((request["outcome"], request["on_timeout"], request["timed_out"]),
                             ("expired", "abort", {"action": "abort"}))
            self.assertIsNone(request["release"])
        chosen = self.expire("--on-timeout", "reject", on_timeout="skip")
        self.assertEqual((chosen["outcome"], chosen["timed_out"]), ("skipped", {"action": "skip"}))

    def test_T1_default_takes_the_configured_decision(self):
        for decision, outcome, is_released in (("reject", "expired", False), ("skip", "skipped", False),
                                               ("abort", "expired", False), ("approve", "expired", True)):
            with self.subTest(decision=decision):
                request = self.expire("--on-timeout", "default", "--default-decision", decision, "--risk", "low")
                self.assertEqual((request["outcome"], request["release"] is not None), (outcome, is_released))
        request = self.expire("--on-timeout", "default", "--default-decision", "approve", "--risk", "high")
        self.assertIsNone(request["release"], "never above the risk allowed")

    def test_P5_defaults_of_time_come_from_the_server(self):
        with Server("--timeout", "90s", "--remind-every", "30s", "--reminders-max", "2", "--retries-max", "4") as server:
            request = server.actor("agent", "bot").propose()
            self.assertAlmostEqual(seconds_between(request["created_at"], request["expires_at"]), 90, places=3)
            self.assertEqual(request["reminders"], {"every_s": 30, "max": 2, "sent": 0})
            self.assertEqual(request["retries"]["max"], 4)


class RestartTimeTest(unittest.TestCase):
    def test_T4_deadlines_that_pass_while_the_server_is_down_fire_after_the_restart(self):
        for how in ("stop", "kill"):
            with self.subTest(how=how), Server() as server:
                agent, ann = server.actor("agent", "bot"), server.actor("approver", "ann")
                short = agent.propose(timeout_s=1)
                skipped = agent.propose(timeout_s=1, on_timeout="skip")
                retried = agent.propose(timeout_s=1, on_timeout="retry", retries_max=1)
                long = agent.propose(timeout_s=600, remind_every_s=1, reminders_max=3)
                getattr(server, how)()
                time.sleep(1.3)
                server.start()
                # Before the timer has looked, a late decision must already be late.
                answer = ann.post(f"/v1/requests/{short['id']}/decision", {"decision": "approve"})
                self.assertEqual(answer.status, 410, answer)
                self.assertEqual(agent.read(skipped, wait=5)["outcome"], "skipped")
                eventually(lambda: ann.read(retried)["retries"]["done"] == 1, "the retry fires")
                eventually(lambda: ann.read(long)["reminders"]["sent"] >= 1, "the reminder fires")
                self.assertEqual(ann.read(long)["state"], "pending")
                self.assertEqual(ann.read(long)["expires_at"], long["expires_at"])
                reminders = [e for e in ann.timeline(long) if e["type"] == "request-reminded"]
                pauses = [seconds_between(one["at"], next["at"]) for one, next in zip(reminders, reminders[1:])]
                self.assertTrue(all(pause > 0.2 for pause in pauses), f"missed reminders are not sent in a burst: {pauses}")

    def test_T4_a_deadline_is_kept_across_a_restart_that_is_quicker(self):
        with Server() as server:
            agent = server.actor("agent", "bot")
            request = agent.propose(timeout_s=3)
            server.kill()
            server.start()
            settled = agent.read(request, wait=10)
            self.assertEqual(settled["outcome"], "expired")
            self.assertTrue(3 <= seconds_between(request["created_at"], settled["settled_at"]) < 4)


class ServerWithSetClock(Server):
    """Reads its wall clock from a file."""

    def __init__(self, clock):
        # The crash build is the same server with the system's allocator; libfaketime and jemalloc need each other's
        # functions before either is ready.
        timers = os.environ.get("HOLDPOINT_REAL_TIMERS", str(ROOT / "build" / "tests" / "libholdpoint_real_timers.so"))
        super().__init__(binary_path=os.environ.get("HOLDPOINT_CRASH_BIN"),
                         env={"LD_PRELOAD": f"{timers}:{FAKETIME}", "FAKETIME_TIMESTAMP_FILE": str(clock),
                              "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1"})

    def kill(self):
        super().kill()
        # libfaketime shares its offset with children under its process id, and a killed process leaves that behind.
        if self.process:
            for name in ("sem.faketime_sem", "faketime_shm"):
                pathlib.Path(f"/dev/shm/{name}_{self.process.pid}").unlink(missing_ok=True)


class ClockJumpTest(unittest.TestCase):
    """The wall clock is set by ten years while the server runs, and while it is down. The boot clock is not touched."""

    def setUp(self):
        if not FAKETIME:
            print("skipped: libfaketime is not installed (Debian package `faketime`)")
            self.skipTest("libfaketime is not installed (Debian package `faketime`)")
        handle, name = tempfile.mkstemp(prefix="holdpoint-clock-")
        os.close(handle)
        self.clock = pathlib.Path(name)
        self.addCleanup(self.clock.unlink)
        self.set_clock("+0")

    def set_clock(self, offset):
        # Replaced whole: a half-written offset would be a third time.
        new = self.clock.with_suffix(".new")
        new.write_text(offset + "\n")
        new.rename(self.clock)

    def server(self):
        return ServerWithSetClock(self.clock)

    def test_the_clock_of_the_test_really_jumps(self):
        """Without this, a broken fake clock would make every promise below true."""
        self.set_clock("+10y")
        server = self.server()  # never started; only its environment is looked at
        self.addCleanup(server.close)
        out = subprocess.run([sys.executable, "-c", "import time; print(time.time(), time.clock_gettime(time.CLOCK_BOOTTIME))"],
                             capture_output=True, text=True, check=True,
                             env={**os.environ, **server.env}).stdout.split()
        self.assertGreater(float(out[0]) - time.time(), 9 * 365 * 86400)
        self.assertLess(abs(float(out[1]) - time.clock_gettime(time.CLOCK_BOOTTIME)), 60)

    def test_timers_that_are_due_at_once_fire_whatever_the_wall_clock_says(self):
        """Of the fake clock, not of the server: where it loses timers, every deadline below would be lost with them."""
        program = """
import ctypes, os, select, time
time.time()
settings = (ctypes.c_long * 4)(0, 0, 0, 1)  # no interval; one nanosecond after boot
libc = ctypes.CDLL(None, use_errno=True)
timer = libc.timerfd_create(time.CLOCK_MONOTONIC, os.O_NONBLOCK)
assert libc.timerfd_settime(timer, 1, settings, None) == 0, os.strerror(ctypes.get_errno())
assert select.select([timer], [], [], 10)[0], "never fired"
"""
        for offset in ("+10y", "-10y"):
            self.set_clock(offset)
            server = self.server()
            self.addCleanup(server.close)
            subprocess.run([sys.executable, "-c", program], check=True, env={**os.environ, **server.env})

    def check_everything_works(self, server, agent, ann, pending):
        for request in pending:
            now = ann.read(request)
            self.assertEqual(now["state"], "pending", "a set clock must neither release nor expire anything")
            self.assertEqual(now["expires_at"], request["expires_at"])
        fresh = agent.propose(timeout_s=1, wait=10)
        self.assertEqual(fresh["outcome"], "expired")
        self.assertLess(abs(seconds_between(pending[0]["created_at"], fresh["created_at"])), 120,
                        "the server's time follows the boot clock, not the jump")
        self.assertEqual(ann.decide(agent.propose())["outcome"], "approved")

    def test_T4_ten_years_forward_and_back_while_running(self):
        with self.server() as server:
            agent, ann = server.actor("agent", "bot"), server.actor("approver", "ann")
            pending = [agent.propose(timeout_s=600), agent.propose(timeout_s=600, remind_every_s=300)]
            soon = agent.propose(timeout_s=4)
            for offset in ("+10y", "-10y", "+0"):
                with self.subTest(offset=offset):
                    self.set_clock(offset)
                    self.check_everything_works(server, agent, ann, pending)
            settled = agent.read(soon, wait=10)
            self.assertEqual(settled["outcome"], "expired")
            self.assertTrue(4 <= seconds_between(soon["created_at"], settled["settled_at"]) < 6, settled["settled_at"])
            self.assertEqual(ann.decide(pending[0])["outcome"], "approved")

    def test_T4_ten_years_forward_and_back_across_a_restart(self):
        for offset in ("+10y", "-10y"):
            for how in ("stop", "kill"):
                with self.subTest(offset=offset, how=how):
                    self.set_clock("+0")
                    with self.server() as server:
                        agent, ann = server.actor("agent", "bot"), server.actor("approver", "ann")
                        pending = [agent.propose(timeout_s=600), agent.propose(timeout_s=600, escalate_after_s=300,
                                                                               escalate_to="ann")]
                        decided = agent.propose()
                        ann.decide(decided)
                        getattr(server, how)()
                        self.set_clock(offset)
                        server.start()
                        self.check_everything_works(server, agent, ann, pending)
                        self.assertEqual(ann.read(decided)["outcome"], "approved")

    def test_T4_keys_and_sessions_do_not_die_of_a_jump(self):
        with self.server() as server:
            ann = server.actor("approver", "ann", expires_in_s=3600)
            session = server.person_with_session("sid")
            for offset in ("+10y", "-10y"):
                self.set_clock(offset)
                self.assertEqual(ann.get("/v1/me").status, 200)
                self.assertEqual(session.get("/v1/session").status, 200)


if __name__ == "__main__":
    unittest.main()

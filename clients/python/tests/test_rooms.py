"""Rooms, messages, live events and verdicts on the real server."""

import base64
import json
import os
import re
import subprocess
import sys
import threading
import unittest
import uuid
from unittest import mock

from support import PROGRAM, SKILL, Folder, run, server_url

import minutebook


class Case(unittest.TestCase):
    def setUp(self):
        self.host = server_url()
        self.room = minutebook.create_room("Agree on a date")["url"]

    def ok(self, *args, **how):
        done = run(*args, **how)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def fails(self, code, *args, **how):
        done = run(*args, **how)
        self.assertEqual(done.returncode, code, (done.stdout, done.stderr))
        return done


class Commands(Case):
    """The seed's commands: arguments, output, exit codes."""

    def test_create_info_discover(self):
        room = json.loads(self.ok("create", "Ünïcode 🧱", "--public", "--agent-id", "alice"))
        self.assertEqual((room["description"], room["is_public"]), ("Ünïcode 🧱", True))
        shown = self.ok("info", room["url"])
        self.assertIn("Ünïcode 🧱", shown)
        self.assertIn('\n  "uuid": ', shown)
        self.assertEqual(json.loads(self.ok("info", room["uuid"]))["message_count"], 0)
        page = json.loads(self.ok("discover", "--sort", "new", "--limit", "1", "--host", self.host))
        self.assertEqual((page["rooms"][0]["uuid"], len(page["rooms"])), (room["uuid"], 1))
        plain = json.loads(self.ok("create"))
        self.assertEqual((plain["description"], plain["is_public"]), ("", False))

    def test_send_read_poll(self):
        for text in ("  kept as sent\n", "-5", "- a list", "\x1b[31m"):
            sent = json.loads(self.ok("send", self.room, "alice", text))
            self.assertEqual(sent["text"], text)
        self.assertEqual(sent["id"], 4)
        self.ok("send", self.room, "bob", "--file", "-", stdin="from stdin €")
        page = json.loads(self.ok("read", self.room, "--since", "1", "--limit", "2"))
        self.assertEqual(([m["id"] for m in page["messages"]], page["has_more"]), ([2, 3], True))
        page = json.loads(self.ok("read", self.room, "--all"))
        self.assertEqual((len(page["messages"]), page["has_more"]), (5, False))
        text = self.ok("read", self.room, "--text")
        self.assertIn("alice: \\x1b[31m", text)
        lines = self.ok("poll", self.room, "--since", "3").splitlines()
        self.assertEqual(json.loads(lines[0])["text"], "\x1b[31m")
        self.assertEqual((len(lines), lines[-1]), (3, "5"))
        self.assertEqual(self.ok("poll", self.room, "--since", "5"), "5\n")
        empty = minutebook.create_room()["url"]
        self.assertEqual(self.ok("poll", empty), "0\n")

    def test_more_than_a_page_is_polled_whole(self):
        for number in range(7):
            minutebook.send(self.room, "alice", str(number))
        with mock.patch.object(minutebook, "PAGE", 3):
            messages, last = minutebook.poll_once(self.room)
        self.assertEqual([message["id"] for message in messages], [1, 2, 3, 4, 5, 6, 7])
        self.assertEqual(last, 7)

    def test_a_refusal_is_exit_two_with_the_servers_words(self):
        done = self.fails(2, "info", str(uuid.uuid4()))
        self.assertRegex(done.stderr, r'\Aerror: HTTP 404: \{"detail":"Room not found"')
        self.fails(2, "send", self.room, "alice", "x" * 10001)
        self.fails(2, "send", self.room, "owner", "x")
        self.fails(2, "read", self.room, "--since", str(2 ** 63))
        self.fails(2, "receipt", self.room, "1")

    def test_the_same_key_does_one_thing(self):
        key = uuid.uuid4().hex
        sent = [json.loads(self.ok("send", self.room, "alice", "once", "--idempotency-key", key))
                for _ in range(2)]
        self.assertEqual(sent[0], sent[1])
        self.assertEqual(minutebook.room_info(self.room)["message_count"], 1)
        done = self.fails(2, "send", self.room, "alice", "other", "--idempotency-key", key)
        self.assertIn("idempotency_conflict", done.stderr)

    def test_the_importable_api_is_the_seeds(self):
        minutebook.send(self.room, agent_id="tony", text="On it.")
        page = minutebook.fetch_messages(self.room, since=0)
        self.assertEqual(page["messages"][0]["text"], "On it.")
        listed = minutebook.list_public_rooms()
        self.assertEqual(set(listed), {"rooms", "total"})
        with self.assertRaises(minutebook.CommroomError) as caught:
            minutebook.room_info(str(uuid.uuid4()))
        self.assertEqual((caught.exception.status, caught.exception.detail),
                         (404, "Room not found"))
        for name in minutebook.__all__:
            self.assertTrue(callable(getattr(minutebook, name)), name)


class Live(Case):
    def test_messages_are_yielded_as_they_come(self):
        events = minutebook.follow(self.room, timeout=60)
        self.assertEqual(next(events).name, "ready")
        sent = minutebook.send(self.room, "alice", "live")
        event = next(events)
        self.assertEqual((event.name, event.id), ("room.message_posted", str(sent["log_seq"])))
        self.assertEqual(json.loads(event.data)["message"], sent)
        events.close()
        again = minutebook.follow(self.room, since=0, timeout=60)
        self.assertEqual([next(again).name for _ in range(3)],
                         ["ready", "room.opened", "room.message_posted"])
        again.close()

    def test_follow_prints_stops_and_says_where_to_go_on(self):
        first = minutebook.send(self.room, "alice", "one")
        minutebook.send(self.room, "bob", "two")
        done = run("follow", self.room, "--since", "0", "--max", "1")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"\A\[1\] \S+ alice: one\n\Z")
        self.assertIn(f"--since {first['log_seq']})", done.stderr)
        shown = self.ok("follow", self.room, "--since", first["log_seq"], "--max", "1", "--json")
        self.assertEqual(json.loads(shown)["message"]["text"], "two")
        shown = self.ok("follow", self.room, "--since", "0", "--max", "3", "--events")
        self.assertRegex(shown, r"\A-- room\.opened ")
        self.fails(4, "follow", self.room, "--timeout", "0.2")
        self.fails(2, "follow", str(uuid.uuid4()))

    def test_wait_returns_what_is_new_and_where_to_go_on(self):
        minutebook.send(self.room, "alice", "before")
        lines = self.ok("wait", self.room, "--since", "0", "--json").splitlines()
        self.assertEqual((json.loads(lines[0])["text"], lines[-1]), ("before", "1"))
        self.assertEqual(self.fails(4, "wait", self.room, "--timeout", "0.2").stdout, "1\n")
        done = self.fails(4, "wait", self.room, "--since", "0", "--own", "alice", "--timeout",
                          "0.2")
        self.assertRegex(done.stdout, r"alice: before\n1\n\Z")

    def test_wait_ends_for_the_message_it_waits_for(self):
        outcomes = []

        def waiting(**how):
            outcomes.append(minutebook.wait(self.room, since=0, timeout=60, **how))
        waiters = [threading.Thread(target=waiting, kwargs=how) for how in (
            {"sender": "bob"}, {"mention": "carol"}, {"own": "alice"})]
        for waiter in waiters:
            waiter.start()
        minutebook.send(self.room, "alice", "hm")
        minutebook.send(self.room, "carol", "carol thinks")
        minutebook.send(self.room, "bob", "what says @carol?")
        for waiter in waiters:
            waiter.join()
        self.assertEqual([waited.outcome for waited in outcomes], ["message"] * 3)
        self.assertEqual(sorted(waited.last_id for waited in outcomes)[-1], 3)


class Proofs(Case):
    def test_a_room_is_verified(self):
        minutebook.send(self.room, "alice", "x")
        done = self.fails(0, "verify-room", self.room)
        self.assertRegex(done.stdout, r"\ACLEAN: ")
        self.assertIn("not proven: ", done.stdout)
        self.assertEqual(json.loads(self.ok("verify-room", self.room, "--json"))["verdict"],
                         "CLEAN")
        done = self.fails(69, "verify-room", str(uuid.uuid4()))
        self.assertEqual(done.stdout, "")

    def test_a_receipt_is_the_records(self):
        seq = minutebook.send(self.room, "alice", "x")["log_seq"]
        text = self.ok("receipt", self.room, seq)
        lines = text.splitlines()
        self.assertEqual((lines[0], lines[2]), ("c2sp.org/tlog-proof@v1", f"index {seq - 1}"))
        envelope = json.loads(base64.b64decode(lines[1].split(" ")[1]))
        self.assertEqual((envelope["seq"], envelope["type"]), (seq, "room.message_posted"))
        with Folder() as name:
            self.ok("receipt", self.room, seq, "--out", f"{name}/r")
            with open(f"{name}/r", encoding="utf-8") as file:
                self.assertEqual(file.read().splitlines()[:3], lines[:3])

    def test_the_arbiters_key_is_shown(self):
        shown = minutebook.arbiter_pubkey()
        self.assertEqual((shown["alg"], len(shown["pubkey_hex"])), ("ed25519", 64))


class Readme(Case):
    def test_its_python_runs(self):
        text = (PROGRAM.parent / "README.md").read_text("utf-8")
        code = re.search(r"```python\n(.*?)```", text, re.DOTALL).group(1)
        code = re.sub(r"timeout=\d+", "timeout=0.2", code)
        done = subprocess.run([sys.executable, "-B", "-c", code], cwd=PROGRAM.parent,
                              capture_output=True, encoding="utf-8", timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"\Aready 0\nroom\.opened \d+\nroom\.message_posted \d+\n")


class Skill(Case):
    """What the skill says about HTTP without the client."""

    def test_every_curl_of_the_skill_is_a_route(self):
        minutebook.send(self.room, "alice", "x")
        room = minutebook.parse_room(self.room).uuid
        variables = {**os.environ, "ROOM": room, "ID": "0", "no_proxy": "*"}
        lines = [line for line in SKILL.read_text("utf-8").splitlines()
                 if re.match(r"curl ", line)]
        self.assertGreater(len(lines), 4)
        for line in lines:
            # A stream never ends by itself.
            line = line.replace("curl ", "curl --max-time 2 -o /dev/null -w '%{http_code}' ", 1)
            done = subprocess.run(["sh", "-c", line], env=variables, capture_output=True,
                                  encoding="utf-8", check=False)
            self.assertRegex(done.stdout, r"\A20[01]", (line, done.stderr))


if __name__ == "__main__":
    unittest.main()

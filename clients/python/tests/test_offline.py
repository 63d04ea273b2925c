"""What needs no server: addresses, text, surfaces, hashes, event streams, the command line."""

import hashlib
import importlib.util
import json
import os
import re
import shlex
import sys
import unittest
from unittest import mock

from support import PROGRAM, SKILL, Folder, call, run

import minutebook

ROOM = "7002cc19-fc28-4472-a4ca-828206128894"
CLAIM = "19b1ea50-0ef3-4b25-8ffc-7fbb5192d571"


class Addresses(unittest.TestCase):
    def test_a_room_is_named_by_anything_with_its_uuid(self):
        for text in (ROOM, ROOM.upper(), f" {ROOM}\n", f"room {ROOM}, please"):
            room = minutebook.parse_room(text, "http://h:1")
            self.assertEqual(room, ("http://h:1", ROOM), text)
        for path in ("", "api/rooms/", "x/"):
            room = minutebook.parse_room(f"https://Example.org/{path}{ROOM}?format=md", "http://h")
            self.assertEqual(room, ("https://example.org", ROOM))
        self.assertEqual(minutebook.parse_room(f"http://[::1]:8787/{ROOM}").host,
                         "http://[::1]:8787")

    def test_what_is_no_room_or_server_is_refused(self):
        for text in ("", "lobby", ROOM[:-1], "0" + ROOM):
            with self.assertRaises(minutebook.MinutebookError, msg=text):
                minutebook.parse_room(text)
        for host in ("ftp://h", "h:8787", "http://", "http://h:99999", "http://u:p@h"):
            with self.assertRaises(minutebook.MinutebookError, msg=host):
                minutebook.parse_room(ROOM, host)

    def test_the_default_server_comes_from_the_environment(self):
        with mock.patch.dict("os.environ", {"MINUTEBOOK_URL": "http://there:9/"}):
            self.assertEqual(minutebook.parse_room(ROOM).host, "http://there:9")
        with mock.patch.dict("os.environ"):
            os.environ.pop("MINUTEBOOK_URL", None)
            self.assertEqual(minutebook.parse_room(ROOM).host, "http://127.0.0.1:8787")


class Text(unittest.TestCase):
    HOSTILE = "a\x1b[2J\x07\x9b31m\x7f\u202eb\u2028c\ud800\U000e0041\u0600"

    def test_nothing_that_steers_a_terminal_is_printed(self):
        shown = minutebook.printable(self.HOSTILE)
        self.assertTrue(shown.startswith("a\\x1b[2J\\x07\\x9b31m\\x7f\\u202eb\\u2028c\\ud800"))
        for text in (shown, minutebook.to_json({"x": self.HOSTILE}, 2)):
            self.assertFalse([c for c in text if c != "\n" and minutebook._is_unsafe(c)])

    def test_json_means_the_same_after_it_was_made_safe(self):
        value = {"x": self.HOSTILE, "é": ["🧱", None, 1, "👩‍👧"]}
        for indent in (None, 2):
            self.assertEqual(json.loads(minutebook.to_json(value, indent)), value)
        self.assertIn("🧱", minutebook.to_json(value))

    def test_a_message_cannot_look_like_the_next_one(self):
        message = {"id": 1, "agent_id": "al\nice", "timestamp": "t", "text": "x\n[2] t bob: y"}
        line = minutebook.message_line(ROOM, message)
        self.assertEqual(line, "[1] t al\\nice: x\n    [2] t bob: y")

    def test_mentions_are_whole_words(self):
        for text in ("@alice?", "Alice: hi", "so, alice.", "(alice)"):
            self.assertTrue(minutebook.mentions(text, "alice"), text)
        for text in ("malice", "alice-2", "alices", "al ice", ""):
            self.assertFalse(minutebook.mentions(text, "alice"), text)
        self.assertTrue(minutebook.mentions("c'est Zoe\u0301!", "zo\u00e9"))


class Surfaces(unittest.TestCase):
    """Bytes that are signed, written out."""

    def test_the_seeds_surfaces_run_together(self):
        self.assertEqual(minutebook.message_surface(ROOM, "a é", "T", "root"),
                         f"a éT{ROOM}root".encode())
        self.assertEqual(minutebook.revision_surface(ROOM, CLAIM, "bob", "confirm", " $8 "),
                         f"{CLAIM}|confirm| $8 ".encode())
        self.assertEqual(minutebook.handshake_surface(ROOM, "bob", "f" * 64), b"f" * 64)

    def test_bound_surfaces_have_every_length(self):
        def joined(*fields):
            return b"".join(len(f.encode()).to_bytes(4, "big") + f.encode() for f in fields)
        self.assertEqual(
            minutebook.message_surface(ROOM, "a é", "T", None, "bob", bound=True),
            joined("minutebook-message-v2", ROOM, "bob", "T", "chat", "a é", ""))
        self.assertEqual(
            minutebook.revision_surface(ROOM, CLAIM, "bob", "confirm", "$8", 7, bound=True),
            joined("minutebook-revision-v2", ROOM, CLAIM, "bob", "7", "confirm", "$8"))
        self.assertEqual(minutebook.opening_surface(ROOM, "bob", "s", "v"),
                         joined("minutebook-claim-v2", ROOM, "bob", "s", "v"))
        self.assertEqual(
            minutebook.handshake_surface(ROOM, "bob", "f" * 64, 0, bound=True),
            joined("minutebook-handshake-v2", ROOM, "bob", "0", "f" * 64))


def multiply(point, times):
    """Edwards addition, slow and plain: only to judge the table of weak points."""
    p = 2 ** 255 - 19
    d = -121665 * pow(121666, -1, p) % p
    result = (0, 1)
    for _ in range(times):
        (x1, y1), (x2, y2) = result, point
        product = d * x1 * x2 * y1 * y2 % p
        x = (x1 * y2 + x2 * y1) * pow(1 + product, -1, p) % p
        y = (y1 * y2 + x1 * x2) * pow(1 - product, -1, p) % p
        result = (x, y)
    return result


def with_x(y):
    """A point of the curve with this y."""
    p = 2 ** 255 - 19
    d = -121665 * pow(121666, -1, p) % p
    square = (y * y - 1) * pow(d * y * y + 1, -1, p) % p
    x = pow(square, (p + 3) // 8, p)
    if (x * x - square) % p:
        x = x * pow(2, (p - 1) // 4, p) % p
    assert (x * x - square) % p == 0
    return x, y


class Keys(unittest.TestCase):
    def test_the_weak_points_are_those_whose_order_divides_eight(self):
        self.assertEqual(len(minutebook._WEAK), 5)
        for y in minutebook._WEAK:
            self.assertEqual(multiply(with_x(y), 8), (0, 1))
        strong = 4 * pow(5, -1, minutebook._P) % minutebook._P
        self.assertNotEqual(multiply(with_x(strong), 8), (0, 1))

    def test_what_is_no_key_or_signature_never_holds(self):
        key, signature = "5866" + "66" * 30, "00" * 64
        zero = "00" * 32
        for pair in ((zero, signature), ("01" + "00" * 31, signature), ("ff" * 32, signature),
                     (key[:-1], signature), (key + "\n", signature), ("zz" * 32, signature),
                     (None, signature), (key, None), (key, "00"), (7, signature)):
            self.assertIs(minutebook.verify_ed25519(*pair, b"x"), False, pair)

    def test_without_cryptography_nothing_is_true(self):
        with mock.patch.object(minutebook, "_ed25519", return_value=None):
            key, signature = "5866" + "66" * 30, "58" * 64
            self.assertIsNone(minutebook.verify_ed25519(key, signature, b"x"))
            with self.assertRaisesRegex(minutebook.MinutebookError, "pip install"):
                minutebook.Signer(b"1" * 32)

    def test_a_broken_installation_counts_as_none(self):
        class Panic(BaseException):
            pass

        def broken(name, *_, **__):
            raise Panic(name)
        with mock.patch("builtins.__import__", broken):
            self.assertIsNone(minutebook._ed25519())


def entry(number, before, value, kind="propose", **changes):
    """A row of a chain, signed by nobody."""
    row = {"id": number, "claim_id": CLAIM, "value": value, "kind": kind,
           "author_agent_id": "alice", "source_msg_id": None, "quote": None, "pubkey_hex": None,
           "signature_hex": None, "created_at": "2026-11-30T16:06:30Z",
           "created_at_us": f"2026-11-30T16:06:30.00000{number}Z", "prev_hash": before,
           "arbiter_signature_hex": "11" * 64, "arbiter_pubkey_hex": "5866" + "66" * 30}
    row.update(changes)
    row["row_hash"] = minutebook.row_hash(row)
    return row


def ledger_of(rows):
    """What a server would show with these rows."""
    thread = {"id": CLAIM, "subject": "s", "subject_key": "s", "status": "proposed",
              "current_value": rows[-1]["value"].strip(), "opened_by": "alice",
              "revisions_count": len(rows), "last_revision": rows[-1],
              "value_revision_id": rows[-1]["id"]}
    return {"room": ROOM, "context": {"threads": [thread]}, "revisions": rows,
            "arbiter": {"pubkey_hex": "5866" + "66" * 30}}


class Ledger(unittest.TestCase):
    def rows(self):
        first = entry(1, "0" * 64, "$8")
        second = entry(2, first["row_hash"], " $9 ", "update")
        return [first, second, entry(3, second["row_hash"], "$7", "update")]

    def check(self, ledger, **how):
        with mock.patch.object(minutebook, "_ed25519", return_value=None):
            return minutebook.check_chain(ledger, **how)

    def test_the_hashes_are_the_peers(self):
        row = {"author_agent_id": "alice", "claim_id": "188cc2f7-6749-4a68-b015-c4d301074c14",
               "created_at_us": "2026-11-30T16:06:30.904309Z", "kind": "propose", "id": 1062,
               "prev_hash": "0" * 64, "source_msg_id": 2693, "value": "a0"}
        self.assertEqual(minutebook.row_hash(row),
                         "6b344ed9ac5bd9d80973098293bdda5df338b5db9334bc5887f66f130820db6a")
        self.assertEqual(minutebook.context_hash([]),
                         "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945")

    def test_the_context_hash_leaves_out_what_was_cancelled(self):
        thread = {"id": CLAIM, "subject": "Café", "subject_key": "caf", "status": "proposed",
                  "current_value": "a\"\n\x7f", "opened_by": "not covered"}
        text = ('[{"current_value": "a\\"\\n\x7f", "id": "' + CLAIM + '", "status": "proposed", '
                '"subject": "Café", "subject_key": "caf"}]')
        cancelled = {**thread, "status": "cancelled"}
        self.assertEqual(minutebook.context_hash([thread, cancelled]),
                         hashlib.sha256(text.encode()).hexdigest())

    def test_without_cryptography_a_good_chain_is_inconclusive_and_says_why(self):
        report = self.check(ledger_of(self.rows()))
        self.assertEqual((report["verdict"], report["findings"]), ("INCONCLUSIVE", []))
        self.assertIn("cryptography", report["explanation"])
        self.assertEqual(report["details"]["signatures_checked"], 0)

    def test_each_change_to_a_chain_is_refuted_without_cryptography_too(self):
        for name, value in (("value", "$1"), ("author_agent_id", "bob"), ("kind", "confirm"),
                            ("created_at_us", "2026-11-30T16:06:30.000009Z"),
                            ("source_msg_id", 1), ("claim_id", ROOM), ("prev_hash", "1" * 64)):
            rows = self.rows()
            rows[1][name] = value
            ledger = ledger_of(rows)
            ledger["context"]["threads"].append(
                {**ledger["context"]["threads"][0], "id": ROOM})
            report = self.check(ledger)
            self.assertEqual(report["verdict"], "REFUTED", name)
            self.assertEqual(report["findings"][0]["revision_id"], 2, name)

    def test_rows_that_are_missing_moved_or_doubled_are_refuted(self):
        whole = ledger_of(self.rows())
        first, second, third = whole["revisions"]
        for rows in ([second, third], [first, third], [first, second], [],
                     [first, second, second, third], [first, first, third]):
            report = self.check({**whole, "revisions": rows})
            self.assertEqual(report["verdict"], "REFUTED", rows)

    def test_a_value_that_does_not_follow_is_refuted(self):
        for name, value in (("current_value", "$1"), ("value_revision_id", 1),
                            ("revisions_count", 2)):
            ledger = ledger_of(self.rows())
            ledger["context"]["threads"][0][name] = value
            report = self.check(ledger)
            self.assertEqual(report["verdict"], "REFUTED", name)

    def test_a_key_that_is_not_the_arbiters_is_refuted(self):
        report = self.check(ledger_of(self.rows()), pinned=["ab" * 32])
        self.assertEqual(report["findings"][0]["type"], "invalid_arbiter_signature")

    def test_hidden_hashes_are_never_clean(self):
        for hidden in ((0,), (1,), (2,), (0, 1, 2)):
            rows = self.rows()
            for index in hidden:
                rows[index]["row_hash"] = None
            report = self.check(ledger_of(rows))
            expected = "INCONCLUSIVE" if len(hidden) == 3 else "REFUTED"
            self.assertEqual(report["verdict"], expected, hidden)

    def test_revisions_made_while_downloading_are_left_out(self):
        rows = self.rows()
        ledger = ledger_of(rows[:2])
        report = self.check({**ledger, "revisions": rows})
        self.assertEqual(report["details"]["revisions_checked"], 2)
        self.assertEqual(report["verdict"], "INCONCLUSIVE")

    def test_what_is_no_ledger_is_an_error_and_no_verdict(self):
        for ledger in ({}, [], {"room": 1}, {**ledger_of(self.rows()), "revisions": [1]}):
            with self.assertRaises(minutebook.MinutebookError):
                self.check(ledger)

    def test_a_key_seals_for_one_name(self):
        def shake(agent, key=None, context="c"):
            return {"agent_id": agent, "pubkey_hex": key, "context_hash": context}
        sealed = minutebook.sealed_by
        self.assertEqual(sealed([shake("a"), shake("b"), shake("a")], "c"), ["a", "b"])
        self.assertEqual(sealed([shake("a", "k"), shake("b", "k")], "c"), ["a"])
        self.assertEqual(sealed([shake("b", "k"), shake("a", "k"), shake("a")], "c"), ["b"])
        self.assertEqual(sealed([shake("a"), shake("b"), shake("a", "k", "old"),
                                 shake("b", "k", "old")], "c"), ["a"])
        self.assertEqual(sealed([shake("a"), shake("b", context="old")], "c"), ["a"])

    def test_who_said_how_far_it_had_read_seals_no_later_value(self):
        def shake(agent, position=None):
            return {"agent_id": agent, "position": position, "context_hash": "c"}
        thread = {"value_revision_id": 3, "status": "agreed"}
        other = {"value_revision_id": 9, "status": "cancelled"}
        newest = minutebook.newest_value({"threads": [thread, other, {"status": "proposed"}]})
        self.assertEqual(newest, 3)
        self.assertEqual(minutebook.newest_value({"threads": []}), 0)
        sealed = minutebook.sealed_by
        self.assertEqual(sealed([shake("a", 1), shake("b", 3), shake("d")], "c", 3), ["b", "d"])
        self.assertEqual(sealed([shake("a", 1), shake("a", 3)], "c", 3), ["a"])
        self.assertEqual(sealed([shake("a"), shake("a", 1)], "c", 3), [])


class Streams(unittest.TestCase):
    def events(self, text):
        return list(minutebook.parse_events(text.encode("utf-8").splitlines(True)))

    def test_events_are_read_as_they_are_written(self):
        text = ("retry: 3000\nid: 3\nevent: ready\ndata: {}\n\n: beat\n\nid: 4\r\nevent: x\r\n"
                "data: a\r\ndata:b\r\ndata:  c\r\n\r\ndata: d\n\nid: 5\nevent: half\ndata: e\n")
        self.assertEqual(self.events(text), [
            (None, "retry", "3000"), ("3", "ready", "{}"), ("4", "x", "a\nb\n c"),
            ("4", "message", "d")])

    def test_an_event_without_end_is_an_error_and_not_all_memory(self):
        with mock.patch.object(minutebook, "EVENT_MAX", 10):
            with self.assertRaisesRegex(minutebook.MinutebookError, "larger than 10"):
                self.events("data: 123456\ndata: 123456\n\n")


class CommandLine(unittest.TestCase):
    def test_every_command_of_the_skill_exists(self):
        parser, commands = minutebook.build_parser(), 0
        for block in re.findall(r"```sh\n(.*?)```", SKILL.read_text("utf-8"), re.DOTALL):
            for line in block.replace("\\\n", " ").splitlines():
                found = re.search(r"python3 minutebook\.py (.*)", line)
                if found:
                    words = shlex.split(found.group(1), comments=True)
                    words = words[:words.index(">")] if ">" in words else words
                    words = [re.sub(r"^\$(ID|MESSAGE|SEQ)$", "1", word) for word in words]
                    self.assertTrue(callable(parser.parse_args(words).run), line)
                    commands += 1
        self.assertGreater(commands, 20)

    def test_usage_errors_are_two_and_never_look_like_a_verdict(self):
        for args, expected in ((["info"], 2), (["info", ROOM, "--bogus"], 2), ([], 2),
                               (["wait", ROOM, "--timeout", "-1"], 2), (["send", ROOM, "a"], 2),
                               (["revise", ROOM, CLAIM, "propose", "a"], 2),
                               (["revise", ROOM, CLAIM, "confirm", "a"], 2),
                               (["claims", "open", ROOM, "a", "s", "v", "--sign-key", "k"], 2),
                               (["verify-room"], 64), (["verify-room", ROOM, "--bogus"], 64),
                               (["verify-chain", ROOM, "--arbiter-pubkey", "x"], 64)):
            done = call(*args)
            self.assertEqual((done.returncode, done.stdout), (expected, ""), (args, done.stderr))
            self.assertIn("error:", done.stderr)

    @mock.patch.object(minutebook.time, "sleep", lambda _: None)
    def test_local_errors_are_one_line_and_exit_one(self):
        url = "http://127.0.0.1:1"
        with Folder() as name:
            for args in (["info", "nonsense"], ["info", ROOM, "--host", url],
                         ["info", ROOM, "--host", "ftp://x"], ["verify", "{}x"],
                         ["verify", name + "/missing"], ["keygen", name + "/no/key"],
                         ["send", ROOM, "a", "--file", name],
                         ["send", ROOM, "a", "x", "--sign-key", name + "/missing"]):
                done = call(*args)
                self.assertEqual((done.returncode, done.stdout), (1, ""), (args, done.stderr))
                self.assertRegex(done.stderr, r"\Aerror: .*\n\Z", args)
        self.assertEqual(call("verify-room", ROOM, "--host", url).returncode, 69)
        self.assertEqual(call("verify-chain", ROOM, "--host", "ftp://x").returncode, 69)

    def test_hostile_arguments_are_shown_harmless(self):
        done = run("info", "\x1b]0;x\x07\u202e")
        self.assertEqual(done.stderr.count("\x1b") + done.stderr.count("\u202e"), 0)

    def test_the_program_is_one_file_of_the_standard_library(self):
        source = PROGRAM.read_text("utf-8")
        names = set(re.findall(r"^ *(?:import|from) +([a-z_0-9]+)", source, re.MULTILINE))
        standard = {"__future__"} | set(sys.builtin_module_names)
        for name in names - standard - {"cryptography"}:
            origin = importlib.util.find_spec(name).origin
            self.assertNotIn("site-packages", origin)
            self.assertNotIn("dist-packages", origin)


if __name__ == "__main__":
    unittest.main()

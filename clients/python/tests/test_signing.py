"""Signing and checking with the package `cryptography`; the server judges what was signed."""

import hashlib
import json
import os
import stat
import unittest

from support import Folder, Scripted, run, server_url, without_cryptography

import minutebook

SEED = bytes([0x11]) * 32
PUBKEY = "d04ab232742bb4ab3a1368bd4615e4e6d0224ab71a016baf8520a332c9778737"


class Vectors(unittest.TestCase):
    """Ed25519 is deterministic: the seed's own signatures come out."""

    def test_signatures_are_those_of_the_seeds_code(self):
        signer = minutebook.Signer(SEED)
        self.assertEqual(signer.pubkey_hex, PUBKEY)
        text, ts_iso = "We agreed: $5/unit, délai 20 мая 🧱", "2026-05-24T18:42:01.123456Z"
        surface = minutebook.message_surface(
            "7002cc19-fc28-4472-a4ca-828206128894", text, ts_iso)
        self.assertEqual(
            signer.sign(surface),
            "33110b372f6a32b6b711d2136ad717c49c0ab2cf46f46a085cb991fba1fbaf42"
            "b0671d617000eb08f25e27c59daa2d33c3936d47b96b772cf86f31b1513c8f08")
        surface = minutebook.revision_surface(
            "", "19b1ea50-0ef3-4b25-8ffc-7fbb5192d571", "bob", "confirm", "$8 — да")
        self.assertEqual(
            signer.sign(surface),
            "8e3e0fa656f7500dd576e841107511b2cf0ed1f4ec6b5a726e74786e084cffd1"
            "e33aac308b8042d10b059cd6a7694db12e6b99c0db0432451699726949147a0a")

    def test_only_the_right_key_signature_and_bytes_hold(self):
        signer = minutebook.Signer(SEED)
        signature = signer.sign(b"x")
        self.assertIs(minutebook.verify_ed25519(PUBKEY, signature, b"x"), True)
        self.assertIs(minutebook.verify_ed25519(PUBKEY.upper(), signature.upper(), "x"), True)
        other = minutebook.Signer(b"2" * 32)
        flipped = f"{int(signature[0], 16) ^ 1:x}" + signature[1:]
        for pair in ((other.pubkey_hex, signature), (PUBKEY, other.sign(b"x")),
                     (PUBKEY, flipped)):
            self.assertIs(minutebook.verify_ed25519(*pair, b"x"), False)
        self.assertIs(minutebook.verify_ed25519(PUBKEY, signature, b"y"), False)

    def test_a_weak_key_signs_nothing(self):
        # Of the point of order one: this signature would hold for every message.
        weak, base = "01" + "00" * 31, "58" + "66" * 31
        signature = base + "01" + "00" * 31
        self.assertIs(minutebook.verify_ed25519(weak, signature, b"anything"), False)


class KeyFiles(unittest.TestCase):
    def test_keys_are_made_once_and_for_their_owner(self):
        with Folder() as name:
            path = os.path.join(name, "key")
            done = run("keygen", path)
            self.assertEqual((done.returncode, len(done.stdout.strip())), (0, 64))
            self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
            self.assertEqual(minutebook.load_key(path).pubkey_hex, done.stdout.strip())
            self.assertEqual(run("keygen", path).returncode, 1)
            os.chmod(path, 0o640)
            with self.assertRaisesRegex(minutebook.MinutebookError, "chmod 600"):
                minutebook.load_key(path)
            os.chmod(path, 0o600)
            for content, good in ((SEED.hex() + "\n", True), (SEED.hex()[1:], False), ("", False),
                                  ("x" * 33, False)):
                with open(path, "w", encoding="ascii") as file:
                    file.write(content)
                if good:
                    self.assertEqual(minutebook.load_key(path).pubkey_hex, PUBKEY)
                else:
                    with self.assertRaisesRegex(minutebook.MinutebookError, "is no key"):
                        minutebook.load_key(path)

    def test_without_cryptography_no_key_is_left_behind(self):
        folder = Folder()
        self.addCleanup(folder.cleanup)
        done = run("keygen", folder.path("key"), env=without_cryptography(folder.name))
        self.assertEqual(done.returncode, 1)
        self.assertFalse(os.path.exists(folder.path("key")))


class Messages(unittest.TestCase):
    def setUp(self):
        server_url()
        self.room = minutebook.create_room()["url"]
        self.folder = Folder()
        self.addCleanup(self.folder.cleanup)
        self.key = self.folder.path("key")
        minutebook.generate_key(self.key)

    def listed(self):
        return minutebook.fetch_messages(self.room)["messages"]

    def test_the_server_takes_a_signed_message_and_anybody_can_check_it(self):
        for text in ("plain", "  é🧱\n\x00 ", "ends \n"):
            sent = minutebook.send(self.room, " Zoe\u0301 ", text, key=self.key,
                                   memory_root="root")
            self.assertEqual(sent["agent_id"], "Zo\u00e9")
        for message in self.listed():
            self.assertIs(minutebook.check_message(self.room, message), True)
            for name, value in (("text", "other"), ("ts_iso", "2026-05-24T18:42:01Z"),
                                ("memory_root", None), ("pubkey_hex", PUBKEY),
                                ("signature_hex", None)):
                changed = {**message, name: value}
                self.assertIs(minutebook.check_message(self.room, changed), False, name)
        self.assertEqual(minutebook.verify_room(self.room)["verdict"], "CLEAN")

    def test_what_cannot_be_checked_is_not_called_signed(self):
        run("send", self.room, "alice", "x", "--sign-key", self.key)
        environment = without_cryptography(self.folder.name)
        self.assertIn("alice (signed): x", run("read", self.room, "--text").stdout)
        hidden = run("read", self.room, "--text", env=environment).stdout
        self.assertIn("alice (signed, not checked): x", hidden)
        done = run("send", self.room, "alice", "y", "--sign-key", self.key, env=environment)
        self.assertEqual(done.returncode, 1)
        self.assertIn("pip install cryptography", done.stderr)
        self.assertEqual(len(self.listed()), 1)


class Chain(unittest.TestCase):
    """A ledger that is signed throughout, without a server."""

    ROOM = "7002cc19-fc28-4472-a4ca-828206128894"
    CLAIM = "19b1ea50-0ef3-4b25-8ffc-7fbb5192d571"

    def row(self, number, before, kind, agent, value, **changes):
        row = {"id": number, "claim_id": self.CLAIM, "kind": kind, "author_agent_id": agent,
               "value": value, "source_msg_id": None, "prev_hash": before,
               "created_at_us": f"2026-11-30T16:06:30.00000{number}Z", "quote": None}
        row.update(changes)
        arbiter = minutebook.Signer(b"a" * 32)
        row["row_hash"] = minutebook.row_hash(row)
        row["arbiter_pubkey_hex"] = arbiter.pubkey_hex
        payload = minutebook.canonical_payload(row).encode("utf-8")
        row["arbiter_signature_hex"] = arbiter.sign(payload)
        return row

    def signed(self, surface, bound):
        signer = minutebook.Signer(SEED)
        return {"pubkey_hex": signer.pubkey_hex, "signature_hex": signer.sign(surface),
                "surface": minutebook.SURFACE_V2 if bound else minutebook.SURFACE_V1}

    def ledger(self):
        opening = minutebook.opening_surface(self.ROOM, "alice", "Date", "May 20")
        first = self.row(1, "0" * 64, "propose", "alice", "May 20", **self.signed(opening, True))
        padded = minutebook.revision_surface(self.ROOM, self.CLAIM, "alice", "update", " May 21 ")
        second = self.row(2, first["row_hash"], "update", "alice", " May 21 ",
                          **self.signed(padded, False))
        bound = minutebook.revision_surface(
            self.ROOM, self.CLAIM, "bob", "confirm", "May 21", 2, bound=True)
        third = self.row(3, second["row_hash"], "confirm", "bob", "May 21", position=2,
                         **self.signed(bound, True))
        thread = {"id": self.CLAIM, "subject": "Date", "subject_key": "date",
                  "current_value": "May 21", "status": "proposed", "revisions_count": 3,
                  "value_revision_id": 2, "last_revision": third}
        arbiter = minutebook.Signer(b"a" * 32).pubkey_hex
        return {"room": self.ROOM, "context": {"threads": [thread]},
                "revisions": [third, first, second], "arbiter": {"pubkey_hex": arbiter}}

    def test_a_whole_ledger_is_clean_and_says_what_was_checked(self):
        ledger = self.ledger()
        report = minutebook.check_chain(ledger)
        self.assertEqual((report["verdict"], report["findings"]), ("CLEAN", []))
        self.assertEqual(report["details"]["signatures_checked"], 6)
        self.assertIn("the server named it", report["not_proven"][0])
        pinned = minutebook.check_chain(ledger, [ledger["arbiter"]["pubkey_hex"].upper()])
        self.assertEqual((pinned["verdict"], len(pinned["not_proven"])), ("CLEAN", 2))

    def test_a_key_signs_for_its_own_epoch_only(self):
        ledger = self.ledger()
        key = ledger["arbiter"]["pubkey_hex"]
        for row in ledger["revisions"]:
            row["log_seq"] = 10 + row["id"]
        for history, verdict in (
                ([(1, PUBKEY), (11, key)], "CLEAN"), ([(1, key), (20, PUBKEY)], "CLEAN"),
                ([(1, key), (13, PUBKEY)], "REFUTED"), ([(1, PUBKEY), (12, key)], "REFUTED"),
                ([(12, key)], "REFUTED")):
            ledger["arbiter"]["history"] = [
                {"since_log_seq": since, "pubkey_hex": pubkey} for since, pubkey in history]
            self.assertEqual(minutebook.check_chain(ledger)["verdict"], verdict, history)

    def test_each_signature_is_looked_at(self):
        for index, name, value, kind in (
                (0, "arbiter_signature_hex", "00" * 64, "invalid_arbiter_signature"),
                (0, "arbiter_pubkey_hex", PUBKEY, "invalid_arbiter_signature"),
                (0, "pubkey_hex", "ab" * 32, "invalid_agent_revision_signature"),
                (0, "signature_hex", None, "invalid_agent_revision_signature"),
                (0, "surface", minutebook.SURFACE_V1, "invalid_agent_revision_signature"),
                (0, "position", None, "invalid_agent_revision_signature"),
                (0, "position", 1, "invalid_agent_revision_signature"),
                (0, "position", 3, "invalid_agent_revision_signature"),
                (2, "signature_hex", "00" * 64, "invalid_agent_revision_signature")):
            ledger = self.ledger()
            ledger["revisions"][index][name] = value
            report = minutebook.check_chain(ledger)
            self.assertEqual(report["verdict"], "REFUTED", name)
            self.assertEqual(report["findings"][0]["type"], kind, name)

    def test_an_opening_whose_subject_is_not_shown_as_signed_is_inconclusive(self):
        ledger = self.ledger()
        ledger["context"]["threads"][0]["subject"] = "Other"
        self.assertEqual(minutebook.check_chain(ledger)["verdict"], "INCONCLUSIVE")
        ledger["revisions"][1]["subject"] = "Date"
        self.assertEqual(minutebook.check_chain(ledger)["verdict"], "CLEAN")
        ledger["revisions"][1]["subject"] = "Other"
        self.assertEqual(minutebook.check_chain(ledger)["verdict"], "REFUTED")

    def test_an_unknown_surface_is_inconclusive(self):
        ledger = self.ledger()
        ledger["revisions"][0]["surface"] = "later-v3"
        report = minutebook.check_chain(ledger)
        self.assertEqual(report["verdict"], "INCONCLUSIVE")
        self.assertIn("later-v3", report["explanation"])

    def test_a_bound_signature_holds_for_its_room_and_position_only(self):
        ledger = self.ledger()
        ledger["room"] = ledger["room"].replace("7", "8")
        ledger["revisions"][1]["subject"] = "Date"
        found = minutebook.check_chain(ledger)["findings"]
        self.assertEqual([(finding["type"], finding["revision_id"]) for finding in found], [
            ("invalid_agent_revision_signature", 1), ("invalid_agent_revision_signature", 3)])


class SignedSkills(unittest.TestCase):
    DATA = b"demo"
    DIGEST = hashlib.sha256(DATA).hexdigest()

    def test_an_offer_made_by_share_verifies_as_signed(self):
        signer = minutebook.Signer(SEED)

        def answer(request, _):
            if request.command == "POST":
                record = {"id": "1", "sha256": self.DIGEST, "name": "demo", "version": "1",
                          "description": "d", "fetch_url": server.url + "/s", "size_bytes": 4,
                          "author_pubkey": None, "deduped": True}
                request.reply(201, json.dumps(record))
            else:
                request.reply(200, self.DATA)
        with Scripted(answer) as server, Folder() as name:
            path = os.path.join(name, "demo.tar.gz")
            with open(path, "wb") as file:
                file.write(self.DATA)
            done = run("share", path, "--name", "demo", "--version", "1", "--agent-id", "a",
                       "--signing-key-hex", SEED.hex(), "--host", server.url)
            self.assertEqual(done.returncode, 0, done.stderr)
            offer = json.loads(done.stdout)["skill_offer_message"]
            self.assertEqual(offer["author_pubkey"], signer.pubkey_hex)
            self.assertEqual(
                offer["author_sig"],
                "2480f51d572cdf7ea0634f48c9d3e06c3951ebdd58b9a5a2ee0452e992661aea"
                "2062e3e087dd2a099d4b2b71ef1c14a24cc8e280f69b11785ff9bd357ad8cc0d")
            report = minutebook.verify_skill_offer(
                offer, os.path.join(name, "got"), allow_private=True)
            self.assertTrue(report["signature_ok"] and report["safe_to_ask_owner"])
            for change in ({"author_sig": "00" * 64}, {"author_pubkey": "ab" * 32},
                           {"author_sig": signer.sign(bytes.fromhex(self.DIGEST))}):
                report = minutebook.verify_skill_offer(
                    {**offer, **change}, os.path.join(name, "bad"), allow_private=True)
                self.assertIs(report["signature_ok"], False)
                self.assertFalse(report["safe_to_ask_owner"])
                self.assertFalse(os.path.exists(os.path.join(name, "bad")))


if __name__ == "__main__":
    unittest.main()

"""Skills on the real server."""

import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import tarfile
import unittest
import uuid

from support import PROGRAM, SKILL, Folder, run, server_url

import minutebook


def archive(path, member="demo/SKILL.md"):
    """A skill of its own: no two are the same bytes."""
    with tarfile.open(path, "w:gz") as tar:
        data = f"---\nname: demo\n---\n{uuid.uuid4()}\n".encode()
        info = tarfile.TarInfo(member)
        info.size = len(data)
        tar.addfile(info, io.BytesIO(data))
    return path


class Skills(unittest.TestCase):
    def setUp(self):
        server_url()
        self.folder = Folder()
        self.addCleanup(self.folder.cleanup)
        self.file = archive(self.folder.path("demo.tar.gz"))
        self.key = self.folder.path("key")
        self.pubkey = minutebook.generate_key(self.key).pubkey_hex

    def share(self, *how):
        done = run("share", self.file, "--name", "demo skill", "--version", "1.0", "--description",
                   "d", "--agent-id", "alice", *how)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def verify(self, offer):
        path = self.folder.path("got")
        done = run("verify", json.dumps(offer), "--dest", path)
        return done.returncode, json.loads(done.stdout)

    def test_a_signed_skill_goes_through_a_room_and_verifies(self):
        shared = self.share("--sign-key", self.key)
        with open(self.file, "rb") as file:
            data = file.read()
        self.assertEqual(shared["upload"]["sha256"], hashlib.sha256(data).hexdigest())
        room = minutebook.create_room()["url"]
        minutebook.send(room, "alice", json.dumps(shared["skill_offer_message"]))
        offer = json.loads(minutebook.fetch_messages(room)["messages"][0]["text"])
        self.assertEqual((offer["author_pubkey"], offer["size_bytes"]), (self.pubkey, len(data)))
        code, report = self.verify(offer)
        self.assertEqual((code, report["signature_ok"], report["safe_to_ask_owner"]),
                         (0, True, True))
        with open(report["path"], "rb") as file:
            self.assertEqual(file.read(), data)

    def test_a_changed_offer_keeps_nothing(self):
        offer = self.share("--sign-key", self.key)["skill_offer_message"]
        for change in ({"sha256": "0" * 64}, {"author_sig": "0" * 128}, {"size_bytes": 1},
                       {"author_pubkey": "ab" * 32}, {"author_sig": None}):
            code, report = self.verify({**offer, **change})
            self.assertEqual((code, report["safe_to_ask_owner"]), (3, False), change)
            self.assertFalse(os.path.exists(self.folder.path("got")))

    def test_the_same_bytes_again_keep_their_first_signature(self):
        self.share("--sign-key", self.key)
        again = self.share()
        self.assertIs(again["upload"]["deduped"], True)
        self.assertEqual(again["skill_offer_message"]["author_pubkey"], self.pubkey)
        self.assertEqual(self.verify(again["skill_offer_message"])[0], 0)

    def test_an_unsigned_skill_can_be_asked_about_and_says_so(self):
        code, report = self.verify(self.share()["skill_offer_message"])
        self.assertEqual((code, report["signature_present"]), (0, False))
        self.assertIn("unsigned", report["notes"][0])

    def test_what_is_no_skill_is_refused(self):
        self.file = archive(self.folder.path("x.tar.gz"), "README.md")
        done = run("share", self.file, "--name", "x", "--version", "1", "--agent-id", "alice")
        self.assertEqual(done.returncode, 2)
        self.assertIn("SKILL.md", done.stderr)


class Document(unittest.TestCase):
    """What SKILL.md tells an agent to type works when it is typed."""

    def setUp(self):
        self.folder = Folder()
        self.addCleanup(self.folder.cleanup)
        self.room = minutebook.create_room(confirmations_needed=1)["url"]
        asked = minutebook.send(self.room, "bob", "May we say Friday?")
        self.seq, self.message = asked["log_seq"], asked["id"]
        opened = minutebook.open_claim(self.room, "bob", "Delivery date", "2026-12-04")
        self.theirs = opened["id"]
        self.mine = minutebook.open_claim(self.room, "me", "Price", "5 EUR")["id"]
        shutil.copy(PROGRAM, self.folder.path("minutebook.py"))
        archive(self.folder.path("my-skill.tar.gz"))

    def type(self, line):
        context = minutebook.get_context(self.room)["context_hash"]
        values = {"ROOM": self.room, "ID": "0", "SEQ": str(self.seq), "THREAD": self.theirs,
                  "MINE": self.mine, "HASH": context, "MESSAGE": str(self.message)}
        # The one command that never ends by itself.
        line = re.sub(r"(minutebook\.py follow .*)", r"\1 --max 1", line)
        return subprocess.run(
            ["sh", "-c", line], cwd=self.folder.name, env={**os.environ, **values},
            capture_output=True, encoding="utf-8", timeout=60, check=False)

    def test_every_command_works_in_its_order(self):
        text, typed = SKILL.read_text("utf-8"), 0
        for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL):
            for line in block.splitlines():
                if not line.startswith("python3 minutebook.py"):
                    continue
                done = self.type(line)
                self.assertEqual(done.returncode, 0, (line, done.stdout, done.stderr))
                if " share " in line:
                    with open(self.folder.path("offer.json"), "w", encoding="utf-8") as file:
                        file.write(done.stdout)
                typed += 1
        self.assertGreater(typed, 25)


if __name__ == "__main__":
    unittest.main()

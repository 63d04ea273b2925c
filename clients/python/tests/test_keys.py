"""A server that asks for API keys. MINUTEBOOK_KEY holds one with the scope `agent`."""

import json
import os
import unittest

from support import run, server_url

import minutebook


class ApiKeys(unittest.TestCase):
    def setUp(self):
        server_url()
        self.key = os.environ["MINUTEBOOK_KEY"]

    def test_the_key_opens_what_is_closed_without_it(self):
        room = json.loads(run("create", "keyed").stdout)["url"]
        for args in (["send", room, "alice", "x"], ["poll", room], ["wait", room, "--since", "0"],
                     ["follow", room, "--since", "0", "--max", "1"], ["verify-room", room]):
            self.assertEqual(run(*args).returncode, 0, args)
            done = run(*args, env={"MINUTEBOOK_KEY": ""})
            self.assertEqual(done.returncode, 69 if args[0] == "verify-room" else 2, args)
            self.assertIn('"code":"key_required"', done.stderr)

    def test_the_key_is_not_shown_to_a_server_that_merely_looks_the_same(self):
        room = minutebook.create_room()["url"]
        twin = room.replace("127.0.0.1", "localhost")
        done = run("info", twin)
        self.assertEqual(done.returncode, 2)
        self.assertIn("was not sent to this server", done.stderr)

    def test_a_wrong_key_is_refused_and_not_printed(self):
        wrong = "mb_" + "0" * 64
        done = run("create", env={"MINUTEBOOK_KEY": wrong})
        self.assertEqual(done.returncode, 2)
        self.assertNotIn(wrong, done.stderr)
        self.assertNotIn(self.key, done.stderr)


if __name__ == "__main__":
    unittest.main()

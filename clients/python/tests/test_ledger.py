"""Threads, handshakes and the chain on the real server."""

import json
import unittest
import uuid
from unittest import mock

from support import Folder, run, server_url, without_cryptography

import minutebook


class Case(unittest.TestCase):
    def setUp(self):
        server_url()
        self.room = minutebook.create_room("Agree", confirmations_needed=1)["url"]
        self.folder = Folder()
        self.addCleanup(self.folder.cleanup)

    def key(self, name):
        path = self.folder.path(name)
        minutebook.generate_key(path)
        return path

    def ok(self, *args, **how):
        done = run(*args, **how)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def opened(self, **how):
        return minutebook.open_claim(self.room, "alice", "Delivery date", "May 20", **how)["id"]


class Threads(Case):
    def test_a_thread_is_opened_confirmed_and_shown(self):
        source = minutebook.send(self.room, "alice", "May 20 then")["id"]
        thread = json.loads(self.ok(
            "claims", "open", self.room, "alice", "Delivery date", "May 20", "--source-msg-id",
            source, "--quote", "May 20", "--json"))
        self.assertEqual((thread["status"], thread["subject_key"]), ("proposed", "delivery-date"))
        thread = json.loads(self.ok(
            "revise", self.room, thread["id"], "confirm", "bob", "May 20", "--json"))
        self.assertEqual((thread["status"], len(thread["revisions"])), ("agreed", 2))
        text = self.ok("claims", "context", self.room)
        self.assertRegex(text, r"\Acontext [0-9a-f]{64}, 1 thread, read")
        self.assertIn('agreed: "Delivery date" = "May 20"', text)
        text = self.ok("claims", "show", self.room, thread["id"])
        self.assertIn('  1. propose by alice: "May 20"', text)
        self.assertIn('message 1) quoting "May 20"', text)

    def test_values_are_repeated_where_nothing_is_agreed_to(self):
        claim = self.opened()
        minutebook.revise(self.room, claim, "contradict", "bob")
        thread = minutebook.revise(self.room, claim, "retract", "alice")
        self.assertEqual([row["value"] for row in thread["revisions"]], ["May 20"] * 3)
        self.assertEqual(thread["status"], "cancelled")
        with self.assertRaises(minutebook.UsageError):
            minutebook.revise(self.room, claim, "confirm", "bob")

    def test_refusals_are_the_servers(self):
        claim = self.opened()
        for kind, agent, status in (("update", "bob", 403), ("retract", "bob", 403),
                                    ("confirm", "alice", 400), ("contradict", "alice", 400)):
            with self.assertRaises(minutebook.MinutebookError) as caught:
                minutebook.revise(self.room, claim, kind, agent, "May 20")
            self.assertEqual(caught.exception.status, status, kind)
        self.assertEqual(run("claims", "show", self.room, str(uuid.uuid4())).returncode, 2)
        self.assertEqual(run("claims", "show", self.room, "no-uuid").returncode, 1)

    def test_a_repeated_write_is_one_revision(self):
        claim, key = self.opened(), uuid.uuid4().hex
        for _ in range(2):
            thread = minutebook.revise(self.room, claim, "update", "alice", "May 21",
                                       idempotency_key=key)
        self.assertEqual(thread["revisions_count"], 2)


class Signatures(Case):
    def test_both_surfaces_are_taken(self):
        alice, bob = self.key("alice"), self.key("bob")
        claim = self.opened(key=alice)
        minutebook.revise(self.room, claim, "update", "alice", "  padded\t", key=alice)
        minutebook.revise(self.room, claim, "confirm", "bob", "padded", key=bob)
        minutebook.revise(self.room, claim, "update", "alice", "May 22", key=alice, bound=True)
        thread = minutebook.revise(
            self.room, claim, "confirm", "bob", "May 22", key=bob, bound=True)
        self.assertEqual(thread["status"], "agreed")
        self.assertTrue(all(row["signature_hex"] for row in thread["revisions"]))
        self.assertEqual([row["surface"] for row in thread["revisions"]], [
            minutebook.SURFACE_V2, minutebook.SURFACE_V1, minutebook.SURFACE_V1,
            minutebook.SURFACE_V2, minutebook.SURFACE_V2])
        minutebook.handshake(self.room, "alice", key=alice)
        minutebook.handshake(self.room, "bob", key=bob, bound=True)
        told = self.ok("claims", "handshakes", self.room)
        self.assertIn("\nsealed, 1 of 1 thread agreed: alice, bob on ", told)
        self.assertEqual(minutebook.verify_room(self.room)["verdict"], "CLEAN")

    def test_a_bound_message_is_taken_and_checked(self):
        alice = self.key("alice")
        minutebook.send(self.room, "alice", "bound", key=alice, bound=True)
        message = minutebook.fetch_messages(self.room)["messages"][0]
        self.assertIs(minutebook.check_message(self.room, message), True)
        self.assertIs(minutebook.check_message(self.room, {**message, "agent_id": "bob"}), False)

    def test_a_value_that_moved_is_not_confirmed(self):
        claim, bob = self.opened(), self.key("bob")
        minutebook.revise(self.room, claim, "update", "alice", "May 21")
        for how in ({}, {"key": bob}, {"key": bob, "bound": True}):
            with self.assertRaisesRegex(minutebook.MinutebookError, "May 21"):
                minutebook.revise(self.room, claim, "confirm", "bob", "May 20", **how)
        done = run("revise", self.room, claim, "confirm", "bob", "May 20")
        self.assertEqual(done.returncode, 2)
        self.assertIn('value is "May 21" now, not "May 20"', done.stderr)
        self.assertIn("--force", done.stderr)
        self.assertEqual(minutebook.get_claim(self.room, claim)["revisions_count"], 2)
        forced = json.loads(self.ok(
            "revise", self.room, claim, "confirm", "bob", "May 20", "--force", "--json"))
        self.assertEqual((forced["revisions_count"], forced["status"]), (3, "proposed"))
        kept = json.loads(self.ok(
            "revise", self.room, claim, "confirm", "bob", " May 21 ", "--json"))
        self.assertEqual(kept["status"], "agreed")


class Handshakes(Case):
    def test_two_agents_on_the_present_context_seal_it(self):
        claim = self.opened()
        context = minutebook.get_context(self.room)["context_hash"]
        self.ok("handshake", self.room, "alice", context)
        self.assertIn("not sealed, 0 of 1 thread agreed: alice", self.ok("claims", "handshakes", self.room))
        shake = json.loads(self.ok("handshake", self.room, "bob", "--json"))
        self.assertEqual(shake["context_hash"], context)
        self.assertIn("\nsealed, 0 of 1 thread agreed: alice, bob", self.ok("claims", "handshakes", self.room))
        minutebook.revise(self.room, claim, "update", "alice", "May 21")
        self.assertIn("not sealed, 0 of 1 thread agreed: nobody", self.ok("claims", "handshakes", self.room))
        done = run("handshake", self.room, "alice", context)
        self.assertEqual(done.returncode, 2)
        self.assertIn("HTTP 409", done.stderr)

    def test_who_signed_for_an_earlier_value_is_said_to(self):
        claim = self.opened()
        for agent in ("alice", "bob"):
            minutebook.handshake(self.room, agent, key=self.key(agent), bound=True)
        self.assertIn("\nsealed, ", self.ok("claims", "handshakes", self.room))
        first = minutebook.get_claim(self.room, claim)["current_value"]
        for value in ("another", first):
            minutebook.revise(self.room, claim, "update", "alice", value)
        told = self.ok("claims", "handshakes", self.room)
        self.assertIn("\nnot sealed, 0 of 1 thread agreed: nobody on ", told)
        self.assertIn("alice, bob signed for an earlier value", told)
        self.assertNotIn("one party", told)

    def test_names_of_one_key_are_one_party_whatever_it_signed(self):
        shared = self.key("shared")
        # Only the server sees that the names go together: no handshake is signed.
        minutebook.open_claim(self.room, "alice", "Price", "8 EUR", key=shared)
        minutebook.open_claim(self.room, "bob", "Day", "Friday", key=shared)
        for agent in ("alice", "bob"):
            minutebook.handshake(self.room, agent)
        told = self.ok("claims", "handshakes", self.room)
        self.assertIn("\nnot sealed, 0 of 2 threads agreed: alice, bob on ", told)
        self.assertIn("keys make them one party", told)


class Arbiter(Case):
    """The server here has no model: its built-in patterns read, and say so."""

    def test_the_arbiter_reads_what_is_new(self):
        minutebook.send(self.room, "alice", "I propose: delivery date = May 20")
        done = json.loads(self.ok("claims", "refresh", self.room, "--json"))
        self.assertEqual((done["last_extracted_msg_id"], done["remaining"]), (1, 0))
        self.assertTrue(done["model_used"].startswith("rules:"), done)
        self.assertRegex(self.ok("claims", "refresh", self.room), r"\A0 revisions, .*\(noop, ")
        self.assertEqual(minutebook.refresh(self.room, full=True)["extracted"], 0)
        again = json.loads(self.ok("claims", "refresh", self.room, "--from", "1", "--json"))
        self.assertEqual((again["extracted"], again["model_used"]), (0, done["model_used"]))
        self.assertIn("read up to message 1\n", self.ok("claims", "context", self.room) + "\n")
        self.assertEqual(minutebook.verify_room(self.room)["verdict"], "CLEAN")

    def test_what_it_could_not_do_is_told(self):
        done = {"extracted": 1, "discrepancies_found": 0, "model_used": "openai-chat:m",
                "elapsed_ms": 7, "skipped": 2, "remaining": 3, "next_msg_id": 9,
                "error": "no \x1b[2Jroute"}
        self.assertEqual(minutebook.refreshed_text(done).splitlines()[1:], [
            "the arbiter failed: no \\x1b[2Jroute",
            "2 messages could not be read and were skipped: see claims context",
            "3 messages are left: refresh again with --from 9"])
        # An older server, and the peer, say less.
        for name in ("skipped", "remaining", "next_msg_id", "error"):
            del done[name]
        self.assertEqual(minutebook.refreshed_text(done),
                         "1 revision, 0 discrepancies (openai-chat:m, 7 ms)")

    def test_what_was_said_and_not_done_is_told(self):
        claim = self.opened()
        context = minutebook.get_context(self.room)
        context["suggestions"] = [{"claim_id": claim, "kind": "confirm", "agent_id": "bob",
                                   "value": "May\n20", "quote": None, "source_msg_id": 4}]
        self.assertIn(f'said but not on the ledger: bob would confirm thread {claim} with '
                      '"May\\n20" (message 4)', minutebook.context_text(context))


class Chains(Case):
    def filled(self):
        claim = self.opened(key=self.key("alice"))
        minutebook.open_claim(self.room, "bob", "Preis", "8 €")
        minutebook.revise(self.room, claim, "confirm", "bob", "May 20", key=self.key("bob"))
        minutebook.revise(self.room, claim, "update", "alice", "May 21")

    def test_the_servers_chain_is_clean_here_too(self):
        self.filled()
        report = json.loads(self.ok("verify-chain", self.room, "--json"))
        self.assertEqual(report["details"]["revisions_checked"], 4)
        self.assertEqual(report["details"]["signatures_checked"], 6)
        pinned = minutebook.arbiter_pubkey()["pubkey_hex"]
        self.ok("verify-chain", self.room, "--arbiter-pubkey", pinned)
        self.assertEqual(
            run("verify-chain", self.room, "--arbiter-pubkey", "ab" * 32).returncode, 1)

    def test_a_ledger_in_pages_is_the_ledger(self):
        self.filled()
        whole = minutebook.download_ledger(self.room)
        self.assertEqual(len(whole["revisions"]), 4)
        for size in (1, 2, 3):
            with mock.patch.object(minutebook, "PAGE", size):
                self.assertEqual(minutebook.download_ledger(self.room), whole, size)

    def test_a_server_without_pages_answers_with_the_whole_ledger(self):
        self.filled()
        whole = minutebook.download_ledger(self.room)
        ask = minutebook._get

        def unpaged(url):
            return ask(url.partition("?")[0])

        for size in (1, 2, 3, 4):
            with mock.patch.multiple(minutebook, PAGE=size, _get=unpaged):
                self.assertEqual(minutebook.download_ledger(self.room), whole, size)

    def test_a_kept_ledger_is_checked_offline_and_changes_are_found(self):
        self.filled()
        path = self.folder.path("ledger.json")
        self.ok("verify-chain", self.room, "--save", path)
        self.ok("verify-chain", self.room, "--saved", path)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace("May 20", "May 2"))
        done = run("verify-chain", self.room, "--saved", path)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"\AREFUTED: Revision 1: ")

    def test_without_cryptography_it_is_inconclusive(self):
        self.filled()
        environment = without_cryptography(self.folder.name)
        done = run("verify-chain", self.room, env=environment)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stdout, r"\AINCONCLUSIVE: Not checked: signatures: ")

    def test_an_empty_ledger_is_inconclusive(self):
        self.assertEqual(run("verify-chain", self.room).returncode, 2)


if __name__ == "__main__":
    unittest.main()

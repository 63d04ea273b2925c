"""What the client does when a server, or the way to it, does not behave."""

import hashlib
import json
import os
import unittest
import uuid
from unittest import mock

from support import Folder, Scripted, call, run, without_cryptography

import minutebook

ROOM = "7002cc19-fc28-4472-a4ca-828206128894"
MESSAGE = {"id": 1, "agent_id": "a", "text": "x", "timestamp": "t", "pubkey_hex": None,
           "signature_hex": None}


def at(server):
    """The room's URL on a server."""
    return f"{server.url}/{ROOM}"


class Case(unittest.TestCase):
    """Pauses are noted instead of waited for."""

    def setUp(self):
        self.pauses = []
        patch = mock.patch.object(minutebook.time, "sleep", self.pauses.append)
        patch.start()
        self.addCleanup(patch.stop)
        environment = mock.patch.dict(os.environ)
        environment.start()
        self.addCleanup(environment.stop)
        for name in ("MINUTEBOOK_KEY", "MINUTEBOOK_URL"):
            os.environ.pop(name, None)

    def serve(self, answer):
        server = Scripted(answer)
        self.addCleanup(server.__exit__)
        return server

    def refused(self, status, call, *args, **how):
        with self.assertRaises(minutebook.MinutebookError) as caught:
            call(*args, **how)
        self.assertEqual(caught.exception.status, status, caught.exception)
        return caught.exception


class Retries(Case):
    def test_a_write_is_repeated_under_its_own_key(self):
        def answer(request, times):
            if times == 1:
                request.drop()
            elif times == 2:
                request.reply(503, '{"detail":"busy","retryable":true}', Retry_After="7")
            elif times == 3:
                request.reply(201, '{"id":', Content_Encoding="identity")
            else:
                request.reply(201, json.dumps(MESSAGE))
        server = self.serve(answer)
        error = self.refused(201, minutebook.send, at(server), "a", "x")
        self.assertIn("not JSON", str(error))
        keys = {request.headers["Idempotency-Key"] for request in server.seen}
        bodies = {request.body for request in server.seen}
        self.assertEqual((len(server.seen), len(keys), len(bodies)), (3, 1, 1))
        self.assertEqual(self.pauses, [0.25, 7.0])
        minutebook.send(at(server), "a", "x")
        self.assertNotIn(server.seen[-1].headers["Idempotency-Key"], keys)

    def test_a_cut_answer_is_no_answer(self):
        def answer(request, times):
            request.send_response(200)
            request.send_header("Content-Length", "100")
            request.end_headers()
            request.wfile.write(b"{}")
            request.close_connection = True
        server = self.serve(answer)
        self.refused(None, minutebook.room_info, at(server))
        self.assertEqual(len(server.seen), minutebook.ATTEMPTS)

    def test_a_key_of_the_callers_own_is_used(self):
        server = self.serve(lambda request, _: request.reply(201, json.dumps(MESSAGE)))
        minutebook.send(at(server), "a", "x", idempotency_key="mine-1")
        self.assertEqual(server.seen[0].headers["Idempotency-Key"], "mine-1")

    def test_what_cannot_help_is_not_repeated(self):
        for status, body in ((400, ""), (404, ""), (409, ""), (429, ""), (500, ""), (307, ""),
                             (503, '{"retryable":false}')):
            server = self.serve(lambda request, _, s=status, b=body: request.reply(s, b))
            self.refused(status, minutebook.room_info, at(server))
            self.assertEqual(len(server.seen), 1, status)

    def test_a_server_that_asks_for_too_long_a_pause_is_given_up(self):
        server = self.serve(lambda request, _: request.reply(503, "{}", Retry_After="3600"))
        error = self.refused(503, minutebook.room_info, at(server))
        self.assertEqual((len(server.seen), self.pauses, error.retry_after), (1, [], 3600.0))

    def test_an_answer_without_end_is_not_read_into_memory(self):
        def answer(request, _):
            request.send_response(200)
            request.end_headers()
            try:
                for _ in range(200):
                    request.wfile.write(b" " * 65536)
            except OSError:
                pass
            request.close_connection = True
        server = self.serve(answer)
        whole = minutebook._read
        with mock.patch.object(minutebook, "_read", lambda r, url: whole(r, url, 1 << 20)):
            error = self.refused(None, minutebook.room_info, at(server))
        self.assertIn("larger than", str(error))

    def test_odd_documents_are_an_error(self):
        for body in ("[" * 100000, "\xff", '"x"', "[]", "{}", '{"messages":7}'):
            server = self.serve(lambda request, _, b=body: request.reply(200, b.encode("latin-1")))
            with self.assertRaises(minutebook.MinutebookError, msg=body[:20]):
                minutebook.fetch_messages(at(server))
            for command in (["read"], ["poll"], ["claims", "context"]):
                done = call(*command, at(server))
                self.assertIn(done.returncode, (1, 2), (command, body[:20]))
                self.assertRegex(done.stderr, r"\Aerror: ")


class Secrets(Case):
    def test_the_key_goes_to_its_own_server_only(self):
        ours = self.serve(lambda request, _: request.reply(200, "{}"))
        other = self.serve(lambda request, _: request.reply(401, '{"detail":"no"}'))
        os.environ.update(MINUTEBOOK_KEY="mb_secret", MINUTEBOOK_URL=ours.url + "/")
        minutebook.room_info(ROOM)
        self.assertEqual(ours.seen[0].headers["Authorization"], "Bearer mb_secret")
        error = self.refused(401, minutebook.room_info, at(other))
        self.assertIsNone(other.seen[0].headers["Authorization"])
        self.assertIn("was not sent to this server", str(error))

    def test_a_redirect_takes_no_key_along(self):
        other = self.serve(lambda request, _: request.reply(200, "{}"))
        ours = self.serve(lambda request, _: request.reply(302, "", Location=other.url + "/x"))
        os.environ.update(MINUTEBOOK_KEY="mb_secret", MINUTEBOOK_URL=ours.url)
        self.refused(302, minutebook.room_info, ROOM)
        with Folder() as folder:
            minutebook.download_skill(ours.url + "/s", f"{folder}/s", allow_private=True)
        self.assertEqual([r.headers["Authorization"] for r in other.seen], [None])

    def test_a_key_that_would_break_a_header_is_refused(self):
        os.environ.update(MINUTEBOOK_KEY="mb\r\nX: y", MINUTEBOOK_URL="http://127.0.0.1:1")
        self.refused(None, minutebook.room_info, ROOM)

    def test_this_machine_is_reached_without_a_proxy(self):
        server = self.serve(lambda request, _: request.reply(200, "{}"))
        os.environ.update(http_proxy="http://127.0.0.1:1", no_proxy="")
        self.assertEqual(minutebook.room_info(at(server)), {})


class Pages(Case):
    def test_poll_and_read_all_follow_has_more(self):
        def answer(request, times):
            page = {"messages": [{**MESSAGE, "id": times}], "has_more": times < 3}
            request.reply(200, json.dumps(page))
        server = self.serve(answer)
        messages, last = minutebook.poll_once(at(server))
        self.assertEqual(([m["id"] for m in messages], last), ([1, 2, 3], 3))
        self.assertEqual([r.path.split("since=")[1] for r in server.seen],
                         ["0&limit=500", "1&limit=500", "2&limit=500"])

    def test_a_page_that_says_more_and_has_nothing_ends_the_loop(self):
        page = json.dumps({"messages": [], "has_more": True})
        server = self.serve(lambda request, _: request.reply(200, page))
        self.assertEqual(minutebook.poll_once(at(server), 9), ([], 9))

    def test_pages_that_do_not_advance_are_an_error(self):
        page = json.dumps({"messages": [MESSAGE], "has_more": True})
        server = self.serve(lambda request, _: request.reply(200, page))
        self.refused(None, minutebook.poll_once, at(server))
        self.assertEqual(len(server.seen), 2)

    def test_limit_zero_is_left_out(self):
        page = json.dumps({"messages": [], "has_more": False})
        server = self.serve(lambda request, _: request.reply(200, page))
        minutebook.fetch_messages(at(server), limit=0)
        self.assertTrue(server.seen[0].path.endswith("/messages"))


def record(seq, number):
    data = json.dumps({"seq": seq, "message": {**MESSAGE, "id": number}})
    return f"id: {seq}\nevent: room.message_posted\ndata: {data}\n\n"


READY = "retry: 1\nid: 3\nevent: ready\ndata: {}\n\n"
CLOSING = 'id: 9\nevent: closing\ndata: {"reason":"shutdown"}\n\n'


class Following(Case):
    def test_a_broken_stream_is_resumed_and_nothing_comes_twice(self):
        def answer(request, times):
            if times == 1:
                request.stream(READY, record(4, 1), "id: 5\nevent: room.mess")
            elif times == 2:
                request.reply(503, "{}", Retry_After="2")
            else:
                request.stream(READY, record(4, 1), record(5, 2), CLOSING)
        server = self.serve(answer)
        seen = [(e.name, e.id) for e in minutebook.follow(at(server))]
        self.assertEqual(seen, [
            ("ready", "3"), ("room.message_posted", "4"), ("ready", "3"),
            ("room.message_posted", "5"), ("closing", "9")])
        ids = [request.headers["Last-Event-ID"] for request in server.seen]
        self.assertEqual(ids, [None, "4", "4"])
        self.assertIn(2.0, self.pauses)

    def test_a_refusal_ends_it_and_a_server_that_stays_away_too(self):
        for status, body in ((400, "{}"), (401, "{}"), (403, "{}"), (404, "{}"),
                             (503, '{"retryable":false}')):
            server = self.serve(lambda request, _, s=status, b=body: request.reply(s, b))
            self.refused(status, list, minutebook.follow(at(server)))
            self.assertEqual(len(server.seen), 1)
        page = self.serve(lambda request, _: request.reply(200, "<html>"))
        self.refused(200, list, minutebook.follow(at(page)))
        self.refused(None, list, minutebook.follow(f"http://127.0.0.1:1/{ROOM}"))
        self.assertEqual(len(self.pauses), minutebook.ATTEMPTS)
        self.pauses.clear()
        once = self.serve(lambda request, times: request.stream(READY) if times == 1
                          else request.drop())
        self.refused(None, list, minutebook.follow(at(once)))
        self.assertEqual(len(self.pauses), minutebook.STREAM_ATTEMPTS)

    def test_the_command_stops_at_a_closing_event_and_says_where(self):
        server = self.serve(lambda request, _: request.stream(READY, record(4, 1), CLOSING))
        done = run("follow", at(server))
        self.assertEqual((done.returncode, done.stdout), (5, "[1] t a: x\n"))
        self.assertIn("closing: shutdown", done.stderr)
        self.assertIn("--since 9", done.stderr)

    def test_a_silent_stream_is_left_when_the_time_is_up(self):
        def answer(request, _):
            request.stream(READY)
            request.wfile.flush()
            request.rfile.read(1)
        server = self.serve(answer)
        done = run("follow", at(server), "--timeout", "0.3")
        self.assertEqual(done.returncode, 4)

    def waiting(self, pages, *stream):
        """A server that shows these message ids, call by call, beside its stream."""
        def answer(request, _):
            if "/events" in request.path:
                request.stream(*stream)
                if not stream:
                    request.rfile.read(1)
                return
            ids = pages.pop(0) if pages else []
            messages = [{**MESSAGE, "id": number} for number in ids]
            request.reply(200, json.dumps({"messages": messages, "has_more": False}))
        return self.serve(answer)

    def test_what_is_there_is_not_waited_for(self):
        server = self.waiting([[6]])
        waited = minutebook.wait(at(server), since=5)
        self.assertEqual((waited.outcome, waited.last_id, len(server.seen)), ("message", 6, 1))

    def test_waiting_reads_the_backlog_again_once_the_stream_stands(self):
        server = self.waiting([[], [6]], READY, record(4, 6), record(5, 7))
        self.assertEqual(minutebook.wait(at(server), since=5).last_id, 6)
        server = self.waiting([[], [6]], READY, record(4, 6), record(5, 7))
        waited = minutebook.wait(at(server), since=6, sender="a")
        self.assertEqual((waited.outcome, waited.last_id), ("message", 7))
        server = self.waiting([[], [6]], READY, record(4, 6), record(5, 7), CLOSING)
        waited = minutebook.wait(at(server), since=5, own="a")
        self.assertEqual((waited.outcome, [m["id"] for m in waited.messages]), ("closing", [6, 7]))

    def test_a_message_is_found_although_no_event_comes_through(self):
        server = self.waiting([[], [6]])
        waited = minutebook.wait(at(server), since=5, timeout=0.2)
        self.assertEqual((waited.outcome, waited.last_id), ("message", 6))


class Skills(Case):
    DATA = b"\x1f\x8b not really"
    DIGEST = hashlib.sha256(DATA).hexdigest()

    def offer(self, server, **changes):
        offer = {"type": "skill_offer", "fetch_url": server.url + "/s", "sha256": self.DIGEST,
                 "size_bytes": len(self.DATA)}
        return {**offer, **changes}

    def files(self):
        return self.serve(lambda request, _: request.reply(200, self.DATA))

    def judge(self, offer, folder, **how):
        path = folder.path(uuid.uuid4().hex)
        how.setdefault("allow_private", True)
        report = minutebook.verify_skill_offer(offer, path, **how)
        self.assertEqual(os.path.exists(path), report["safe_to_ask_owner"])
        self.assertEqual(report["path"], path if report["safe_to_ask_owner"] else None)
        return report

    def test_an_unsigned_file_is_judged_by_its_digest_and_its_author_called_unknown(self):
        server = self.files()
        folder = Folder()
        self.addCleanup(folder.cleanup)
        report = self.judge(self.offer(server, sha256=self.DIGEST.upper()), folder)
        self.assertTrue(report["safe_to_ask_owner"] and report["sha256_ok"])
        self.assertIsNone(report["signature_ok"])
        self.assertIn("unsigned", report["notes"][0])
        for change in ({"sha256": "0" * 64}, {"sha256": None}, {"sha256": "x"}, {"fetch_url": 7},
                       {"size_bytes": 1}, {"author_pubkey": "5866" + "66" * 30},
                       {"author_sig": "00" * 64},
                       {"author_pubkey": "00" * 32, "author_sig": "00" * 64}):
            report = self.judge(self.offer(server, **change), folder)
            self.assertFalse(report["safe_to_ask_owner"], change)
        self.assertEqual([n for n in os.listdir(folder.name) if n.startswith(".")], [])

    def test_a_signature_that_cannot_be_checked_is_never_ok(self):
        server = self.files()
        folder = Folder()
        self.addCleanup(folder.cleanup)
        offer = self.offer(server, author_pubkey="5866" + "66" * 30, author_sig="58" * 64)
        environment = without_cryptography(folder.name)
        done = run("verify", json.dumps(offer), "--dest", folder.path("s"), "--allow-private",
                   env=environment)
        report = json.loads(done.stdout)
        self.assertEqual(done.returncode, 3)
        self.assertIs(report["safe_to_ask_owner"], False)
        self.assertIsNone(report["signature_ok"])
        self.assertIn("pip install cryptography", " ".join(report["notes"]))
        self.assertFalse(os.path.exists(folder.path("s")))

    def test_a_file_from_before_is_not_taken_for_the_offered_one(self):
        server = self.files()
        with Folder() as name:
            path = os.path.join(name, "s")
            with open(path, "w", encoding="utf-8") as file:
                file.write("old")
            report = minutebook.verify_skill_offer(
                self.offer(server, sha256="0" * 64), path, allow_private=True)
            self.assertIsNone(report["path"])
            self.assertIn("from before", " ".join(report["notes"]))

    def test_a_stranger_cannot_point_at_this_machine(self):
        server = self.files()
        folder = Folder()
        self.addCleanup(folder.cleanup)
        for environment in ({}, {"no_proxy": "*"}, {"ftp_proxy": "http://127.0.0.1:1"}):
            with mock.patch.dict(os.environ, environment):
                self.refused(None, self.judge, self.offer(server), folder, allow_private=False)
        self.assertEqual(server.seen, [])
        for url in ("file:///etc/passwd", "ftp://127.0.0.1/x", "http://u@127.0.0.1/x", "data:,x"):
            self.refused(None, self.judge, self.offer(server, fetch_url=url), folder)
        os.environ["MINUTEBOOK_URL"] = server.url
        report = self.judge(self.offer(server), folder, allow_private=False)
        self.assertTrue(report["safe_to_ask_owner"])

    def test_a_redirect_to_this_machine_is_refused_too(self):
        inside = self.files()
        ours = self.serve(lambda request, _: request.reply(307, "", Location=inside.url + "/s"))
        os.environ["MINUTEBOOK_URL"] = ours.url
        folder = Folder()
        self.addCleanup(folder.cleanup)
        self.refused(None, self.judge, self.offer(ours), folder, allow_private=False)
        self.assertEqual(inside.seen, [])

    def test_redirects_are_followed_but_not_for_ever(self):
        server = self.serve(lambda request, times: request.reply(307, "", Location="/next"))
        folder = Folder()
        self.addCleanup(folder.cleanup)
        self.refused(None, self.judge, self.offer(server), folder)
        self.assertEqual(len(server.seen), 6)

    def test_the_command_says_what_it_found(self):
        server = self.files()
        folder = Folder()
        self.addCleanup(folder.cleanup)
        offer = json.dumps({"upload": {}, "skill_offer_message": self.offer(server)})
        with open(folder.path("offer.json"), "w", encoding="utf-8") as file:
            file.write(offer)
        for given, stdin in ((folder.path("offer.json"), ""), (offer, ""), ("-", offer)):
            done = run("verify", given, "--dest", folder.path("s"), "--allow-private", stdin=stdin)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(list(json.loads(done.stdout)), [
                "sha256_ok", "signature_present", "signature_ok", "safe_to_ask_owner", "path",
                "sha256", "size_bytes", "notes"])
        gone = self.serve(lambda request, _: request.reply(404, "gone"))
        done = run("verify", json.dumps(self.offer(gone)), "--allow-private", cwd=folder.name)
        self.assertEqual(done.returncode, 1)


class Nonsense(Case):
    """Whatever a server answers: an exit code, one line on stderr, and no traceback."""

    CLAIM = "19b1ea50-0ef3-4b25-8ffc-7fbb5192d571"
    COMMANDS = (
        ["info"], ["read"], ["read", "--all", "--text"], ["poll"], ["send", "a", "x"],
        ["wait", "--since", "0", "--timeout", "0.1"], ["claims", "context"],
        ["claims", "open", "a", "s", "v"], ["claims", "show", CLAIM], ["claims", "handshakes"],
        ["claims", "refresh"], ["revise", CLAIM, "retract", "a"], ["handshake", "a"],
        ["verify-room"], ["verify-chain"], ["receipt", "1"])
    BODIES = (
        b"", b"null", b"7", b"[]", b"{}", b"[1]", b'"x"', b"\xff\xfe", b"<html>", b"[" * 9000,
        b'{"messages":[7]}', b'{"messages":[{}],"has_more":true}', b'{"threads":7}',
        b'{"threads":[{"status":7}],"context_hash":[]}', b'{"message_count":"x"}',
        b'{"messages":[{"id":"x"}]}', b'{"messages":[{"id":1,"text":7,"agent_id":[]}]}',
        b'{"messages":[{"id":1,"text":7,"signature_hex":"x","ts_iso":"y"}]}',
        b'{"verdict":["CLEAN"],"findings":7,"not_proven":[7]}', b'{"verdict":"FINE"}',
        b'{"id":1,"status":{},"revisions":{"a":1}}')

    def test_no_answer_makes_a_traceback(self):
        server = self.serve(lambda request, _: request.reply(200, self.body))
        for body in self.BODIES:
            self.body = body
            for command in self.COMMANDS:
                words = command[:2] if command[0] == "claims" else command[:1]
                arguments = words + [at(server)] + command[len(words):]
                done = call(*arguments)
                code = done.returncode
                self.assertIn(code, (0, 1, 2, 4, 69), (arguments, body))
                if command[0].startswith("verify-"):
                    self.assertEqual(code, 69, (arguments, body))
                elif code in (1, 2):
                    self.assertRegex(done.stderr, r"\Aerror: .*\n\Z", (arguments, body))


class Uploads(Case):
    def test_a_form_carries_any_text_and_file(self):
        server = self.serve(lambda request, _: request.reply(201, '{"id":"1"}'))
        with Folder() as name:
            path = os.path.join(name, 'a "b"\r\nü.tar.gz')
            with open(path, "wb") as file:
                file.write(b"\r\n--x--\r\n\x00\xff")
            minutebook.upload_skill(path, "n\r\nü", "1", "d", "a", host=server.url)
        request = server.seen[0]
        boundary = request.headers["Content-Type"].split("boundary=")[1]
        parts = request.body.split(b"--" + boundary.encode())
        self.assertEqual((len(parts), parts[-1]), (7, b"--\r\n"))
        self.assertTrue(parts[1].endswith("\r\n\r\nn\r\nü\r\n".encode()))
        self.assertIn(b'filename="a__b____.tar.gz"', parts[5])
        self.assertTrue(parts[5].endswith(b"\r\n\r\n\r\n--x--\r\n\x00\xff\r\n"))
        self.assertTrue(request.headers["Idempotency-Key"])

    def test_sharing_needs_what_signs_before_it_uploads(self):
        server = self.serve(lambda request, _: request.reply(500))
        folder = Folder()
        self.addCleanup(folder.cleanup)
        with open(folder.path("s.tar.gz"), "wb") as file:
            file.write(b"x")
        with open(folder.path("key"), "wb") as file:
            file.write(b"k" * 32)
        os.chmod(folder.path("key"), 0o600)
        for how in (("--signing-key-hex", "11" * 32), ("--sign-key", folder.path("key"))):
            done = run("share", folder.path("s.tar.gz"), "--name", "n", "--version", "1",
                       "--agent-id", "a", "--host", server.url, *how,
                       env=without_cryptography(folder.name))
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn("cryptography", done.stderr)
        self.assertEqual(server.seen, [])


if __name__ == "__main__":
    unittest.main()

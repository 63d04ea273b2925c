#!/usr/bin/env python3
"""Minutebook from one file: rooms, live events, the negotiation ledger, skills and verdicts.

Needs Python 3.9 and nothing else. Ed25519 comes from the package `cryptography` when it can be
imported; without it nothing is signed, and nothing that is signed ever counts as checked.

Promises
* A write carries an Idempotency-Key and is sent again under the same key, so a retry after a lost
  connection or a 503 does one thing, not two.
* An API key (MINUTEBOOK_KEY) goes to the server of MINUTEBOOK_URL and to no other, whatever URL
  somebody pasted.
* What others wrote never reaches a terminal as a control sequence, in text or in JSON.
* Every wait is bounded, and every failure is one line on stderr and an exit code.

Exit codes
  0  done; CLEAN            3  verify: do not use this skill
  1  local or network error 4  wait: nothing came in time
  2  HTTP error, usage      5  follow, wait: the server closed the stream
  verify-room and verify-chain: 0 CLEAN, 1 REFUTED, 2 INCONCLUSIVE, 64 usage, 69 no verdict
"""

from __future__ import annotations

import argparse
import binascii
import collections
import datetime
import email.utils
import hashlib
import http.client
import ipaddress
import json
import os
import re
import socket
import ssl
import stat
import struct
import sys
import tempfile
import time
import unicodedata
import urllib.error
import urllib.parse
import urllib.request
import uuid

__all__ = [
    "CommroomError", "MinutebookError", "arbiter_pubkey", "check_chain", "check_message",
    "context_hash", "create_room", "download_ledger", "download_skill", "fetch_all", "fetch_messages", "follow",
    "generate_key", "get_claim", "get_context", "handshake", "list_handshakes",
    "list_public_rooms", "load_key", "open_claim", "poll_once", "receipt", "refresh", "revise",
    "room_info", "send", "skill_offer", "upload_skill", "verify_ed25519", "verify_room",
    "verify_skill_offer", "wait",
]

DEFAULT_URL = "http://127.0.0.1:8787"
# Seconds a silent connection is waited for; the server's heartbeat comes every 15.
TIMEOUT = 20.0
UPLOAD_TIMEOUT = 60.0
# Verifying a long room takes its time, and an arbiter's model takes longer.
VERIFY_TIMEOUT = 300.0
REFRESH_TIMEOUT = 900.0
STREAM_SILENCE = 45.0
# A request is sent at most this often, and not again when that would be later than this.
ATTEMPTS = 5
RETRY_WITHIN = 60.0
FIRST_PAUSE = 0.25
LONGEST_PAUSE = 15.0
# Failed connections in a row after which following gives up: about two minutes.
STREAM_ATTEMPTS = 12
BODY_MAX = 64 << 20
EVENT_MAX = 8 << 20
SKILL_MAX = 16 << 20
PAGE = 500
# A room takes 100,000 revisions; twice as many pages as those fill are no ledger.
LEDGER_PAGES = 400
GENESIS = "0" * 64
SURFACE_V1 = "roomcomm-v1"
SURFACE_V2 = "minutebook-v2"
KINDS = ("update", "confirm", "contradict", "retract")

EXIT_LOCAL, EXIT_HTTP, EXIT_UNSAFE, EXIT_TIMEOUT, EXIT_CLOSED = 1, 2, 3, 4, 5
EXIT_USAGE, EXIT_NO_VERDICT = 64, 69
VERDICT_EXITS = {"CLEAN": 0, "REFUTED": 1, "INCONCLUSIVE": 2}
NO_ED25519 = "the Python package 'cryptography' is not installed"


class MinutebookError(Exception):
    """What went wrong. `status` and `body` are the server's, None when no answer came."""

    def __init__(self, message, status=None, body=None, retry_after=None):
        super().__init__(message)
        self.status = status
        self.body = body
        self.retry_after = retry_after

    def field(self, name):
        """A member of the server's error document, or None."""
        try:
            document = json.loads(self.body or "")
        except (ValueError, RecursionError):
            return None
        return document.get(name) if isinstance(document, dict) else None

    @property
    def detail(self):
        """The server's own words, or ours."""
        return self.field("detail") or str(self)


CommroomError = MinutebookError
"""The seed helper's name for it, for programs that were written against that."""


class UsageError(MinutebookError):
    """Asked for in a way that cannot be meant."""


# ---------------------------------------------------------------- text for terminals

# Joiners are part of written languages and of emoji, and move no cursor.
_JOINERS = "\u200c\u200d"


def _is_unsafe(char):
    return unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") and char not in _JOINERS


class _Spelling(dict):
    """A table for `str.translate` that fills itself."""

    def __init__(self, keep, spell):
        super().__init__()
        self._keep, self._spell = keep, spell

    def __missing__(self, code):
        char = chr(code)
        is_kept = char in self._keep or not _is_unsafe(char)
        self[code] = char if is_kept else self._spell(char)
        return self[code]


def _escape(char):
    return char.encode("unicode_escape", "surrogatepass").decode("ascii")


_LINE = _Spelling("", _escape)
_LINES = _Spelling("\n\t", _escape)
_JSON = _Spelling("\n", lambda char: json.dumps(char)[1:-1])


def printable(text, lines=False):
    """The text with control, format and line-separator characters spelled out; `lines` keeps
    line feeds and tabs."""
    return str(text).translate(_LINES if lines else _LINE)


def to_json(value, indent=None):
    """JSON in readable Unicode, in which what could steer a terminal is a \\u escape: the same
    value to every reader."""
    separators = None if indent else (",", ":")
    text = json.dumps(value, ensure_ascii=False, indent=indent, separators=separators)
    return text.translate(_JSON)


def _say(text=""):
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def _note(text):
    sys.stderr.write(printable(text) + "\n")
    sys.stderr.flush()


# ---------------------------------------------------------------- addresses

_UUID = re.compile(
    r"(?<![0-9a-fA-F])[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?![0-9a-fA-F])")

Room = collections.namedtuple("Room", "host uuid")


def default_host():
    """MINUTEBOOK_URL, or this machine."""
    return _host(os.environ.get("MINUTEBOOK_URL") or DEFAULT_URL)


def _host(url):
    """`scheme://host[:port]` of a URL, checked."""
    try:
        parts = urllib.parse.urlsplit(url.strip())
        port = parts.port
    except ValueError as error:
        raise MinutebookError(f"not a URL: {url} ({error})") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise MinutebookError(f"not an http or https URL: {url}")
    if "@" in parts.netloc:
        raise MinutebookError("a URL with a user or password in it is not taken")
    name = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{name}" + ("" if port is None else f":{port}")


def _origin(url):
    parts = urllib.parse.urlsplit(_host(url))
    return parts.scheme, parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)


def parse_room(room, host=None):
    """A room from its URL or its UUID alone, which then is `host`'s or the default server's."""
    if isinstance(room, Room):
        return room
    found = _UUID.search(str(room))
    if not found:
        raise MinutebookError(f"no room UUID in {room!r}")
    text = str(room).strip()
    where = _host(text) if re.match(r"(?i)https?://", text) else _host(host or default_host())
    return Room(where, found.group(0).lower())


def _api(room, path="", **query):
    room = parse_room(room)
    return f"{room.host}/api/rooms/{room.uuid}{path}{_query(query)}"


def _query(values):
    filled = {name: value for name, value in values.items() if value is not None}
    return "?" + urllib.parse.urlencode(filled) if filled else ""


# ---------------------------------------------------------------- transport

Answer = collections.namedtuple("Answer", "status headers body")


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Nothing is followed behind our back: a redirect could carry a key to a stranger."""

    def redirect_request(self, req, fp, code, msg, headers, newurl):
        return None


def _opener(url, on_connect):
    """An opener that shows each socket as soon as it is connected, and uses the environment's
    proxies except for this machine."""
    def connect(base):
        class Shown(base):
            def connect(self):
                super().connect()
                on_connect(self.sock)
        return Shown

    class Plain(urllib.request.HTTPHandler):
        def http_open(self, req):
            return self.do_open(connect(http.client.HTTPConnection), req)

    class Secure(urllib.request.HTTPSHandler):
        def https_open(self, req):
            context = ssl.create_default_context()
            return self.do_open(connect(http.client.HTTPSConnection), req, context=context)

    proxies = urllib.request.ProxyHandler(_proxies(url))
    return urllib.request.build_opener(proxies, Plain, Secure, _NoRedirect)


def _proxies(url):
    name = urllib.parse.urlsplit(url).hostname or ""
    is_here = name == "localhost" or _is_private(name, loopback_only=True)
    return {} if is_here or urllib.request.proxy_bypass(name) else urllib.request.getproxies()


def _is_private(address, loopback_only=False):
    try:
        address = ipaddress.ip_address(address.split("%")[0])
    except ValueError:
        return False
    address = getattr(address, "ipv4_mapped", None) or address
    return address.is_loopback if loopback_only else not address.is_global


def _open(request, timeout, on_connect=lambda _: None):
    """The response, its status whatever it is. Raises MinutebookError when none came."""
    try:
        return _opener(request.full_url, on_connect).open(request, timeout=timeout)
    except urllib.error.HTTPError as error:
        return error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise _unreachable(request.full_url, error) from error


def _unreachable(url, error):
    reason = getattr(error, "reason", None) or error
    if isinstance(reason, TimeoutError):
        reason = "no answer in time"
    parts = urllib.parse.urlsplit(url)
    text = str(reason) or type(reason).__name__
    return MinutebookError(f"cannot reach {parts.scheme}://{parts.netloc}: {text}")


def _is_lasting(error):
    """Whether asking again cannot help: no such host, or a certificate that is not trusted."""
    cause = getattr(error.__cause__, "reason", None) or error.__cause__
    return isinstance(cause, (socket.gaierror, ssl.SSLCertVerificationError, ValueError))


def _read(response, url, most=BODY_MAX, within=None):
    """The whole body, bounded in bytes and in time."""
    until = time.monotonic() + (within or 6 * TIMEOUT)
    chunks, size = [], 0
    try:
        while True:
            chunk = response.read1(65536)
            if not chunk:
                break
            chunks.append(chunk)
            size += len(chunk)
            if size > most:
                raise MinutebookError(f"the answer is larger than {most} bytes")
            if time.monotonic() > until:
                raise TimeoutError
        left = getattr(response, "length", None)
        if left:
            raise http.client.IncompleteRead(b"", left)
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise _unreachable(url, error) from error
    finally:
        response.close()
    return b"".join(chunks)


def _headers(url, extra=None):
    headers = {"Accept": "application/json", "User-Agent": "minutebook.py/1"}
    secret = os.environ.get("MINUTEBOOK_KEY", "").strip()
    if secret and _origin(url) == _origin(default_host()):
        if not re.fullmatch(r"[\x21-\x7e]+", secret):
            raise MinutebookError("MINUTEBOOK_KEY is not an API key")
        headers["Authorization"] = f"Bearer {secret}"
    headers.update(extra or {})
    return headers


def _request(method, url, body=None, headers=None):
    try:
        return urllib.request.Request(url, data=body, headers=_headers(url, headers), method=method)
    except ValueError as error:
        raise MinutebookError(f"not a URL: {url} ({error})") from None


def _refusal(answer, url):
    """The error an answer stands for."""
    body = answer.body.decode("utf-8", "replace")
    message = f"HTTP {answer.status}: {body}"
    foreign = os.environ.get("MINUTEBOOK_KEY") and _origin(url) != _origin(default_host())
    if answer.status == 401 and foreign:
        message += " (MINUTEBOOK_KEY belongs to MINUTEBOOK_URL and was not sent to this server)"
    return MinutebookError(message, answer.status, body, _retry_after(answer.headers))


def _retry_after(headers):
    """Seconds, from either form of the header."""
    value = (headers.get("Retry-After") or "").strip()
    if re.fullmatch(r"[0-9]{1,9}", value):
        return float(value)
    try:
        when = email.utils.parsedate_to_datetime(value)
        return max(0.0, when.timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return None


def _pause(attempt):
    return min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** attempt)


def _may_repeat(error):
    if error.status is None:
        return not _is_lasting(error)
    return error.status in (502, 503, 504) and error.field("retryable") is not False


def _ask(method, url, body=None, headers=None, timeout=TIMEOUT):
    """Sends one request, again under the same Idempotency-Key while that is safe and may help."""
    headers = dict(headers or {})
    if method != "GET":
        headers.setdefault("Idempotency-Key", uuid.uuid4().hex)
    until = time.monotonic() + RETRY_WITHIN
    for attempt in range(ATTEMPTS):
        try:
            response = _open(_request(method, url, body, headers), timeout)
            answer = Answer(response.status, response.headers, _read(response, url))
            if answer.status < 300:
                return answer
            error = _refusal(answer, url)
        except MinutebookError as failed:
            error = failed
        pause = _pause(attempt) if error.retry_after is None else error.retry_after
        is_last = attempt + 1 == ATTEMPTS or time.monotonic() + pause > until
        if is_last or not _may_repeat(error):
            raise error
        time.sleep(pause)
    raise AssertionError("unreachable")


def _parse(answer):
    try:
        return json.loads(answer.body.decode("utf-8"))
    except (ValueError, RecursionError):
        body = answer.body.decode("utf-8", "replace")
        raise MinutebookError("the server's answer is not JSON", answer.status, body) from None


def _get(url):
    return _parse(_ask("GET", url))


def _post(url, fields, idempotency_key=None, timeout=TIMEOUT):
    try:
        body = json.dumps(fields, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise MinutebookError("the text is not valid Unicode") from None
    headers = {"Content-Type": "application/json"}
    if idempotency_key:
        headers["Idempotency-Key"] = idempotency_key
    return _parse(_ask("POST", url, body, headers, timeout))


def _filled(**fields):
    return {name: value for name, value in fields.items() if value is not None}


# ---------------------------------------------------------------- Ed25519

_P = 2 ** 255 - 19
_Y8 = int.from_bytes(
    bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"), "little")
# The y of every point whose order divides 8: a key or an R of these proves nothing.
_WEAK = frozenset((0, 1, _P - 1, _Y8, _P - _Y8))


def _ed25519():
    """The package's module and its exception, or None. A broken installation counts as none."""
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric import ed25519
        return ed25519, InvalidSignature
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # a panic of its native part is no Exception
        return None


def _unhex(text, size):
    if not isinstance(text, str) or not re.fullmatch(f"[0-9a-fA-F]{{{2 * size}}}", text):
        return None
    return binascii.unhexlify(text)


def _is_weak(point):
    y = int.from_bytes(point, "little") & (2 ** 255 - 1)
    return y >= _P or y in _WEAK


def verify_ed25519(pubkey_hex, signature_hex, message):
    """True or False; None when it cannot be checked here, which is never a yes.

    Weak keys and commitments are refused, as the server does.
    """
    key, signature = _unhex(pubkey_hex, 32), _unhex(signature_hex, 64)
    if key is None or signature is None or _is_weak(key) or _is_weak(signature[:32]):
        return False
    if isinstance(message, str):
        message = message.encode("utf-8", "surrogatepass")
    found = _ed25519()
    if found is None:
        return None
    ed25519, invalid = found
    try:
        ed25519.Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
    except (invalid, ValueError):
        return False
    return True


class Signer:
    """A private key that signs."""

    def __init__(self, seed):
        found = _ed25519()
        if found is None:
            raise MinutebookError(f"cannot sign: {NO_ED25519} (pip install cryptography)")
        from cryptography.hazmat.primitives import serialization
        raw = serialization.Encoding.Raw, serialization.PublicFormat.Raw
        self._key = found[0].Ed25519PrivateKey.from_private_bytes(seed)
        self.pubkey_hex = self._key.public_key().public_bytes(*raw).hex()

    def sign(self, message):
        """The signature in hex."""
        return self._key.sign(message).hex()


def load_key(path):
    """The key of a file: 32 raw bytes, or 64 hex digits, readable by its owner only."""
    try:
        with open(path, "rb") as file:
            mode, data = os.fstat(file.fileno()).st_mode, file.read(200)
    except OSError as error:
        raise MinutebookError(f"cannot read the key: {error}") from None
    if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
        raise MinutebookError(f"others can read {path}: chmod 600 it")
    seed = data if len(data) == 32 else _unhex(data.decode("latin-1").strip(), 32)
    if seed is None:
        raise MinutebookError(f"{path} is no key: it holds neither 32 bytes nor 64 hex digits")
    return Signer(seed)


def generate_key(path):
    """Makes a key file (32 raw bytes, mode 600) and returns its signer. Overwrites nothing."""
    seed = os.urandom(32)
    signer = Signer(seed)
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(seed)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise MinutebookError(f"cannot make the key: {error}") from None
    return signer


def _signer(key):
    return key if key is None or hasattr(key, "sign") else load_key(key)


def _bound(*fields):
    """The bytes of a bound surface: each field behind its length, 32 bits big-endian."""
    encoded = [str(field).encode("utf-8") for field in fields]
    return b"".join(struct.pack(">I", len(field)) + field for field in encoded)


def message_surface(room_uuid, text, ts_iso, memory_root=None, agent_id=None, bound=False):
    """The bytes an agent's signature of a message covers."""
    if bound:
        return _bound("minutebook-message-v2", room_uuid, agent_id, ts_iso, "chat", text,
                      memory_root or "")
    return (text + ts_iso + room_uuid + (memory_root or "")).encode("utf-8")


def revision_surface(room_uuid, claim, agent_id, kind, value, position=None, bound=False):
    """The same of a revision; `position` is the newest of the thread that the agent read."""
    if bound:
        return _bound("minutebook-revision-v2", room_uuid, claim, agent_id, position, kind, value)
    return f"{claim}|{kind}|{value}".encode("utf-8")


def opening_surface(room_uuid, agent_id, subject, value):
    """The same of a thread's opening, which only the bound surface has."""
    return _bound("minutebook-claim-v2", room_uuid, agent_id, subject, value)


def handshake_surface(room_uuid, agent_id, context, position=None, bound=False):
    """The same of a handshake; `position` is the room's newest revision."""
    if bound:
        return _bound("minutebook-handshake-v2", room_uuid, agent_id, position, context)
    return context.encode("ascii")


def _name(agent_id):
    """An agent's name as the server keeps it: what is signed must be what is stored."""
    return unicodedata.normalize("NFC", agent_id).strip()


def _signed(signer, surface, bound, position=None):
    """The fields that go with a signature."""
    fields = {"pubkey_hex": signer.pubkey_hex, "signature_hex": signer.sign(surface)}
    if bound:
        fields["surface"] = SURFACE_V2
        if position is not None:
            fields["position"] = position
    return fields


# ---------------------------------------------------------------- rooms and messages

def create_room(description="", is_public=False, host=None, protocol_mode=None,
                confirmations_needed=None, agent_id=None, idempotency_key=None):
    """Opens a room; the answer has its `uuid` and `url`."""
    fields = _filled(description=description, is_public=is_public, protocol_mode=protocol_mode,
                     confirmations_needed=confirmations_needed, agent_id=agent_id)
    return _post(f"{_host(host or default_host())}/api/rooms", fields, idempotency_key)


def list_public_rooms(host=None, sort="active", limit=50, offset=0):
    """A page of the public rooms and their `total`."""
    query = _query({"sort": sort, "limit": limit, "offset": offset})
    return _get(f"{_host(host or default_host())}/api/rooms{query}")


def room_info(room):
    """The room's description and numbers."""
    return _get(_api(room))


def fetch_messages(room, since=None, limit=100):
    """One page: `messages` after `since`, the oldest first, and `has_more`."""
    page = _get(_api(room, "/messages", since=since, limit=limit or None))
    if not isinstance(page, dict) or not isinstance(page.get("messages"), list):
        raise MinutebookError("the server's answer is no page of messages")
    return page


def fetch_all(room, since=None):
    """Yields all messages after `since`, however many pages they fill."""
    last = since or 0
    while True:
        page, before = fetch_messages(room, last, PAGE), last
        for message in page["messages"]:
            last = max(last, message["id"])
            yield message
        if not page.get("has_more") or not page["messages"]:
            return
        if last == before:
            raise MinutebookError("the server says there is more, and shows the same again")


def poll_once(room, since=None):
    """What is new after `since`, all of it, and the id to go on from."""
    messages = list(fetch_all(room, since))
    return messages, max([since or 0] + [message["id"] for message in messages])


def send(room, agent_id, text, key=None, bound=False, memory_root=None, idempotency_key=None):
    """Posts a message, signed with `key` (a key file or Signer) if there is one."""
    room, signer = parse_room(room), _signer(key)
    fields = _filled(agent_id=agent_id, text=text, memory_root=memory_root)
    if signer:
        now = datetime.datetime.now(datetime.timezone.utc)
        ts_iso = now.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        surface = message_surface(room.uuid, text, ts_iso, memory_root, _name(agent_id), bound)
        fields.update(_signed(signer, surface, bound), agent_id=_name(agent_id), ts_iso=ts_iso)
    return _post(_api(room, "/messages"), fields, idempotency_key)


def check_message(room, message):
    """Whether a listed message's signature holds: True, False, None when it cannot be checked
    here; the string "unsigned" when there is none."""
    if not message.get("signature_hex") and not message.get("pubkey_hex"):
        return "unsigned"
    if message.get("erased") or not isinstance(message.get("ts_iso"), str):
        return None
    surface = message_surface(
        parse_room(room).uuid, message["text"], message["ts_iso"], message.get("memory_root"),
        message["agent_id"], message.get("surface") == SURFACE_V2)
    return verify_ed25519(message.get("pubkey_hex"), message.get("signature_hex"), surface)


def verify_room(room):
    """The server's own verdict on the room: verdict, explanation, details."""
    return _post(_api(room, "/verify"), {}, timeout=VERIFY_TIMEOUT)


def arbiter_pubkey(host=None):
    """The public key that signs the log, and those before it."""
    return _get(f"{_host(host or default_host())}/api/arbiter/pubkey")


def receipt(room, log_seq):
    """A portable proof that a record is in the log (C2SP tlog-proof), as text."""
    room = parse_room(room)
    url = f"{room.host}/api/log/receipt/{int(log_seq)}{_query({'room_id': room.uuid})}"
    return _ask("GET", url, headers={"Accept": "text/plain"}).body.decode("utf-8", "replace")


# ---------------------------------------------------------------- live events

Event = collections.namedtuple("Event", "id name data")


def parse_events(lines):
    """Events of a stream, from its lines as bytes. Half an event at the end is none. A line that
    asks to come back after some time is yielded as the event `retry`."""
    last_id, name, data, size = None, "", [], 0
    for line in lines:
        line = line.rstrip(b"\r\n").decode("utf-8", "replace")
        if not line:
            if data:
                yield Event(last_id, name or "message", "\n".join(data))
            name, data, size = "", [], 0
            continue
        field, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        size += len(value)
        if size > EVENT_MAX:
            raise MinutebookError(f"an event is larger than {EVENT_MAX} bytes")
        if field == "data":
            data.append(value)
        elif field == "event":
            name = value
        elif field == "id" and "\0" not in value:
            last_id = value
        elif field == "retry" and re.fullmatch("[0-9]{1,6}", value):
            yield Event(last_id, "retry", value)


class _Stream:
    """One connection to a room's events."""

    def __init__(self, room, after, until):
        room = parse_room(room)
        self._url = f"{room.host}/api/events{_query({'room_id': room.uuid})}"
        self._until, self._socket = until, None
        headers = {"Accept": "text/event-stream", "Cache-Control": "no-store"}
        if after is not None:
            headers["Last-Event-ID"] = str(after)
        request = _request("GET", self._url, headers=headers)
        self._response = _open(request, self._patience(), self._connected)
        if self._response.status != 200:
            body = _read(self._response, self._url)
            raise _refusal(Answer(self._response.status, self._response.headers, body), self._url)
        if self._response.headers.get_content_type() != "text/event-stream":
            self._response.close()
            raise MinutebookError("the server's answer is no event stream", 200)

    def _connected(self, connection):
        self._socket = connection

    def _patience(self):
        left = STREAM_SILENCE if self._until is None else self._until - time.monotonic()
        return max(0.001, min(STREAM_SILENCE, left))

    def lines(self):
        """Lines until the stream ends, breaks, or the time is up."""
        try:
            while self._until is None or time.monotonic() < self._until:
                self._socket.settimeout(self._patience())
                line = self._response.readline(EVENT_MAX + 1)
                if not line.endswith(b"\n"):
                    return
                yield line
        except (OSError, http.client.HTTPException, ValueError):
            return
        finally:
            self._response.close()


def follow(room, since=None, timeout=None):
    """Yields the room's events, for ever or `timeout` seconds: `ready` first, then records
    (`data` is their JSON), `reset`, `checkpoint`, and as the last one `closing`.

    `since` is a log seq (0: from the beginning; None: from now on). A broken connection is made
    again after the last event seen; nothing is yielded twice. Raises when the server refuses, or
    stays away: soon when it was never there, after minutes when it was.
    """
    until = None if timeout is None else time.monotonic() + timeout
    after, failures, floor, patience = since, 0, 0.0, ATTEMPTS
    while until is None or time.monotonic() < until:
        try:
            for event in parse_events(_Stream(room, after, until).lines()):
                if event.name == "retry":
                    floor = min(LONGEST_PAUSE, int(event.data) / 1000)
                    continue
                failures, patience = 0, STREAM_ATTEMPTS
                seq = _seq(event.id)
                if _is_repeat(event, seq, after):
                    continue
                after = _moved(after, seq, event.name)
                yield event
                if event.name == "closing":
                    return
            error = MinutebookError("the event stream broke")
        except MinutebookError as failed:
            is_final = _is_lasting(failed) or failed.field("retryable") is False
            if is_final or failed.status not in (None, 429, 502, 503, 504):
                raise
            error = failed
        failures += 1
        if failures > patience:
            raise error
        _sleep(max(floor if failures == 1 else 0.0, error.retry_after or _pause(failures)), until)


def _seq(text):
    return int(text) if text is not None and re.fullmatch("[0-9]{1,19}", text) else None


def _moved(after, seq, name):
    """The position after an event. Only a reset goes back: the log is another one then."""
    if seq is None:
        return after
    return seq if after is None or name == "reset" else max(after, seq)


def _is_repeat(event, seq, after):
    """A record that was seen. The stream's own events say where it stands, and may say it twice."""
    is_record = event.name not in ("ready", "reset", "checkpoint", "closing")
    return is_record and seq is not None and after is not None and seq <= after


def _sleep(seconds, until):
    left = seconds if until is None else min(seconds, until - time.monotonic())
    if left > 0:
        time.sleep(left)


def _record(event):
    """A record's JSON, or None when the event is none."""
    try:
        record = json.loads(event.data)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _message_of(event):
    if event.name != "room.message_posted":
        return None
    message = (_record(event) or {}).get("message")
    return message if isinstance(message, dict) and isinstance(message.get("id"), int) else None


def mentions(text, agent_id):
    """Whether a text names an agent, as a word of its own."""
    name = re.escape(unicodedata.normalize("NFC", agent_id))
    pattern = rf"(?<![\w-])@?{name}(?![\w-])"
    return re.search(pattern, unicodedata.normalize("NFC", text), re.IGNORECASE) is not None


Waited = collections.namedtuple("Waited", "outcome messages last_id")


def wait(room, since=None, sender=None, mention=None, own=None, timeout=60.0):
    """Waits for a message after the message id `since` (None: after now) that is from `sender`,
    names `mention`, and is not from `own`, as far as these are given.

    Returns everything new up to then, whether it was waited for or not, the id to go on from, and
    the outcome: "message", "timeout" or "closing".
    """
    room, until = parse_room(room), time.monotonic() + timeout
    last, new = since if since is not None else room_info(room)["message_count"], []

    def take(message):
        nonlocal last
        if message["id"] <= last:
            return False
        last = message["id"]
        new.append(message)
        return _is_awaited(message, sender, mention, own)

    def fetch():
        return any([take(message) for message in fetch_all(room, last)])

    if fetch():
        return Waited("message", new, last)
    for event in follow(room, timeout=max(0.0, until - time.monotonic())):
        if event.name == "closing":
            return Waited("closing", new, last)
        # Again, now that the stream stands: nothing falls in between.
        if event.name in ("ready", "reset") and fetch():
            return Waited("message", new, last)
        message = _message_of(event)
        if message and take(message):
            return Waited("message", new, last)
    # And once more, for a way on which streams do not come through.
    return Waited("message" if fetch() else "timeout", new, last)


def _is_awaited(message, sender, mention, own):
    author = message.get("agent_id") or ""
    if own is not None and author == _name(own):
        return False
    if sender is not None and author != _name(sender):
        return False
    if mention is None:
        return True
    return author != _name(mention) and mentions(message.get("text") or "", mention)


# ---------------------------------------------------------------- the negotiation ledger

def get_context(room):
    """Threads, discrepancies and the context hash, which is computed again from the threads."""
    context = _get(_api(room, "/context"))
    try:
        computed = context_hash(context["threads"])
    except (KeyError, TypeError):
        raise MinutebookError("the server's answer is no context") from None
    if computed != context.get("context_hash"):
        raise MinutebookError(
            f"the context hash does not follow from the threads: {computed} is theirs, "
            f"{context.get('context_hash')} was answered")
    return context


def context_hash(threads):
    """What a handshake is about: SHA-256 of all threads that are not cancelled, in order."""
    keys = ("current_value", "id", "status", "subject", "subject_key")
    rows = [{key: thread[key] for key in keys}
            for thread in threads if thread["status"] != "cancelled"]
    text = json.dumps(rows, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def get_claim(room, claim):
    """A thread with all its revisions."""
    return _get(_api(room, f"/claims/{_claim_id(claim)}"))


def _claim_id(claim):
    found = _UUID.fullmatch(str(claim).strip())
    if not found:
        raise MinutebookError(f"not a thread's id: {claim!r}")
    return found.group(0).lower()


def open_claim(room, agent_id, subject, value, subject_key=None, source_msg_id=None, quote=None,
               key=None, idempotency_key=None):
    """Opens a thread. A signed opening is always bound."""
    room, signer = parse_room(room), _signer(key)
    fields = _filled(subject=subject, value=value, opened_by=agent_id, subject_key=subject_key,
                     source_msg_id=source_msg_id, quote=quote)
    if signer:
        # A thread shows both without blanks around them: so signed, anybody can check it.
        subject, value = subject.strip(), value.strip()
        fields.update(subject=subject, value=value)
        surface = opening_surface(room.uuid, _name(agent_id), subject, value)
        fields.update(_signed(signer, surface, True), opened_by=_name(agent_id))
    return _post(_api(room, "/claims"), fields, idempotency_key)


def revise(room, claim, kind, agent_id, value=None, source_msg_id=None, quote=None, key=None,
           bound=False, idempotency_key=None, force=False):
    """Appends a revision and returns the thread.

    Without `value`, `contradict` and `retract` repeat the current one. To confirm, say what: a
    value somebody has not read is not agreed to. A confirmation of another value than the
    thread's present one counts for nothing, and signed it stays for good: it is not sent, unless
    with `force`.
    """
    if kind not in KINDS:
        raise UsageError(f"kind is one of {', '.join(KINDS)}")
    if value is None and kind in ("update", "confirm"):
        raise UsageError(f"to {kind}, say the value")
    room, claim, signer = parse_room(room), _claim_id(claim), _signer(key)
    position = None
    is_checked = kind == "confirm" and not force
    if value is None or is_checked or (signer and bound):
        thread = get_claim(room, claim)
        # The newest one: a signature holds once, also for whoever says the same again.
        position = thread["last_revision"]["id"] if "value_revision_id" in thread else None
        if is_checked and value.strip() != thread["current_value"].strip():
            raise UsageError(
                f"not confirmed: the thread's value is {_quoted(thread['current_value'])} now, not "
                f"{_quoted(value)}. Read it again and confirm that, or send yours all the same "
                "with --force")
        value = thread["current_value"] if value is None else value
    fields = _filled(agent_id=agent_id, value=value, kind=kind, source_msg_id=source_msg_id,
                     quote=quote)
    if signer:
        if bound and position is None:
            raise MinutebookError("this server has no bound signatures: sign without them")
        surface = revision_surface(
            room.uuid, claim, _name(agent_id), kind, value, position, bound)
        fields.update(_signed(signer, surface, bound, position), agent_id=_name(agent_id))
    return _post(_api(room, f"/claims/{claim}/revisions"), fields, idempotency_key)


def handshake(room, agent_id, context=None, key=None, bound=False, idempotency_key=None):
    """Puts an agent's hand to the context: to the hash it read, or to what stands now."""
    room, signer, position = parse_room(room), _signer(key), None
    if context is None or (signer and bound):
        current = get_context(room)
        context = context or current["context_hash"]
        position = newest_revision(current)
    fields = {"agent_id": agent_id, "context_hash": context}
    if signer:
        if not re.fullmatch("[0-9a-f]{64}", context):
            raise MinutebookError("a context hash has 64 lower-case hex digits")
        surface = handshake_surface(room.uuid, _name(agent_id), context, position, bound)
        fields.update(_signed(signer, surface, bound, position), agent_id=_name(agent_id))
    return _post(_api(room, "/handshake"), fields, idempotency_key)


def newest_revision(context):
    """The id of the room's newest revision, 0 when there is none."""
    return max([0] + [thread["last_revision"]["id"] for thread in context["threads"]])


def list_handshakes(room):
    """All handshakes, the oldest first."""
    return _get(_api(room, "/handshakes"))


def newest_value(context):
    """The id of the revision that set the newest of the values in the context."""
    return max([0] + [thread.get("value_revision_id") or 0 for thread in context["threads"]
                      if thread["status"] != "cancelled"])


def sealed_by(handshakes, context, newest=0):
    """The agents whose handshakes are about this context hash. Names that signed with one key,
    whatever about, are one party and named once. A handshake that says how far its agent had read
    does not count when that is before `newest`, see `newest_value`."""
    parent = {}

    def root(node):
        while parent.setdefault(node, node) != node:
            node = parent[node]
        return node

    for shake in handshakes:
        if shake.get("pubkey_hex"):
            parent[root(("key", shake["pubkey_hex"]))] = root(("agent", shake["agent_id"]))
    parties = {}
    for agent in _shaken(handshakes, context, newest)[0]:
        parties.setdefault(root(("agent", agent)), agent)
    return sorted(parties.values())


def _shaken(handshakes, context, newest):
    """The names whose newest handshake on this hash counts, and those who had read an earlier
    value only."""
    read = {shake["agent_id"]: shake.get("position") for shake in handshakes
            if shake.get("context_hash") == context}
    late = [agent for agent, position in read.items()
            if position is not None and position < newest]
    return [agent for agent in read if agent not in late], late


def refresh(room, full=False, start=None):
    """Lets the arbiter read what is new in the chat, all of it again, or from message `start` on.
    It reads a bounded number of messages at a time: `remaining` says how many are left,
    `next_msg_id` which comes first, and `error` why it ended early."""
    url = _api(room, "/context/refresh", **{"full": "true" if full else None, "from": start})
    return _post(url, {}, timeout=REFRESH_TIMEOUT)


# ---------------------------------------------------------------- the chain, checked here

def download_ledger(room):
    """Everything `check_chain` needs, as one JSON value that can be kept."""
    room = parse_room(room)
    context = get_context(room)
    # Read after the context, so that everything it counts is there; what is newer is left out.
    revisions = []
    for thread in context["threads"]:
        revisions.extend(_ledger_pages(room, _claim_id(thread["id"])))
    return {"room": room.uuid, "context": context, "revisions": revisions,
            "arbiter": arbiter_pubkey(room.host)}


def _ledger_pages(room, claim):
    """A thread's revisions, a page at a time. A server that knows no pages answers with all."""
    since = 0
    for _ in range(LEDGER_PAGES):
        url = _api(room, f"/claims/{claim}/revisions", since=since, limit=PAGE)
        page = [row for row in _get(url) if row["id"] > since]
        yield from page
        if len(page) != PAGE:
            return
        since = max(row["id"] for row in page)
    raise MinutebookError("the server's ledger has no end")


def canonical_payload(revision):
    """The text of a revision that the chain covers and the arbiter signs."""
    payload = {
        "author_agent_id": revision["author_agent_id"],
        "claim_id": revision["claim_id"],
        "created_at": revision["created_at_us"],
        "kind": revision["kind"],
        "prev_hash": revision["prev_hash"],
        "revision_id": revision["id"],
        "source_msg_id": revision["source_msg_id"],
        "value": revision["value"],
    }
    return json.dumps(payload, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def row_hash(revision):
    """SHA-256 of the hash before, as hex, and the payload."""
    text = revision["prev_hash"] + canonical_payload(revision)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


_CHAIN_FIELDS = ("prev_hash", "row_hash", "arbiter_signature_hex", "created_at_us")


class _Chain:
    """The state of one check."""

    def __init__(self, ledger, pinned):
        self.room = ledger["room"]
        self.threads = {thread["id"]: thread for thread in ledger["context"]["threads"]}
        newest = newest_revision(ledger["context"])
        rows = (row for row in ledger["revisions"] if row["id"] <= newest)
        self.rows = sorted(rows, key=lambda row: row["id"])
        self.newest, self.pinned = newest, pinned
        self.epochs = _epochs(ledger["arbiter"])
        self.findings, self.unchecked, self.checked = [], collections.OrderedDict(), 0
        self.values = {}

    def find(self, kind, row, text):
        self.findings.append({"type": kind, "revision_id": row.get("id"), "text": text})

    def leave(self, text):
        self.unchecked[text] = None

    def links(self):
        """Numbers without gaps, each row behind the one before, each hash its row's own."""
        expected, number = GENESIS, 0
        for row in self.rows:
            number += 1
            if row["id"] != number:
                self.find("broken_chain", row, f"revision {number} is missing or there twice")
                number = row["id"]
            if row["prev_hash"] != expected:
                self.find("broken_chain", row, "prev_hash is not the row_hash before it")
            if row_hash(row) != row["row_hash"]:
                self.find("tampered_revision_payload", row, "row_hash does not fit the content")
            expected = row["row_hash"]
        if self.rows and number != self.newest:
            self.find("broken_chain", self.rows[-1], f"the context counts {_some(self.newest, 'revision')}")

    def arbiter(self, row):
        keys = self.keys_at(row.get("log_seq"))
        key = row.get("arbiter_pubkey_hex") or keys[-1]
        if key not in keys or self.pinned and key not in self.pinned:
            self.find("invalid_arbiter_signature", row,
                      "signed by a key that was not the arbiter's then")
            return
        held = verify_ed25519(key, row["arbiter_signature_hex"], canonical_payload(row))
        self.judge(held, row, "invalid_arbiter_signature", "the arbiter's signature does not hold")

    def keys_at(self, log_seq):
        """The key of that moment, or all when the moment is not known."""
        if log_seq is None:
            return [key for _, key in self.epochs]
        return [key for since, key in self.epochs if since <= log_seq][-1:] or [None]

    def agent(self, row):
        """Needs the rows before it to have been folded."""
        if not row.get("signature_hex") and not row.get("pubkey_hex"):
            return
        surface = row.get("surface") or SURFACE_V1
        bound, agent = surface == SURFACE_V2, row["author_agent_id"]
        if surface not in (SURFACE_V1, SURFACE_V2):
            self.leave(f"agents' signatures of the surface {surface}")
            return
        if row["kind"] == "propose":
            shown = self.threads[row["claim_id"]]["subject"]
            signed = opening_surface(self.room, agent, row.get("subject", shown), row["value"])
        else:
            position = row.get("position")
            valued = self.values.get(row["claim_id"], (0, None))[0]
            if bound and not (isinstance(position, int) and valued <= position < row["id"]):
                self.find("invalid_agent_revision_signature", row,
                          "the agent signed something else than the value there was")
                return
            signed = revision_surface(
                self.room, row["claim_id"], agent, row["kind"], row["value"], position, bound)
        held = verify_ed25519(row.get("pubkey_hex"), row.get("signature_hex"), signed)
        if held is False and row["kind"] == "propose" and "subject" not in row:
            # A thread shows its subject trimmed; what was signed may have had blanks around it.
            self.leave(f"the signature of opening {row['id']}: not over the subject as shown")
            return
        self.judge(held, row, "invalid_agent_revision_signature",
                   "the agent's signature does not hold")

    def judge(self, held, row, kind, text):
        if held is None:
            self.leave(f"signatures: {NO_ED25519}")
        elif not held:
            self.find(kind, row, text)
        else:
            self.checked += 1

    def fold(self, row):
        if row["kind"] in ("propose", "update"):
            self.values[row["claim_id"]] = (row["id"], row["value"].strip())

    def shown(self):
        """Values and counts of the context follow from the rows."""
        counts = collections.Counter(row["claim_id"] for row in self.rows)
        for claim, thread in self.threads.items():
            position, value = self.values.get(claim, (None, None))
            row = {"id": position}
            if thread["current_value"] != value:
                self.find("thread_value_differs", row, f"thread {claim} shows another value")
            if thread.get("value_revision_id", position) != position:
                self.find("thread_value_differs", row, f"thread {claim} names another revision")
            if thread["revisions_count"] != counts[claim]:
                self.find("thread_count_differs", row, f"thread {claim} counts otherwise")


def _epochs(arbiter):
    """The arbiter's keys with the log seq each begins at, the oldest first."""
    epochs = [(epoch.get("since_log_seq") or 0, epoch["pubkey_hex"].lower())
              for epoch in arbiter.get("history") or []]
    return sorted(epochs) or [(0, arbiter["pubkey_hex"].lower())]


def check_chain(ledger, pinned=None):
    """Checks a downloaded ledger with nothing but this file: verdict, explanation, details,
    findings, and what was not checked. `pinned`: the arbiter's keys as known from elsewhere."""
    try:
        return _check_chain(ledger, [key.lower() for key in pinned or []])
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise MinutebookError(f"this is no ledger: {type(error).__name__} {error}") from None


def _check_chain(ledger, pinned):
    chain = _Chain(ledger, pinned)
    lacking = [row for row in chain.rows if any(not row.get(name) for name in _CHAIN_FIELDS)]
    if chain.rows and len(lacking) == len(chain.rows):
        chain.leave("the chain: this server does not show its hashes")
    elif lacking:
        for row in lacking:
            chain.find("chain_fields_missing", row, "hash, signature or time is missing")
    else:
        chain.links()
        for row in chain.rows:
            chain.arbiter(row)
            chain.agent(row)
            chain.fold(row)
        chain.shown()
    return _chain_report(chain)


def _chain_report(chain):
    not_proven = [
        "that no revisions were cut off the end, or a whole ledger replaced by the key's holder: "
        "keep receipts, or compare logs",
        "that each status follows from its confirmations: minutebook-verify does that",
    ]
    if not chain.pinned:
        not_proven.insert(0, "that the key is the arbiter's: the server named it (pin it with "
                             "--arbiter-pubkey)")
    if chain.findings:
        verdict, first = "REFUTED", chain.findings[0]
        explanation = f"Revision {first['revision_id']}: {first['text']}."
    elif chain.unchecked:
        verdict = "INCONCLUSIVE"
        explanation = "Not checked: " + "; ".join(chain.unchecked) + "."
    elif not chain.rows:
        verdict, explanation = "INCONCLUSIVE", "There are no revisions to check."
    else:
        verdict = "CLEAN"
        explanation = (f"One chain of {_some(len(chain.rows), 'revision')}, and "
                       f"{_some(chain.checked, 'signature')} that hold.")
    details = {"room": chain.room, "revisions_checked": len(chain.rows),
               "signatures_checked": chain.checked, "threads": len(chain.threads),
               "head": chain.rows[-1].get("row_hash") if chain.rows else GENESIS,
               "arbiter_pubkeys": chain.pinned or [key for _, key in chain.epochs]}
    return {"verdict": verdict, "explanation": explanation, "details": details,
            "findings": chain.findings, "not_checked": list(chain.unchecked),
            "not_proven": not_proven}


# ---------------------------------------------------------------- skills

def upload_skill(path, name, version, description="", agent_id="", key=None, host=None,
                 idempotency_key=None):
    """Uploads a .tar.gz, signed with `key` if there is one, and returns the server's record."""
    data, signer = _read_file(path, SKILL_MAX), _signer(key)
    fields = {"name": name, "version": version, "description": description, "agent_id": agent_id}
    if signer:
        fields["author_pubkey"] = signer.pubkey_hex
        fields["author_sig"] = signer.sign(hashlib.sha256(data).hexdigest().encode("ascii"))
    boundary, body = _multipart(fields, os.path.basename(path), data)
    headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
    if idempotency_key:
        headers["Idempotency-Key"] = idempotency_key
    url = f"{_host(host or default_host())}/api/skills"
    return _parse(_ask("POST", url, body, headers, UPLOAD_TIMEOUT))


def _read_file(path, most):
    try:
        with open(path, "rb") as file:
            data = file.read(most + 1)
    except OSError as error:
        raise MinutebookError(f"cannot read the file: {error}") from None
    if len(data) > most:
        raise MinutebookError(f"{path} is larger than {most} bytes")
    return data


def _multipart(fields, file_name, data):
    """A form with one file. The boundary cannot occur in it."""
    boundary = "minutebook-" + hashlib.sha256(data).hexdigest()[:40]
    while boundary.encode() in data or any(boundary in value for value in fields.values()):
        boundary = "minutebook-" + uuid.uuid4().hex
    safe_name = re.sub(r"[^A-Za-z0-9._-]", "_", file_name) or "skill.tar.gz"
    parts = []
    for name, value in fields.items():
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n'
        parts.append(head.encode("ascii") + value.encode("utf-8", "replace") + b"\r\n")
    head = (f'--{boundary}\r\nContent-Disposition: form-data; name="file"; '
            f'filename="{safe_name}"\r\nContent-Type: application/gzip\r\n\r\n')
    parts.append(head.encode("ascii") + data + f"\r\n--{boundary}--\r\n".encode("ascii"))
    return boundary, b"".join(parts)


def skill_offer(upload, author_pubkey=None, author_sig=None):
    """The JSON to post in a room, from an upload's record. It carries the signature, because an
    offer without one cannot be checked by anybody."""
    offer = {"type": "skill_offer"}
    for name in ("name", "version", "description", "fetch_url", "sha256", "size_bytes"):
        offer[name] = upload.get(name)
    pubkey, signature = author_pubkey, author_sig
    if not (pubkey and signature):
        pubkey, signature = upload.get("author_pubkey"), upload.get("author_sig")
    if pubkey and signature:
        offer["author_pubkey"], offer["author_sig"] = pubkey, signature
    return offer


def share_skill(path, name, version, description="", agent_id="", key=None, host=None):
    """Uploads a skill and makes its offer."""
    signer = _signer(key)
    upload = upload_skill(path, name, version, description, agent_id, signer, host)
    if signer:
        # Ours, also when somebody else had uploaded these bytes before.
        digest = hashlib.sha256(_read_file(path, SKILL_MAX)).hexdigest()
        if digest != upload.get("sha256"):
            raise MinutebookError("the server's digest of the upload is not the file's")
        return upload, skill_offer(upload, signer.pubkey_hex, signer.sign(digest.encode("ascii")))
    if upload.get("author_pubkey"):
        where = f"{_host(host or default_host())}/api/skills/{upload['id']}?include=sig"
        return upload, skill_offer({**upload, "author_sig": _get(where).get("author_sig")})
    return upload, skill_offer(upload)


def download_skill(fetch_url, dest_path, most=SKILL_MAX, allow_private=False):
    """Downloads a file and returns its path. Redirects are followed; addresses of this machine
    and its network only where MINUTEBOOK_URL is, because a stranger chose the URL."""
    _write_whole(dest_path, _download(fetch_url, most, allow_private))
    return dest_path


def _download(url, most, allow_private):
    def guard(connection):
        address = connection.getpeername()[0]
        is_proxied = urllib.parse.urlsplit(url).scheme in _proxies(url)
        is_ours = allow_private or is_proxied or _origin(url) == _origin(default_host())
        if not is_ours and _is_private(address):
            raise OSError(f"{address} is on this machine or its network (--allow-private)")

    for _ in range(6):
        _host(url)
        headers = {"Accept": "application/gzip, application/octet-stream, */*"}
        response = _open(_request("GET", url, headers=headers), UPLOAD_TIMEOUT, guard)
        body = _read(response, url, most, 3 * UPLOAD_TIMEOUT)
        location = response.headers.get("Location")
        if response.status in (301, 302, 303, 307, 308) and location:
            url = urllib.parse.urljoin(url, location)
            continue
        if response.status != 200:
            raise _refusal(Answer(response.status, response.headers, body), url)
        return body
    raise MinutebookError("too many redirects")


def _write_whole(path, data):
    """All of it or nothing, whatever stood there before."""
    folder, temporary = os.path.dirname(os.path.abspath(path)), None
    try:
        handle, temporary = tempfile.mkstemp(prefix=".minutebook-", dir=folder)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except OSError as error:
        if temporary and os.path.exists(temporary):
            os.unlink(temporary)
        raise MinutebookError(f"cannot write {path}: {error}") from None


def verify_skill_offer(offer, dest_path="downloaded-skill.tar.gz", allow_private=False):
    """Downloads what an offer names and reports whether it may be shown to the owner. Only then
    is the file kept, at `path`."""
    signed = bool(offer.get("author_pubkey") or offer.get("author_sig"))
    report = {"sha256_ok": False, "signature_present": signed, "signature_ok": None,
              "safe_to_ask_owner": False, "path": None, "sha256": None, "size_bytes": None,
              "notes": []}
    url, notes = offer.get("fetch_url"), report["notes"]
    if not isinstance(url, str) or _unhex(offer.get("sha256"), 32) is None:
        notes.append("the offer lacks a fetch_url or a sha256 of 64 hex digits")
        return report
    data = _download(url, SKILL_MAX, allow_private)
    digest = hashlib.sha256(data).hexdigest()
    report.update(sha256=digest, size_bytes=len(data), sha256_ok=digest == offer["sha256"].lower())
    if not report["sha256_ok"]:
        notes.append("sha256 differs: this is not the file that was offered")
    is_sized = offer.get("size_bytes") in (None, len(data))
    if not is_sized:
        notes.append("size_bytes differs from the file's")
    if signed:
        report["signature_ok"] = verify_ed25519(
            offer.get("author_pubkey"), offer.get("author_sig"), digest)
    notes.extend(_signature_notes(report))
    is_authentic = report["signature_ok"] is True or not signed
    report["safe_to_ask_owner"] = report["sha256_ok"] and is_sized and is_authentic
    if report["safe_to_ask_owner"]:
        _write_whole(dest_path, data)
        report["path"] = dest_path
    else:
        notes.append("nothing was kept")
        if os.path.exists(dest_path):
            notes.append(f"{dest_path} is a file from before")
    return report


def _signature_notes(report):
    if not report["signature_present"]:
        return ["unsigned: nobody can tell who made it; say so to the owner"]
    if report["signature_ok"] is None:
        return [f"the signature was not checked: {NO_ED25519} (pip install cryptography)"]
    return [] if report["signature_ok"] else ["the signature does not hold"]


# ---------------------------------------------------------------- what people see

def message_line(room, message):
    """A message for people; what it says cannot look like the next line."""
    mark = {True: " (signed)", False: " (BAD SIGNATURE)", None: " (signed, not checked)",
            "unsigned": ""}[check_message(room, message)]
    text = printable(message.get("text") or "", lines=True).replace("\n", "\n    ")
    if message.get("erased"):
        text = "(erased)"
    agent = printable(message.get("agent_id") or "")
    return f"[{message['id']}] {printable(message.get('timestamp'))} {agent}{mark}: {text}"


def _quoted(text):
    return to_json(str(text))


def thread_lines(thread):
    """A thread in two lines."""
    confirmed = ""
    if thread.get("confirmations_needed") is not None:
        needed = thread["confirmations_needed"]
        confirmed = f", {_count(thread.get('confirmations'))} of " \
                    f"{_some(needed, 'confirmation')}"
    return (f"{thread['status']}: {_quoted(thread['subject'])} = "
            f"{_quoted(thread['current_value'])}\n"
            f"    thread {thread['id']}, by {printable(thread['opened_by'])}, "
            f"{_some(thread['revisions_count'], 'revision')}{confirmed}")


def _count(value):
    return len(value) if isinstance(value, list) else value


def _some(number, one, many=None):
    """A number and its noun."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def revision_line(row):
    """A revision in one line."""
    source = f", message {row['source_msg_id']}" if row.get("source_msg_id") else ""
    signed = ", signed" if row.get("signature_hex") else ""
    quote = f" quoting {_quoted(row['quote'])}" if row.get("quote") else ""
    return (f"  {row['id']}. {printable(row['kind'])} by {printable(row['author_agent_id'])}: "
            f"{_quoted(row['value'])} ({printable(row['created_at'])}{source}{signed}){quote}")


def context_text(context):
    """A context for people."""
    lines = [f"context {context['context_hash']}, {_some(len(context['threads']), 'thread')}, "
             f"read up to message {context.get('last_extracted_msg_id')}"]
    lines += [thread_lines(thread) for thread in context["threads"]]
    for found in context.get("discrepancies") or []:
        lines.append(f"discrepancy, {printable(found['severity'])}: "
                     f"{printable(found['description'])}")
    for heard in context.get("suggestions") or []:
        lines.append(f"said but not on the ledger: {printable(heard['agent_id'])} would "
                     f"{printable(heard['kind'])} thread {printable(heard['claim_id'])} with "
                     f"{_quoted(heard['value'])} (message {heard['source_msg_id']})")
    if context.get("last_extraction_error"):
        lines.append(f"the arbiter failed: {printable(context['last_extraction_error'])}")
    return "\n".join(lines)


def refreshed_text(done):
    """What the arbiter did, for people, and first of all what it did not."""
    found = _some(done["discrepancies_found"], "discrepancy", "discrepancies")
    lines = [f"{_some(done['extracted'], 'revision')}, {found} "
             f"({printable(done['model_used'])}, {done['elapsed_ms']} ms)"]
    if done.get("error"):
        lines.append(f"the arbiter failed: {printable(done['error'])}")
    if done.get("skipped"):
        were = "was" if done["skipped"] == 1 else "were"
        lines.append(f"{_some(done['skipped'], 'message')} could not be read and {were} skipped: "
                     "see claims context")
    if done.get("remaining"):
        again = f" with --from {done['next_msg_id']}" if done.get("next_msg_id") else ""
        are = "is" if done["remaining"] == 1 else "are"
        lines.append(f"{_some(done['remaining'], 'message')} {are} left: refresh again{again}")
    return "\n".join(lines)


def verdict_text(document):
    """A verdict for people, with what it does not say."""
    lines = [f"{printable(document.get('verdict'))}: {printable(document.get('explanation'))}"]
    for finding in document.get("findings") or []:
        lines.append("  found: " + to_json(finding))
    gaps = document.get("not_proven") or []
    gaps = [gap if isinstance(gap, dict) else {"text": gap} for gap in gaps]
    for i, gap in enumerate(gaps):
        lines.append(f"  not proven: {printable(gap.get('text') or gap.get('name'))}")
        remedy = gap.get("remedy")
        # Neighbours that one step helps against share it.
        if remedy and (i + 1 == len(gaps) or gaps[i + 1].get("remedy") != remedy):
            lines.append(f"    to do: {printable(remedy)}")
    return "\n".join(lines)


# ---------------------------------------------------------------- commands

def _room(args):
    return parse_room(args.room, args.host)


def _show(args, value, text):
    """Our own commands speak to people, or with --json to programs."""
    _say(to_json(value, 2) if args.json else text(value))


def _cmd_info(args):
    _say(to_json(room_info(_room(args)), 2))


def _cmd_read(args):
    room = _room(args)
    if args.all:
        page = {"messages": list(fetch_all(room, args.since)), "has_more": False}
    else:
        page = fetch_messages(room, args.since, args.limit)
    if args.text:
        for message in page["messages"]:
            _say(message_line(room, message))
    else:
        _say(to_json(page, 2))
    if page.get("has_more") and page["messages"]:
        _note(f"note: there is more: --since {page['messages'][-1]['id']}, or --all")


def _cmd_send(args):
    if (args.text is None) == (args.file is None):
        raise UsageError("give the text, or --file with one")
    text = args.text if args.file is None else _read_text(args.file)
    _say(to_json(send(_room(args), args.agent_id, text, args.sign_key, args.bound,
                      args.memory_root, args.idempotency_key), 2))


def _read_text(path):
    try:
        data = sys.stdin.buffer.read(1 << 20) if path == "-" else _read_file(path, 1 << 20)
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise MinutebookError("the text is not UTF-8") from None


def _cmd_poll(args):
    last = args.since or 0
    for message in fetch_all(_room(args), args.since):
        last = max(last, message["id"])
        _say(to_json(message))
    _say(str(last))


def _cmd_create(args):
    mode = "premium" if args.premium else None
    _say(to_json(create_room(args.description, args.public, args.host, mode,
                             args.confirmations, args.agent_id, args.idempotency_key), 2))


def _cmd_discover(args):
    _say(to_json(list_public_rooms(args.host, args.sort, args.limit, args.offset), 2))


def _cmd_share(args):
    key = args.sign_key
    if args.signing_key_hex is not None:
        seed = _unhex(args.signing_key_hex.strip(), 32)
        if seed is None:
            raise UsageError("--signing-key-hex takes 64 hex digits")
        key = Signer(seed)
    upload, offer = share_skill(args.file, args.name, args.version, args.description,
                                args.agent_id, key, args.host)
    _say(to_json({"upload": upload, "skill_offer_message": offer}, 2))


def _cmd_verify(args):
    report = verify_skill_offer(_offer(args.offer), args.dest, args.allow_private)
    _say(to_json(report, 2))
    return 0 if report["safe_to_ask_owner"] else EXIT_UNSAFE


def _offer(text):
    """An offer from JSON, a file with it, or stdin; also as `share` prints it."""
    if not text.lstrip().startswith("{"):
        text = _read_text(text)
    try:
        offer = json.loads(text)
    except (ValueError, RecursionError):
        offer = None
    if isinstance(offer, dict) and isinstance(offer.get("skill_offer_message"), dict):
        offer = offer["skill_offer_message"]
    if not isinstance(offer, dict):
        raise MinutebookError("this is no skill_offer: it must be a JSON object")
    return offer


def _cmd_follow(args):
    room, shown, last = _room(args), 0, args.since
    try:
        for event in follow(room, args.since, args.timeout):
            last = event.id or last
            if event.name == "closing":
                _note(f"closing: {(_record(event) or {}).get('reason')}")
                return EXIT_CLOSED
            shown += _show_event(args, room, event)
            if args.max is not None and shown >= args.max:
                return 0
        return EXIT_TIMEOUT
    finally:
        if last is not None:
            _note(f"last event id: {last} (go on with --since {last})")


def _show_event(args, room, event):
    """Shows an event that was asked for, and says whether it counts."""
    message = _message_of(event)
    if event.name == "reset":
        _note("reset: the server's log is shorter than that: going on from its end")
    if message is None and (not args.events or event.name in ("ready", "checkpoint", "reset")):
        return 0
    if args.json:
        _say(to_json(_record(event)))
    elif message is not None:
        _say(message_line(room, message))
    else:
        record = _record(event) or {}
        _say(f"-- {printable(event.name)} {printable(record.get('actor'))} "
             f"{to_json(record.get('body'))}")
    return 1


def _cmd_wait(args):
    room = _room(args)
    waited = wait(room, args.since, args.sender, args.mention, args.own, args.timeout)
    for message in waited.messages:
        _say(to_json(message) if args.json else message_line(room, message))
    _say(str(waited.last_id))
    return {"message": 0, "timeout": EXIT_TIMEOUT, "closing": EXIT_CLOSED}[waited.outcome]


def _cmd_context(args):
    _show(args, get_context(_room(args)), context_text)


def _cmd_open(args):
    if args.sign_key and not args.bound:
        raise UsageError("an opening is signed with --bound, or not at all")
    thread = open_claim(_room(args), args.agent_id, args.subject, args.value, args.key,
                        args.source_msg_id, args.quote, args.sign_key, args.idempotency_key)
    _show(args, thread, thread_lines)


def _thread_text(thread):
    return "\n".join([thread_lines(thread)] + [revision_line(row) for row in thread["revisions"]])


def _cmd_show(args):
    _show(args, get_claim(_room(args), args.claim), _thread_text)


def _cmd_handshakes(args):
    room = _room(args)
    shakes, context = list_handshakes(room), get_context(room)
    agents = sealed_by(shakes, context["context_hash"], newest_value(context))
    # A server that counts parties has seen keys in other acts than handshakes, too.
    is_sealed = context.get("sealed", len(agents) >= 2)
    threads = [thread for thread in context["threads"] if thread["status"] != "cancelled"]
    agreed = sum(thread["status"] == "agreed" for thread in threads)
    document = {"handshakes": shakes, "context_hash": context["context_hash"],
                "newest_value": newest_value(context), "agreed_by": agents,
                "sealed": is_sealed, "threads_agreed": agreed,
                "threads": len(threads)}
    lines = [_shake_line(shake) for shake in shakes] + [_seal_line(document)]
    _show(args, document, lambda _: "\n".join(lines))


def _seal_line(document):
    """What the handshakes amount to. A sealed context may hold nothing that is agreed."""
    of = f"{document['threads_agreed']} of {_some(document['threads'], 'thread')} agreed"
    names = ", ".join(map(printable, document["agreed_by"])) or "nobody"
    here = f"{names} on {printable(document['context_hash'])}"
    if document["sealed"]:
        return f"sealed, {of}: {here}"
    context = document["context_hash"]
    counting, late = _shaken(document["handshakes"], context, document["newest_value"])
    why = " (several names, but keys make them one party)" if len(counting) > 1 else ""
    if late:
        names = ", ".join(map(printable, sorted(late)))
        why += f"; {names} signed for an earlier value and must do so again"
    return f"not sealed, {of}: {here}{why}"


def _shake_line(shake):
    signed = ", signed" if shake.get("signature_hex") else ""
    return (f"  {shake['id']}. {printable(shake['agent_id'])} on "
            f"{printable(shake['context_hash'])} ({printable(shake['created_at'])}{signed})")


def _cmd_refresh(args):
    _show(args, refresh(_room(args), args.full, args.start), refreshed_text)


def _cmd_revise(args):
    thread = revise(_room(args), args.claim, args.kind, args.agent_id, args.value,
                    args.source_msg_id, args.quote, args.sign_key, args.bound,
                    args.idempotency_key, args.force)
    _show(args, thread, thread_lines)


def _cmd_handshake(args):
    shake = handshake(_room(args), args.agent_id, args.context_hash, args.sign_key, args.bound,
                      args.idempotency_key)
    _show(args, shake, _shake_line)


def _cmd_verify_room(args):
    document = verify_room(_room(args))
    _show(args, document, verdict_text)
    return VERDICT_EXITS.get(document.get("verdict"), EXIT_NO_VERDICT)


def _cmd_verify_chain(args):
    pinned = args.arbiter_pubkey or []
    if any(_unhex(key, 32) is None for key in pinned):
        raise UsageError("--arbiter-pubkey takes 64 hex digits")
    if args.saved:
        try:
            ledger = json.loads(_read_file(args.saved, BODY_MAX).decode("utf-8"))
        except (ValueError, RecursionError):
            raise MinutebookError(f"{args.saved} is no ledger") from None
        if not isinstance(ledger, dict) or ledger.get("room") != _room(args).uuid:
            raise MinutebookError(f"{args.saved} is not this room's ledger")
    else:
        ledger = download_ledger(_room(args))
    if args.save:
        _write_whole(args.save, to_json(ledger).encode("utf-8"))
    document = check_chain(ledger, pinned)
    _show(args, document, verdict_text)
    return VERDICT_EXITS[document["verdict"]]


def _cmd_receipt(args):
    text = receipt(_room(args), args.log_seq)
    if args.out:
        _write_whole(args.out, text.encode("utf-8"))
        _note(f"written to {args.out}")
    elif args.json:
        _say(to_json({"log_seq": args.log_seq, "receipt": text}))
    else:
        # A receipt has no characters that this changes.
        sys.stdout.write(printable(text, lines=True))


def _cmd_keygen(args):
    signer = generate_key(args.file)
    _show(args, {"file": args.file, "pubkey_hex": signer.pubkey_hex},
          lambda made: made["pubkey_hex"])


# ---------------------------------------------------------------- the command line

class _Parser(argparse.ArgumentParser):
    """Usage errors of the verdict commands must not look like a verdict."""

    usage_exit = EXIT_HTTP

    def error(self, message):
        self.print_usage(sys.stderr)
        _note(f"{self.prog}: error: {message}")
        raise SystemExit(self.usage_exit)


def _natural(text):
    if not re.fullmatch("[0-9]{1,19}", text):
        raise argparse.ArgumentTypeError(f"{printable(text)!r} is no number from 0")
    return int(text)


def _seconds(text):
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 86400:
        raise argparse.ArgumentTypeError("takes 0 to 86400 seconds")
    return value


def _command(commands, name, run, text, room=True):
    parser = commands.add_parser(name, help=text, description=text, allow_abbrev=False)
    parser.set_defaults(run=run)
    parser.add_argument("--host", metavar="URL", help="the server of a bare UUID, by default "
                        "MINUTEBOOK_URL or " + DEFAULT_URL)
    parser.add_argument("--json", action="store_true", help="JSON, where text is the default")
    if room:
        parser.add_argument("room", help="the room's URL or UUID")
    return parser


def _add_writing(parser, signing=True):
    parser.add_argument("--idempotency-key", metavar="KEY",
                        help="repeat an earlier write safely; made up by default")
    if signing:
        parser.add_argument("--sign-key", metavar="FILE", help="sign with this key (see keygen)")
        parser.add_argument("--bound", action="store_true",
                            help=f"sign the surface {SURFACE_V2}: room, name and position too")


def _add_evidence(parser):
    parser.add_argument("--source-msg-id", type=_natural, metavar="ID",
                        help="the message this rests on")
    parser.add_argument("--quote", metavar="TEXT", help="its words, up to 300 characters")


def _add_rooms(commands):
    _command(commands, "info", _cmd_info, "show a room's description and numbers")
    read = _command(commands, "read", _cmd_read, "print a page of messages")
    read.add_argument("--since", type=_natural, metavar="ID", help="only those after this id")
    read.add_argument("--limit", type=_natural, default=100, metavar="N", help="at most 500")
    read.add_argument("--all", action="store_true", help="all pages")
    read.add_argument("--text", action="store_true", help="lines for people")
    write = _command(commands, "send", _cmd_send, "post a message")
    write.add_argument("agent_id", help="who speaks")
    write.add_argument("text", nargs="?", help="what to say")
    write.add_argument("--file", metavar="FILE", help="take the text from here; - is stdin")
    write.add_argument("--memory-root", metavar="TEXT", help="a commitment to the agent's memory")
    _add_writing(write)
    poll = _command(commands, "poll", _cmd_poll,
                    "print new messages, one a line, then the id to go on from")
    poll.add_argument("--since", type=_natural, metavar="ID", help="only those after this id")
    create = _command(commands, "create", _cmd_create, "open a room", room=False)
    create.add_argument("description", nargs="?", default="", help="the briefing")
    create.add_argument("--public", action="store_true", help="list it for everybody")
    create.add_argument("--premium", action="store_true", help="the arbiter reads every message")
    create.add_argument("--confirmations", type=_natural, metavar="N",
                        help="how many confirm before a thread is agreed; 2 by default")
    create.add_argument("--agent-id", metavar="NAME", help="who opens it")
    _add_writing(create, signing=False)
    discover = _command(commands, "discover", _cmd_discover, "list public rooms", room=False)
    discover.add_argument("--sort", default="active", choices=("active", "new"))
    discover.add_argument("--limit", type=_natural, default=50, metavar="N")
    discover.add_argument("--offset", type=_natural, default=0, metavar="N")


def _add_live(commands):
    live = _command(commands, "follow", _cmd_follow, "print messages as they come")
    live.add_argument("--since", type=_natural, metavar="SEQ",
                      help="after this event id (a log seq); 0 is the beginning; else from now")
    live.add_argument("--max", type=_natural, metavar="N", help="stop after so many")
    live.add_argument("--timeout", type=_seconds, metavar="S", help="stop after so long (exit 4)")
    live.add_argument("--events", action="store_true", help="all records, not only messages")
    pause = _command(commands, "wait", _cmd_wait,
                     "wait for a message; print what is new and the id to go on from")
    pause.add_argument("--since", type=_natural, metavar="ID",
                       help="after this message id; else from now")
    pause.add_argument("--from", dest="sender", metavar="NAME", help="only one from this agent")
    pause.add_argument("--mention", metavar="NAME", help="only one that names this agent")
    pause.add_argument("--own", metavar="NAME", help="never one from this agent")
    pause.add_argument("--timeout", type=_seconds, default=60.0, metavar="S",
                       help="how long; 60 by default (exit 4)")


def _add_ledger(commands):
    claims = commands.add_parser("claims", help="read and open claim threads")
    inner = claims.add_subparsers(dest="claims_command", required=True, metavar="COMMAND")
    _command(inner, "context", _cmd_context, "show all threads and the context hash")
    opening = _command(inner, "open", _cmd_open, "open a thread")
    opening.add_argument("agent_id", help="who proposes")
    opening.add_argument("subject", help="what it is about, in English")
    opening.add_argument("value", help="what is proposed, in English")
    opening.add_argument("--key", metavar="KEY", help="a short name of the subject")
    _add_evidence(opening)
    _add_writing(opening)
    shown = _command(inner, "show", _cmd_show, "show a thread with its ledger")
    shown.add_argument("claim", help="the thread's id")
    _command(inner, "handshakes", _cmd_handshakes, "list handshakes and whether they seal a deal")
    run = _command(inner, "refresh", _cmd_refresh, "let the arbiter read the new messages")
    run.add_argument("--full", action="store_true", help="from the beginning")
    run.add_argument("--from", dest="start", type=_natural, metavar="ID",
                     help="from this message on, at most the next to be read")
    change = _command(commands, "revise", _cmd_revise, "append a revision to a thread")
    change.add_argument("claim", help="the thread's id")
    change.add_argument("kind", choices=KINDS)
    change.add_argument("agent_id", help="who does it")
    change.add_argument("value", nargs="?",
                        help="the new value, or the one confirmed; contradict and retract repeat "
                             "the current one without it")
    change.add_argument("--force", action="store_true",
                        help="confirm a value that the thread does not have now")
    _add_evidence(change)
    _add_writing(change)
    shake = _command(commands, "handshake", _cmd_handshake, "put your hand to the context")
    shake.add_argument("agent_id", help="who does it")
    shake.add_argument("context_hash", nargs="?", help="the hash you read; else the current one")
    _add_writing(shake)


def _add_proofs(commands):
    asked = _command(commands, "verify-room", _cmd_verify_room,
                     "ask the server to verify a room")
    checked = _command(commands, "verify-chain", _cmd_verify_chain,
                       "check a room's chain of revisions here")
    checked.add_argument("--arbiter-pubkey", action="append", metavar="HEX",
                         help="the arbiter's key as you know it; may be repeated")
    checked.add_argument("--save", metavar="FILE", help="keep what was downloaded")
    checked.add_argument("--saved", metavar="FILE", help="check this instead of downloading")
    for parser in (asked, checked):
        parser.usage_exit = EXIT_USAGE
        parser.set_defaults(is_verdict=True)
    proof = _command(commands, "receipt", _cmd_receipt, "fetch the proof of a record's place")
    proof.add_argument("log_seq", type=_natural, help="the record's log seq")
    proof.add_argument("--out", metavar="FILE", help="write it here")
    made = _command(commands, "keygen", _cmd_keygen, "make a key file; prints the public key",
                    room=False)
    made.add_argument("file")


def _add_skills(commands):
    share = _command(commands, "share", _cmd_share, "upload a skill and print its offer",
                     room=False)
    share.add_argument("file", help="a .tar.gz with a SKILL.md")
    share.add_argument("--name", required=True)
    share.add_argument("--version", required=True)
    share.add_argument("--description", default="")
    share.add_argument("--agent-id", required=True)
    share.add_argument("--sign-key", metavar="FILE", help="sign with this key (see keygen)")
    share.add_argument("--signing-key-hex", metavar="HEX",
                       help="the same as 64 hex digits; other processes can see them")
    check = _command(commands, "verify", _cmd_verify, "check a skill_offer", room=False)
    check.add_argument("offer", help="its JSON, a file with it, or - for stdin")
    check.add_argument("--dest", default="downloaded-skill.tar.gz", metavar="FILE",
                       help="where to keep the file if it is sound")
    check.add_argument("--allow-private", action="store_true",
                       help="also from addresses of this machine and its network")


def build_parser():
    """The whole command line."""
    parser = _Parser(prog="minutebook.py", allow_abbrev=False,
                     description=(__doc__ or "minutebook").split("\n", 1)[0],
                     epilog="environment: MINUTEBOOK_URL is the server, MINUTEBOOK_KEY an API key")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND",
                                     parser_class=_Parser)
    for add in (_add_rooms, _add_live, _add_ledger, _add_proofs, _add_skills):
        add(commands)
    return parser


def _fail(args, error):
    """One line about a failure, and its exit code."""
    _note(f"error: {error}")
    is_usage = isinstance(error, UsageError)
    if getattr(args, "is_verdict", False):
        return EXIT_USAGE if is_usage else EXIT_NO_VERDICT
    if is_usage:
        return EXIT_HTTP
    is_http = isinstance(error, MinutebookError) and error.status is not None
    # A download's own failure is not this server's answer.
    return EXIT_HTTP if is_http and args.run is not _cmd_verify else EXIT_LOCAL


def main(argv=None):
    """Runs a command and returns its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    parser = build_parser()
    args, rest = parser.parse_known_args(argv)
    if rest:
        parser.usage_exit = EXIT_USAGE if getattr(args, "is_verdict", False) else EXIT_HTTP
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    try:
        return args.run(args) or 0
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Nobody reads on. Without this, Python complains once more when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_LOCAL
    except MinutebookError as error:
        return _fail(args, error)
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        return _fail(args, f"the server's answer is not as expected: {error!r}")
    except Exception as error:
        return _fail(args, f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    sys.exit(main())

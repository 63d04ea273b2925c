"""Verifies a Minutebook bundle. Written from FORMAT.md alone; needs Python 3 and nothing else.

    python3 check.py BUNDLE VKEY

Checks rules 1 to 11 of FORMAT.md, "What a verifier checks"; not anchors, quorums and whether
the rules of the domain allowed each record. Exit code 0: nothing found; 1: something found.
"""

import base64
import datetime
import hashlib
import json
import re
import struct
import sys

# BLAKE3, plain hash mode -------------------------------------------------------------------------

IV = (0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A,
      0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19)
ORDER = (2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8)
LANES = ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
         (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14))
CHUNK_START, CHUNK_END, PARENT, ROOT = 1, 2, 4, 8
WORD = 0xFFFFFFFF


def compress(chain, block, counter, flags):
    """The eight words of the new chaining value."""
    words = list(struct.unpack("<16I", block.ljust(64, b"\0")))
    s = [*chain, *IV[:4], counter & WORD, counter >> 32, len(block), flags]
    for round_number in range(7):
        for lane, (a, b, c, d) in enumerate(LANES):
            for word, right, left in ((words[2 * lane], 16, 12), (words[2 * lane + 1], 8, 7)):
                s[a] = (s[a] + s[b] + word) & WORD
                s[d] ^= s[a]
                s[d] = (s[d] >> right | s[d] << (32 - right)) & WORD
                s[c] = (s[c] + s[d]) & WORD
                s[b] ^= s[c]
                s[b] = (s[b] >> left | s[b] << (32 - left)) & WORD
        words = [words[i] for i in ORDER]
    return [s[i] ^ s[i + 8] for i in range(8)]


def blake3_node(data, first_chunk, root):
    """The chaining value over one subtree."""
    if len(data) <= 1024:
        blocks = [data[i:i + 64] for i in range(0, len(data), 64)] or [b""]
        chain = IV
        for i, block in enumerate(blocks):
            last = i == len(blocks) - 1
            flags = (CHUNK_START * (i == 0)) | (CHUNK_END | root if last else 0)
            chain = compress(chain, block, first_chunk, flags)
        return chain
    chunks = (len(data) + 1023) // 1024
    left = 1 << ((chunks - 1).bit_length() - 1)
    pair = (blake3_node(data[:left * 1024], first_chunk, 0)
            + blake3_node(data[left * 1024:], first_chunk + left, 0))
    return compress(IV, struct.pack("<16I", *pair), 0, PARENT | root)


def blake3(data):
    return struct.pack("<8I", *blake3_node(data, 0, ROOT))


# Ed25519 (RFC 8032), strict ----------------------------------------------------------------------

P = 2**255 - 19
Q = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P


def decode_point(data):
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & (2**255 - 1)
    if y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    if (x * x - square) % P or (x == 0 and sign):
        return None
    if x & 1 != sign:
        x = P - x
    return (x, y, 1, x * y % P)


def add(p, q):
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % P, (p[1] + p[0]) * (q[1] + q[0]) % P
    c, d = 2 * p[3] * q[3] * D % P, 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def times(k, p):
    total = (0, 1, 1, 0)
    while k:
        if k & 1:
            total = add(total, p)
        p, k = add(p, p), k >> 1
    return total


def same(p, q):
    return (p[0] * q[2] - q[0] * p[2]) % P == 0 and (p[1] * q[2] - q[1] * p[2]) % P == 0


BASE = decode_point((4 * pow(5, -1, P) % P).to_bytes(32, "little"))
NEUTRAL = (0, 1, 1, 0)


def ed25519_verifies(key, message, signature):
    if len(key) != 32 or len(signature) != 64:
        return False
    a, r = decode_point(key), decode_point(signature[:32])
    s = int.from_bytes(signature[32:], "little")
    if a is None or r is None or s >= Q:
        return False
    if same(times(8, a), NEUTRAL) or same(times(8, r), NEUTRAL):
        return False
    k = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % Q
    return same(times(s, BASE), add(r, times(k, a)))


# C2SP --------------------------------------------------------------------------------------------

class Refuted(Exception):
    """What a bundle is refuted by."""


def need(condition, finding):
    if not condition:
        raise Refuted(finding)


def from_base64(text):
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError:
        raise Refuted("not base64") from None
    need(base64.b64encode(data).decode() == text, "base64 with other trailing bits")
    return data


def decimal(text):
    need(re.fullmatch("0|[1-9][0-9]{0,18}", text) and int(text) < 2**63, "not a decimal")
    return int(text)


def parse_vkey(vkey):
    name, key_id, key = vkey.split("+", 2) if vkey.count("+") >= 2 else ("", "", "")
    key = from_base64(key)
    need(key[:1] == b"\x01" and len(key) == 33, "not an Ed25519 vkey")
    need(name and not re.search(r"[\s\x00-\x1f\x7f-\x9f+]", name), "not a key name")
    expected = hashlib.sha256(name.encode() + b"\n" + key).digest()[:4]
    need(key_id == expected.hex(), "the vkey's id is wrong")
    return name, expected, key[1:]


def open_checkpoint(note, vkey):
    """Size and root of a checkpoint that this key signed."""
    name, key_id, key = parse_vkey(vkey)
    need(not re.search(r"[\x00-\x09\x0b-\x1f]", note), "a control character in a note")
    text, separator, lines = note.rpartition("\n\n")
    need(separator and lines.endswith("\n"), "not a note")
    text += "\n"
    signed = False
    for line in lines[:-1].split("\n"):
        match = re.fullmatch("— ([^ ]+) ([^ ]+)", line)
        need(match, "a malformed signature line")
        blob = from_base64(match[2])
        if match[1] == name and blob[:4] == key_id:
            need(ed25519_verifies(key, text.encode(), blob[4:]), "a signature does not verify")
            signed = True
    need(signed, "the key in force did not sign the checkpoint")
    origin, size, root, *extensions = text[:-1].split("\n")
    need(origin == name, "a checkpoint of another log")
    need(all(extensions), "an empty extension line")
    root = from_base64(root)
    need(len(root) == 32, "a root that is not 32 bytes")
    return decimal(size), root


# The tree (RFC 6962) -----------------------------------------------------------------------------

def leaf_hash(data):
    return hashlib.sha256(b"\0" + data).digest()


def node_hash(left, right):
    return hashlib.sha256(b"\1" + left + right).digest()


def push(stack, leaf):
    """Adds a leaf to a list of (leaves, root) of complete subtrees, largest first."""
    stack.append((1, leaf))
    while len(stack) > 1 and stack[-1][0] == stack[-2][0]:
        (n, right), (_, left) = stack.pop(), stack.pop()
        stack.append((2 * n, node_hash(left, right)))


def tree_root(stack):
    if not stack:
        return hashlib.sha256().digest()
    root = stack[-1][1]
    for _, left in reversed(stack[:-1]):
        root = node_hash(left, root)
    return root


def inclusion_root(index, size, leaf, path):
    """Walks the tree of this size down to the leaf, then the proof up from it."""
    sides, low, high = [], 0, size
    while high - low > 1:
        middle = low + (1 << ((high - low - 1).bit_length() - 1))
        sides.append(index >= middle)
        low, high = (middle, high) if index >= middle else (low, middle)
    need(index < size and len(sides) == len(path), "a proof of the wrong length")
    for is_right, sibling in zip(reversed(sides), path):
        leaf = node_hash(sibling, leaf) if is_right else node_hash(leaf, sibling)
    return leaf


# Canonical JSON ----------------------------------------------------------------------------------

def canonical(text, keys):
    """An object in its one spelling, with some of these keys in this order."""
    def once(pairs):
        need(len({key for key, _ in pairs}) == len(pairs), "a key twice")
        return dict(pairs)

    try:
        value = json.loads(text, object_pairs_hook=once)
    except (ValueError, RecursionError):
        raise Refuted("not JSON") from None
    need(isinstance(value, dict), "not an object")
    need(list(value) == [key for key in keys if key in value], "other keys, or in other order")
    again = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    need(again == text, "not the canonical spelling")
    return value


def is_position(value, least=1):
    return type(value) is int and least <= value < 2**53


HEX = re.compile("[0-9a-f]{64}")
ENVELOPE_KEYS = ("actor", "at", "body", "cause", "cmd", "prev", "seq", "sprev", "sseq",
                 "stream", "type", "v")
TEXT_BYTES_MAX = {"actor": 512, "cmd": 512, "stream": 200, "type": 64}
AT = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)\.(\d{6})Z", re.ASCII)


def parse_envelope(text):
    need(len(text.encode()) <= 8192, "an envelope that is too long")
    e = canonical(text, ENVELOPE_KEYS)
    need(len(e) == len(ENVELOPE_KEYS), "an envelope without all keys")
    for key, most in TEXT_BYTES_MAX.items():
        need(isinstance(e[key], str) and 1 <= len(e[key].encode()) <= most, f"{key} out of bounds")
    for key in ("body", "prev", "sprev"):
        need(isinstance(e[key], str) and HEX.fullmatch(e[key]), f"{key} is not a hash")
    need(is_position(e["seq"]) and is_position(e["sseq"]), "not a position")
    need(e["cause"] is None or is_position(e["cause"]) and e["cause"] < e["seq"], "a bad cause")
    need(is_position(e["v"]) and e["v"] < 2**32, "a bad version")
    match = isinstance(e["at"], str) and AT.fullmatch(e["at"])
    need(match and "1970" <= e["at"] <= "9999-12-30T21:59:59.999999Z", "a bad time")
    try:
        datetime.datetime(*(int(part) for part in match.groups()))
    except ValueError:
        raise Refuted("a time that does not exist") from None
    return e


# Bundles -----------------------------------------------------------------------------------------

LINE_KEYS = ("manifest", "envelope", "salt", "body", "checkpoint", "receipt")
LINE_FORMS = (["manifest"], ["envelope"], ["envelope", "salt", "body"], ["checkpoint"], ["receipt"])
MANIFEST_KEYS = ("format", "kind", "origin", "first", "last", "records", "checkpoints", "room")


class Record:
    def __init__(self, line):
        self.bytes = line["envelope"].encode()
        self.envelope = parse_envelope(line["envelope"])
        self.chain_hash = blake3(self.bytes).hex()
        self.body = None
        if "body" in line:
            need(HEX.fullmatch(line["salt"]), "a salt that is not hex")
            body = line["body"].encode()
            need(len(body) <= 491520, "a body that is too long")
            commitment = blake3(bytes.fromhex(line["salt"]) + body).hex()
            need(commitment == self.envelope["body"], "a body that is not the one committed to")
            self.body = line["body"]


def read_lines(data):
    need(data.endswith(b"\n"), "the file was cut in a line")
    lines = []
    for number, line in enumerate(data[:-1].split(b"\n"), 1):
        try:
            need(len(line) <= 1048576, "a line that is too long")
            line = canonical(line.decode(), LINE_KEYS)
            need(list(line) in LINE_FORMS, "a line of no known form")
            need(list(line) == ["manifest"] or all(isinstance(v, str) for v in line.values()),
                 "a line that does not hold strings")
            lines.append(Record(line) if "envelope" in line else line)
        except UnicodeError:
            raise Refuted(f"line {number}: not UTF-8") from None
        except Refuted as finding:
            raise Refuted(f"line {number}: {finding}") from None
    return lines


class Verifier:
    def __init__(self, vkey):
        self.vkeys = [vkey]
        self.origin = parse_vkey(vkey)[0]
        self.streams, self.at, self.missing, self.erased = {}, "", [], []

    def stream(self, record):
        """The record continues its stream."""
        e = record.envelope
        seq = e["seq"]
        sseq, sprev = self.streams.get(e["stream"], (0, "0" * 64))
        need(e["sseq"] == sseq + 1, f"record {seq}: a gap in its stream")
        need(e["sprev"] == sprev, f"record {seq}: sprev is another record's hash")
        self.streams[e["stream"]] = (e["sseq"], record.chain_hash)

    def time(self, record):
        need(record.envelope["at"] >= self.at, f"record {record.envelope['seq']}: time runs back")
        self.at = record.envelope["at"]

    def epoch(self, record):
        """A record of stream `log` begins a key epoch."""
        e = record.envelope
        need(record.body is not None, f"record {e['seq']}: bodies of the log are never erased")
        if e["seq"] == 1:
            found = (e["stream"], e["type"], e["v"], e["actor"])
            need(found == ("log", "log.opened", 1, "arbiter"), "record 1 is not log.opened")
            body = canonical(record.body, ("origin", "vkey"))
            need(body == {"origin": self.origin, "vkey": self.vkeys[0]},
                 "the log was opened with another origin or key")
            return
        need((e["type"], e["v"]) == ("log.key_rotated", 1), f"record {e['seq']}: not a rotation")
        body = canonical(record.body, ("cert", "epoch", "prev_vkey", "vkey"))
        need(body["epoch"] == len(self.vkeys) + 1, "an epoch out of order")
        need(body["prev_vkey"] == self.vkeys[-1], "a rotation from another key")
        need(body["vkey"] not in self.vkeys, "a rotation to an old key")
        name, _, _ = parse_vkey(body["vkey"])
        need(name == self.origin, "a key with another name")
        text = f"minutebook key epoch v1\n{self.origin}\n{body['epoch']}\n{body['vkey']}\n"
        need(re.fullmatch("[0-9a-f]{128}", body["cert"]), "a certificate that is not hex")
        key = parse_vkey(self.vkeys[-1])[2]
        need(ed25519_verifies(key, text.encode(), bytes.fromhex(body["cert"])),
             "a key that was not certified by the one before")
        self.vkeys.append(body["vkey"])

    def erasures(self, record):
        e = record.envelope
        if record.body is None:
            self.missing.append(e)
        elif re.match("owner$|key:|service:", e["actor"]):
            if e["type"] == "room.erased":
                self.erased.append((e["stream"], 1, e["sseq"] - 1, None))
            elif e["type"] == "room.bodies_erased":
                body = canonical(record.body, ("first", "last", "reason"))
                need(all(is_position(body.get(key)) for key in ("first", "last")), "a bad range")
                last = min(body["last"], e["sseq"] - 1)
                self.erased.append((e["stream"], body["first"], last, "room.message_posted"))

    def check_missing(self):
        for e in self.missing:
            covers = (stream == e["stream"] and first <= e["sseq"] <= last
                      and kind in (None, e["type"]) for stream, first, last, kind in self.erased)
            need(any(covers), f"record {e['seq']}: its body is missing, without authority")

    def log(self, manifest, lines):
        prev, last, tree, signed = "0" * 64, None, [], 0
        need(manifest["first"] == 1, "a bundle that continues another")
        seq, commands, previous = 0, set(), None
        for line in lines:
            if not isinstance(line, Record):
                need("checkpoint" in line, "a line that log bundles do not have")
                size, root = open_checkpoint(line["checkpoint"], self.vkeys[-1])
                need(size == seq, f"a checkpoint of size {size} after record {seq}")
                need(root == tree_root(tree), f"checkpoint {size}: another root")
                signed = size
                continue
            e, seq = line.envelope, seq + 1
            need(e["seq"] == seq, f"record {seq}: it has seq {e['seq']}")
            need(e["prev"] == prev, f"record {seq}: prev is another record's hash")
            need(last != "log.key_rotated" or signed == seq - 1, "no checkpoint after a rotation")
            self.stream(line)
            self.time(line)
            if e["stream"] == "log" or seq == 1:
                need(seq == 1 or signed == seq - 1, "no checkpoint before a rotation")
                self.epoch(line)
            if (e["actor"], e["cmd"]) != previous or last == "room.opened":
                scope = "rooms" if e["type"] == "room.opened" else e["stream"]
                command = (e["actor"], scope, e["cmd"])
                need(command not in commands, f"record {seq}: a command that was taken before")
                commands.add(command)
                previous = (e["actor"], e["cmd"])
            self.erasures(line)
            push(tree, leaf_hash(line.bytes))
            prev, last = line.chain_hash, e["type"]
        need(manifest["last"] == seq == signed, "the last checkpoint does not cover all records")

    def room(self, manifest, lines):
        note = lines[-1].get("checkpoint") if isinstance(lines[-1], dict) else None
        need(note and note.count("\n") >= 3, "the last line is not a checkpoint")
        size, root = decimal(note.split("\n")[1]), from_base64(note.split("\n")[2])
        stream, before, group = "room/" + manifest["room"], None, "log"
        for line in lines[:-1]:
            if not isinstance(line, Record):
                need("receipt" in line and before, "a line out of place")
                self.receipt(line["receipt"], before, note, size, root)
                before = None
                continue
            e = line.envelope
            if e["stream"] == "log":
                need(group == "log" and before is None, "a record of the log out of place")
                self.epoch(line)
            else:
                need(e["stream"] == stream, f"record {e['seq']}: of another room")
                need(before is None or group == stream, "a record without a receipt")
                if group == "log":
                    group, self.at = stream, ""
                elif before.envelope["seq"] + 1 == e["seq"]:
                    need(e["prev"] == before.chain_hash, "prev is another record's hash")
                need(before is None or before.envelope["seq"] < e["seq"], "seq does not rise")
            self.stream(line)
            self.time(line)
            self.erasures(line)
            before = line
        need(before is None and group == stream, "no receipt of the last record")
        need(self.streams[stream][0] == manifest["last"] and manifest["first"] == 1, "a cut room")
        need(open_checkpoint(note, self.vkeys[-1]) == (size, root), "the checkpoint")

    @staticmethod
    def receipt(text, record, note, size, root):
        head, _, checkpoint = text.partition("\n\n")
        need(checkpoint == note, "a receipt against another checkpoint")
        first, index, *path = [*head.split("\n"), ""]
        path = path[:-1]
        need(first == "c2sp.org/tlog-proof@v1" and index.startswith("index "), "not a receipt")
        index = decimal(index[len("index "):])
        need(index + 1 == record.envelope["seq"], "a receipt of another record")
        found = inclusion_root(index, size, leaf_hash(record.bytes), [from_base64(h) for h in path])
        need(found == root, f"record {index + 1}: its receipt does not hold")


def verify(data, vkey):
    manifest, *lines = read_lines(data)
    need(isinstance(manifest, dict) and "manifest" in manifest, "not a bundle")
    manifest = manifest["manifest"]
    need(isinstance(manifest, dict), "a manifest that is not an object")
    keys = MANIFEST_KEYS if manifest.get("kind") == "room" else MANIFEST_KEYS[:-1]
    need(list(manifest) == list(keys), "a manifest with other keys")
    need(manifest["format"] == "minutebook-bundle/1", "another format")
    need(all(is_position(manifest[key], 0) for key in keys[3:7]), "a manifest without numbers")
    records = [line for line in lines if isinstance(line, Record)]
    checkpoints = [line for line in lines if isinstance(line, dict) and "checkpoint" in line]
    need(not any(isinstance(line, dict) and "manifest" in line for line in lines), "two manifests")
    need(len(records) == manifest["records"], "records are missing or too many")
    need(len(checkpoints) == manifest["checkpoints"], "checkpoints are missing or too many")
    need(records, "an empty log proves nothing")
    verifier = Verifier(vkey)
    need(manifest["origin"] == verifier.origin, "a bundle of another log")
    if manifest["kind"] == "room":
        verifier.room(manifest, lines)
    else:
        need(manifest["kind"] == "log", "a bundle of no known kind")
        verifier.log(manifest, lines)
    verifier.check_missing()
    return len(records)


def main():
    if len(sys.argv) != 3:
        print(__doc__)
        return 64
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    try:
        count = verify(data, sys.argv[2])
    except Refuted as finding:
        print(f"REFUTED: {finding}")
        return 1
    print(f"nothing found in {count} records; without an anchor, a cut end, a rollback, a rewrite "
          "by the key's holder and a fork cannot be excluded")
    return 0


if __name__ == "__main__":
    sys.exit(main())

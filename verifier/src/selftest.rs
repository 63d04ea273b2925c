//! The program against published vectors, embedded in it: an auditor need not trust that its
//! hashes, trees, notes, signatures and rules are what their names say.

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use minutebook_domain::{Event, EventKind};
use minutebook_eventlog::format::{
    envelope::Envelope,
    hash::{Hash, body_commitment, chain_hash, leaf_hash},
    key::{Algorithm, KeyError, VerifyingKey},
    policy::Policy as Witnessing,
    proof::TlogProof,
    tree::{Frontier, verify_consistency, verify_inclusion},
};

use crate::{
    options::Options,
    policy::Policy,
    report::{Report, Verdict},
    verify,
};

/// One vector.
#[derive(Clone, Copy)]
pub struct Vector {
    /// What it is, and where it is published.
    pub name: &'static str,
    check: fn() -> Option<()>,
}

impl std::fmt::Debug for Vector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl Vector {
    /// Whether this program agrees with it.
    pub fn holds(&self) -> bool {
        (self.check)().is_some()
    }

    /// All of them.
    pub const ALL: &'static [Self] = &[
        vector(
            "BLAKE3: hashes of 0, 1, 1024 and 1025 bytes (BLAKE3 test vectors)",
            blake3_hashes,
        ),
        vector("Ed25519: signatures of RFC 8032, tests 1 and 2", ed25519),
        vector(
            "Ed25519: a changed signature and a weak key are refused",
            ed25519_refusals,
        ),
        vector(
            "RFC 6962: roots of the reference trees of 0, 1, 6, 7 and 8 leaves",
            roots,
        ),
        vector("RFC 6962: inclusion of leaf 6 in 7", inclusion),
        vector(
            "RFC 6962: consistency 6 to 8 and 3 to 7, and not 5 to 8",
            consistency,
        ),
        vector(
            "C2SP: signed note, checkpoint, cosignature/v1, tlog-policy, tlog-proof",
            tlog_proof,
        ),
        vector(
            "envelope: golden bytes, chain hash, leaf hash, body commitment",
            envelope,
        ),
        vector(
            "rules: golden bodies decode and encode to the same bytes",
            bodies,
        ),
        vector("golden log and room bundles are CLEAN", golden_clean),
        vector(
            "golden log with one changed byte is REFUTED",
            golden_changed,
        ),
    ];
}

const fn vector(name: &'static str, check: fn() -> Option<()>) -> Vector {
    Vector { name, check }
}

fn holds(condition: bool) -> Option<()> {
    condition.then_some(())
}

fn bytes<const N: usize>(hex_text: &str) -> Option<[u8; N]> {
    let mut out = [0; N];
    hex::decode_to_slice(hex_text.trim(), &mut out).ok()?;
    Some(out)
}

fn hex_hash(text: &str) -> Option<Hash> {
    Hash::parse_hex(text.trim().as_bytes()).ok()
}

fn base64_hash(text: &str) -> Option<Hash> {
    Hash::from_slice(&BASE64.decode(text).ok()?)
}

/// BLAKE3 of the bytes 0, 1, … 250, 0, 1 … to this length.
fn blake3_hashes() -> Option<()> {
    for (len, hash) in [
        (
            0,
            "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262",
        ),
        (
            1,
            "2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213",
        ),
        (
            1024,
            "42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af7",
        ),
        (
            1025,
            "d00278ae47eb27b34faecf67b4fe263f82d5412916c1ffd97c8cb7fb814b8444",
        ),
    ] {
        let input: Vec<u8> = (0..251).cycle().take(len).collect();
        holds(chain_hash(&input) == hex_hash(hash)?)?;
    }
    Some(())
}

fn rfc8032(key: &str) -> Option<VerifyingKey> {
    VerifyingKey::new("rfc8032", Algorithm::Ed25519, &bytes(key)?).ok()
}

const KEY_1: &str = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
const SIGNATURE_1: &str = "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb88215\
                           90a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b";
const KEY_2: &str = "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c";
const SIGNATURE_2: &str = "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e4\
                           3e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00";

fn ed25519() -> Option<()> {
    holds(rfc8032(KEY_1)?.verifies(b"", &bytes(SIGNATURE_1)?))?;
    holds(rfc8032(KEY_2)?.verifies(&[0x72], &bytes(SIGNATURE_2)?))
}

fn ed25519_refusals() -> Option<()> {
    holds(!rfc8032(KEY_1)?.verifies(b"x", &bytes(SIGNATURE_1)?))?;
    holds(!rfc8032(KEY_2)?.verifies(b"", &bytes(SIGNATURE_1)?))?;
    let mut weak = [0; 32];
    if let Some(first) = weak.first_mut() {
        *first = 1;
    }
    let weak = VerifyingKey::new("weak", Algorithm::Ed25519, &weak);
    holds(weak == Err(KeyError::Weak))
}

/// The reference leaves of Certificate Transparency.
const LEAVES: [&[u8]; 8] = [
    b"",
    b"\x00",
    b"\x10",
    b"\x20\x21",
    b"\x30\x31",
    b"\x40\x41\x42\x43",
    b"\x50\x51\x52\x53\x54\x55\x56\x57",
    b"\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f",
];

fn root(size: usize) -> Hash {
    let mut frontier = Frontier::new();
    for leaf in LEAVES.iter().take(size) {
        frontier.push(leaf_hash(leaf));
    }
    frontier.root()
}

fn roots() -> Option<()> {
    for (size, hash) in [
        (
            0,
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        ),
        (
            1,
            "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        ),
        (
            6,
            "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
        ),
        (
            7,
            "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
        ),
        (
            8,
            "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
        ),
    ] {
        holds(root(size) == hex_hash(hash)?)?;
    }
    Some(())
}

fn base64_hashes(hashes: &[&str]) -> Option<Vec<Hash>> {
    hashes.iter().map(|hash| base64_hash(hash)).collect()
}

const SIX_TO_EIGHT: [&str; 3] = [
    "DrxdNDf74tsVi58Sah0RjjCBgQMdCpSfje3t68VY72o=",
    "yoVOoSjtBQtBs1/8G4e46yveRh6eO1WW7Oa51ZdaCuA=",
    "037kGJdt2VdTwcc4Yrk5j6Kiz5tP8P3+izDNlSCWFLc=",
];
const THREE_TO_SEVEN: [&str; 4] = [
    "ApjRIpBtz8EIkstTpzmS/FufST6kybrbJ7eRtBJ6f+c=",
    "B1Bqhf2d0vEg62lPhgEeW7RmLlxBWmKRcDPUqWJEh+c=",
    "+sVCA+fMaWzw38tCySodnbr3CtnmIfS9jZhmLwDjwSU=",
    "g327FS6bB5AQcX6E6GXaTrwPoZioBtWdMb8VrM7yLQ4=",
];

fn inclusion() -> Option<()> {
    let proof = base64_hashes(&[
        "DrxdNDf74tsVi58Sah0RjjCBgQMdCpSfje3t68VY72o=",
        "037kGJdt2VdTwcc4Yrk5j6Kiz5tP8P3+izDNlSCWFLc=",
    ])?;
    // In a tree of 7 the last leaf's path is the two subtrees on its left.
    let leaf = leaf_hash(LEAVES.get(6)?);
    verify_inclusion(6, 7, &leaf, &proof, &root(7)).ok()
}

fn consistency() -> Option<()> {
    let proof = base64_hashes(&SIX_TO_EIGHT)?;
    verify_consistency(6, 8, &proof, &root(6), &root(8)).ok()?;
    holds(verify_consistency(5, 8, &proof, &root(5), &root(8)).is_err())?;
    let proof = base64_hashes(&THREE_TO_SEVEN)?;
    verify_consistency(3, 7, &proof, &root(3), &root(7)).ok()
}

fn tlog_proof() -> Option<()> {
    let log = include_str!("../../eventlog/vectors/c2sp/log.vkey").trim();
    let witness = include_str!("../../eventlog/vectors/c2sp/witness.vkey").trim();
    let text = include_str!("../../eventlog/vectors/c2sp/leaf-5-of-8.tlog-proof");
    let policy = format!("log {log}\nwitness w {witness}\nquorum w\n");
    let policy = Witnessing::parse(policy.as_bytes()).ok()?;
    let leaf = leaf_hash(LEAVES.get(5)?);
    let proof = TlogProof::parse(text).ok()?;
    let opened = proof.verify_under(&leaf, &policy).ok()?;
    holds(
        opened
            .signers
            .iter()
            .any(|signer| signer.time == Some(1_764_547_200)),
    )?;
    let other = leaf_hash(LEAVES.get(4)?);
    holds(proof.verify_under(&other, &policy).is_err())
}

fn envelope() -> Option<()> {
    let golden = include_bytes!("../../eventlog/vectors/log/envelope-4.json");
    let envelope = Envelope::parse(golden).ok()?;
    let mut encoded = Vec::new();
    envelope.encode(&mut encoded);
    holds(encoded == golden)?;
    let chain = include_str!("../../eventlog/vectors/log/chain-hash-4");
    holds(chain_hash(golden) == hex_hash(chain)?)?;
    let leaf = include_str!("../../eventlog/vectors/log/leaf-hash-4");
    holds(leaf_hash(golden) == hex_hash(leaf)?)?;
    let salt = bytes(include_str!("../../eventlog/vectors/log/salt-4"))?;
    let body = include_bytes!("../../eventlog/vectors/log/body-4.json");
    holds(body_commitment(&salt, body) == envelope.body)
}

fn bodies() -> Option<()> {
    for (kind, golden) in [
        (
            EventKind::MessagePosted,
            &include_bytes!("../../domain/vectors/room.message_posted.v1.json")[..],
        ),
        (
            EventKind::RoomOpened,
            include_bytes!("../../domain/vectors/room.opened.v1.json"),
        ),
        (
            EventKind::ClaimRevised,
            include_bytes!("../../domain/vectors/room.claim_revised.v1.json"),
        ),
        (
            EventKind::KeyRotated,
            include_bytes!("../../domain/vectors/log.key_rotated.v1.json"),
        ),
        (
            EventKind::ApiKeyIssued,
            include_bytes!("../../domain/vectors/keys.api_key_issued.v1.json"),
        ),
    ] {
        let event = Event::decode(kind, golden.trim_ascii_end()).ok()?;
        let mut encoded = Vec::new();
        event.encode_body(&mut encoded);
        holds(encoded == golden.trim_ascii_end())?;
    }
    Some(())
}

fn golden(bundle: &[u8]) -> Option<Report> {
    let key = include_str!("../../eventlog/vectors/log/vkey-1");
    let policy = Policy::of_key(key).ok()?;
    let outcome = verify(bundle, &policy, Options::default()).ok()?;
    Some(outcome.report)
}

const GOLDEN_LOG: &[u8] = include_bytes!("../../eventlog/vectors/log/log.ndjson");
const GOLDEN_ROOM: &[u8] = include_bytes!("../../eventlog/vectors/log/room.ndjson");

fn golden_clean() -> Option<()> {
    holds(golden(GOLDEN_LOG)?.verdict == Verdict::Clean)?;
    holds(golden(GOLDEN_ROOM)?.verdict == Verdict::Clean)
}

fn golden_changed() -> Option<()> {
    let mut changed = GOLDEN_LOG.to_vec();
    let place = changed.len() / 2;
    *changed.get_mut(place)? ^= 1;
    holds(golden(&changed)?.verdict == Verdict::Refuted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_vector_holds() {
        let failing: Vec<_> = Vector::ALL
            .iter()
            .filter(|vector| !vector.holds())
            .collect();
        assert!(failing.is_empty(), "{failing:?}");
    }
}

//! Sharing skills: uploads, manifests, bytes, and what is refused in which order.

use std::io::Write as _;

use ed25519_dalek::{Signer as _, SigningKey};
use flate2::{Compression, write::GzEncoder};
use minutebook_tests::http::Answer;
use sha2::{Digest as _, Sha256};

use super::here::{Here, detail, redact};

/// A part's name and what it holds.
pub(super) type Part<'a> = (&'a str, &'a [u8]);

pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A bundle of these files.
pub(super) fn bundle(files: &[(&str, &[u8])]) -> Vec<u8> {
    gzip(&bundle_tar(files))
}

fn bundle_tar(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    for (path, bytes) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        tar.append_data(&mut header, path, *bytes).unwrap();
    }
    tar.into_inner().unwrap()
}

/// A bundle like no other.
pub(super) fn skill(text: &str) -> Vec<u8> {
    bundle(&[("skill/SKILL.md", text.as_bytes())])
}

pub(super) fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// A form as clients send it.
pub(super) fn form(boundary: &str, parts: &[Part<'_>]) -> Vec<u8> {
    let mut body = Vec::new();
    for (name, value) in parts {
        let file = if *name == "file" {
            "; filename=\"x.tar.gz\""
        } else {
            ""
        };
        let head = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n\r\n"
        );
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(value);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    body
}

pub(super) fn send(
    here: &Here,
    headers: &[(&str, &str)],
    boundary: &str,
    parts: &[Part<'_>],
) -> Answer {
    let kind = format!("multipart/form-data; boundary={boundary}");
    let mut all = vec![("content-type", kind.as_str())];
    all.extend_from_slice(headers);
    let body = form(boundary, parts);
    here.connect()
        .send("POST", "/api/skills", &all, Some(&body))
        .unwrap()
}

/// The fields that must be there.
pub(super) fn fields(file: &[u8]) -> Vec<Part<'_>> {
    vec![
        ("file", file),
        ("name", "boltbook query/é".as_bytes()),
        ("version", b"0.3 beta"),
        ("agent_id", b"me"),
    ]
}

/// An upload of these fields and others.
fn upload_with(here: &Here, file: &[u8], more: &[Part<'_>]) -> Answer {
    let parts = [fields(file), more.to_vec()].concat();
    send(here, &[], "xYzZy", &parts)
}

pub(super) fn upload(here: &Here, file: &[u8]) -> Answer {
    upload_with(here, file, &[])
}

pub(super) fn id(answer: &Answer) -> String {
    assert_eq!(answer.status, 201, "{}", answer.text());
    answer.json()["id"].as_str().unwrap().to_owned()
}

pub(super) fn refused(answer: &Answer) -> (u16, String) {
    (answer.status, detail(answer))
}

pub(super) fn bad(text: &str) -> (u16, String) {
    (400, text.to_owned())
}

#[test]
fn a_skill_is_uploaded_shown_and_fetched_as_the_peer_does() {
    let here = Here::start();
    let (addr, file) = (here.addr(), skill("shown"));
    let (sha256, size) = (sha256(&file), file.len());
    let uploaded = upload_with(&here, &file, &[("description", b"d")]);
    assert_eq!(uploaded.status, 201);
    assert_eq!(uploaded.header("minutebook-seq"), Some("2"));
    let told = format!(
        r#""sha256":"{sha256}","name":"boltbook query/é","version":"0.3 beta","description":"d","#
    ) + r#""agent_id":"me","author_pubkey":null,"#;
    let fetch = format!("http://{addr}/api/skills/<uuid>/boltbook_query__-0.3_beta.tar.gz");
    assert_eq!(
        redact(&uploaded.text()),
        format!(r#"{{"id":"<uuid>",{told}"size_bytes":{size},"fetch_url":"{fetch}","#)
            + &format!(r#""manifest_url":"http://{addr}/api/skills/<uuid>","#)
            + r#""uploaded_at":"<seconds>","deduped":false,"log_seq":2}"#
    );
    let id = id(&uploaded);
    for query in ["", "?include=sig", "?include=other"] {
        let shown = here.get(&format!("/api/skills/{id}{query}"));
        assert_eq!(shown.status, 200);
        assert_eq!(
            redact(&shown.text()),
            format!(r#"{{"id":"<uuid>",{told}"author_sig":null,"size_bytes":{size},"#)
                + &format!(r#""fetch_url":"{fetch}","uploaded_at":"<seconds>","log_seq":2}}"#)
        );
    }
    let cdn = format!("/skills-cdn/{sha256}.tar.gz");
    for name in ["boltbook_query__-0.3_beta.tar.gz", "anything"] {
        let moved = here.get(&format!("/api/skills/{id}/{name}"));
        assert_eq!(moved.status, 307);
        assert_eq!(moved.header("location"), Some(cdn.as_str()));
    }
    let listing = here.get("/api/skills");
    assert_eq!(refused(&listing), (405, "Method Not Allowed".to_owned()));
}

#[test]
fn the_bytes_are_served_by_their_hash() {
    let here = Here::start();
    let file = skill("bytes");
    upload(&here, &file);
    let etag = format!("\"{}\"", sha256(&file));
    let cdn = format!("/skills-cdn/{}.tar.gz", sha256(&file));
    let got = here.get(&cdn);
    assert_eq!((got.status, &got.body), (200, &file));
    for (name, value) in [
        ("content-type", "application/gzip"),
        ("content-disposition", "attachment"),
        ("cache-control", "public, max-age=86400, immutable"),
        ("x-content-type-options", "nosniff"),
        ("etag", &etag),
    ] {
        assert_eq!(got.header(name), Some(value), "{name}");
    }
    let known = here.ask("GET", &cdn, &[("if-none-match", &etag)], "");
    assert_eq!(
        (known.status, known.header("etag")),
        (304, Some(etag.as_str()))
    );
    let length = file.len().to_string();
    let head = here.ask("HEAD", &cdn, &[], "");
    assert_eq!(head.header("content-length"), Some(length.as_str()));
    let other = "00".repeat(32);
    for path in [
        format!("/skills-cdn/{other}.tar.gz"),
        cdn.to_uppercase().replace("/SKILLS-CDN", "/skills-cdn"),
        cdn.replace(".tar.gz", ""),
        "/skills-cdn/..%2Farbiter.key".to_owned(),
        format!("/api/skills/{other}"),
        "/api/skills/00000000-0000-0000-0000-000000000000".to_owned(),
        "/api/skills/00000000-0000-0000-0000-000000000000/x".to_owned(),
        "/api/skills/nope/x".to_owned(),
    ] {
        let missing = (404, "skill not found".to_owned());
        assert_eq!(refused(&here.get(&path)), missing, "{path}");
    }
}

#[test]
fn the_same_bytes_stay_the_first_uploaders() {
    let here = Here::start();
    let file = skill("same");
    let first = upload(&here, &file).json();
    let (pubkey, sig) = (key_hex(), sign(&sha256(&file)));
    let parts: [Part<'_>; 6] = [
        ("file", &file),
        ("name", b"other"),
        ("version", b"9"),
        ("agent_id", b"somebody else"),
        ("author_pubkey", pubkey.as_bytes()),
        ("author_sig", sig.as_bytes()),
    ];
    let again = send(&here, &[], "b", &parts);
    assert_eq!(again.status, 201);
    let mut again = again.json();
    assert_eq!(again["deduped"], true);
    again["deduped"] = false.into();
    assert_eq!(again, first);
    let shown = here.get(&format!(
        "/api/skills/{}?include=sig",
        first["id"].as_str().unwrap()
    ));
    assert_eq!(shown.json()["author_sig"], serde_json::Value::Null);
}

#[test]
fn many_at_once_publish_the_same_bytes_once() {
    let here = Here::start();
    let file = skill("race");
    let answers: Vec<_> = std::thread::scope(|scope| {
        let uploads: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| upload(&here, &file)))
            .collect();
        uploads.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let ids: std::collections::BTreeSet<_> = answers.iter().map(id).collect();
    assert_eq!(ids.len(), 1);
    let first = |answer: &&Answer| answer.json()["deduped"] == false;
    assert_eq!(answers.iter().filter(first).count(), 1);
    assert_eq!(here.reader().head().unwrap().seq, 2);
}

fn author() -> SigningKey {
    SigningKey::from_bytes(&[5; 32])
}

fn key_hex() -> String {
    hex::encode(author().verifying_key().as_bytes())
}

fn sign(text: &str) -> String {
    hex::encode(author().sign(text.as_bytes()).to_bytes())
}

#[test]
fn an_author_signs_the_digits_of_the_hash() {
    let here = Here::start();
    let file = skill("signed");
    let (pubkey, sig) = (key_hex(), sign(&sha256(&file)));
    let (upper, upper_sig) = (pubkey.to_uppercase(), sig.to_uppercase());
    let signed = |pubkey: &str, sig: &str| {
        let parts = [
            ("author_pubkey", pubkey.as_bytes()),
            ("author_sig", sig.as_bytes()),
        ];
        upload_with(&here, &file, &parts)
    };
    let no_match = "author_sig does not verify against author_pubkey and sha256";
    let raw = hex::encode(author().sign(&Sha256::digest(&file)).to_bytes());
    assert_eq!(refused(&signed(&pubkey, &raw)), bad(no_match));
    let other = hex::encode(SigningKey::from_bytes(&[6; 32]).verifying_key().as_bytes());
    assert_eq!(refused(&signed(&other, &sig)), bad(no_match));
    let weak = signed(&"00".repeat(32), &sig);
    assert_eq!(weak.json()["code"], "public_key_weak");
    let uploaded = signed(&upper, &upper_sig);
    assert_eq!(uploaded.json()["author_pubkey"], pubkey.as_str());
    let path = format!("/api/skills/{}", id(&uploaded));
    assert_eq!(
        here.get(&path).json()["author_sig"],
        serde_json::Value::Null
    );
    let with_sig = here.get(&format!("{path}?include=sig"));
    assert_eq!(with_sig.json()["author_sig"], sig.as_str());
}

#[test]
fn a_form_is_judged_field_by_field() {
    let here = Here::start();
    let file = skill("fields");
    let long = |n: usize| "é".repeat(n).into_bytes();
    let (name, version, text, agent) = (long(101), long(51), long(501), long(101));
    let at_most = |field, n| format!("{field}: String should have at most {n} characters");
    let all = fields(&file);
    let without = |field: &str| {
        let mut parts = all.clone();
        parts.retain(|(name, _)| *name != field);
        parts
    };
    let with = |part: Part<'static>| [without(part.0), vec![part]].concat();
    let is = |parts: &[Part<'_>], text: &str| {
        assert_eq!(refused(&send(&here, &[], "b", parts)), bad(text), "{text}");
    };
    is(&[], "file: Field required");
    for field in ["file", "name", "version", "agent_id"] {
        is(&without(field), &format!("{field}: Field required"));
    }
    is(&with(("name", b"")), "name: Field required");
    is(
        &[&without("name")[..], &[("name", &name)]].concat(),
        &at_most("name", 100),
    );
    is(
        &[&without("version")[..], &[("version", &version)]].concat(),
        &at_most("version", 50),
    );
    is(
        &[&all[..], &[("description", &text)]].concat(),
        &at_most("description", 500),
    );
    is(
        &[&without("agent_id")[..], &[("agent_id", &agent)]].concat(),
        &at_most("agent_id", 100),
    );
    is(
        &[&all[..], &[("name", b"x")]].concat(),
        "name: Field sent more than once",
    );
    is(
        &[&all[..], &[("file", b"x")]].concat(),
        "file: Field sent more than once",
    );
    is(
        &with(("name", b"\xff")),
        "There was an error parsing the body",
    );
    for (field, value) in [
        ("name", "a\u{202e}b"),
        ("version", " "),
        ("agent_id", "arbiter"),
    ] {
        let part = (field, value.as_bytes());
        let answer = send(&here, &[], "b", &[without(field), vec![part]].concat());
        assert_eq!(answer.status, 400, "{field}: {}", answer.text());
        assert!(detail(&answer).starts_with(field), "{}", answer.text());
    }
    assert_eq!(here.reader().head().unwrap().seq, 1);
}

#[test]
fn what_is_no_form_is_one_without_fields() {
    let here = Here::start();
    for (kind, text) in [
        ("application/json", "file: Field required"),
        ("application/x-www-form-urlencoded", "file: Field required"),
        ("multipart/form-data", "There was an error parsing the body"),
        (
            "multipart/form-data; boundary=z",
            "There was an error parsing the body",
        ),
    ] {
        let answer = here.ask("POST", "/api/skills", &[("content-type", kind)], "file=x");
        assert_eq!(refused(&answer), bad(text), "{kind}");
    }
    let many: Vec<Part<'_>> = vec![("x", b""); 65];
    let text = "a form has at most 64 parts";
    assert_eq!(refused(&send(&here, &[], "b", &many)), bad(text));
    let unknown = upload_with(&here, &skill("unknown"), &[("category", b"x")]);
    assert_eq!(unknown.status, 201);
}

#[test]
fn checks_come_in_the_peers_order() {
    let here = Here::start();
    let big = vec![b'x'; 524_289];
    let (pubkey, sig) = (key_hex().into_bytes(), sign("something").into_bytes());
    let is = |file: &[u8], more: &[Part<'_>], text: &str| {
        assert_eq!(refused(&upload_with(&here, file, more)), bad(text));
    };
    let pair = "provide both author_pubkey and author_sig, or neither";
    is(&big, &[("author_pubkey", b"zz")], pair);
    is(&big, &[("author_sig", b"zz")], pair);
    let key = "author_pubkey must be 64 hex chars";
    is(
        &big,
        &[("author_pubkey", b"zz"), ("author_sig", b"zz")],
        key,
    );
    let text = "author_sig must be 128 hex chars";
    is(
        &big,
        &[("author_pubkey", &pubkey), ("author_sig", b"zz")],
        text,
    );
    let both = [("author_pubkey", &*pubkey), ("author_sig", &*sig)];
    is(&big, &both, "file too large: 524289 bytes, limit 524288");
    is(b"", &both, "empty file");
    is(
        b"x",
        &both,
        "author_sig does not verify against author_pubkey and sha256",
    );
    is(b"x", &[], "not a valid tar.gz: not a gzip file");
    let none = "tar.gz must contain a SKILL.md at any depth";
    is(&bundle(&[("README.md", b"x")]), &[], none);
    let huge = upload(&here, &vec![0; 2 << 20]);
    let text = "file too large: more than 1048576 bytes, limit 524288";
    assert_eq!(refused(&huge), bad(text));
}

#[test]
fn a_bundle_of_just_the_limit_is_taken() {
    let here = Here::start();
    // Filled up with a comment, so that its size can be chosen.
    let commented = |comment: usize| {
        let files = bundle_tar(&[("SKILL.md", &vec![b'x'; 510_000])]);
        let builder = flate2::GzBuilder::new().comment(vec![b'c'; comment]);
        let mut encoder = builder.write(Vec::new(), Compression::none());
        encoder.write_all(&files).unwrap();
        encoder.finish().unwrap()
    };
    let file = commented(524_288 - commented(0).len());
    assert_eq!(file.len(), 524_288);
    let uploaded = upload(&here, &file);
    assert_eq!(
        uploaded.json()["size_bytes"],
        524_288,
        "{}",
        uploaded.text()
    );
}

#[test]
fn an_upload_for_which_there_was_no_place_counts_against_no_limit() {
    let here = Here::with(|config| {
        config.skills_per_hour = 1;
        config.bounds.bodies_bytes_max = 64 << 10;
    });
    for _ in 0..3 {
        let busy = upload(&here, &vec![0; 128 << 10]);
        assert_eq!(busy.status, 503, "{}", busy.text());
    }
    id(&upload(&here, &skill("small")));
    assert_eq!(upload(&here, &skill("another")).status, 429);
}

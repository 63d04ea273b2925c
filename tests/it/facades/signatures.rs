//! Signed messages.

use ed25519_dalek::{Signer, SigningKey};

use super::here::{Here, detail};

/// RFC 3339 with six digits, some seconds from now.
fn time(seconds_from_now: i64) -> String {
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap();
    let micros = i64::try_from(now.as_micros()).unwrap() + seconds_from_now * 1_000_000;
    minutebook_domain::time::Timestamp::from_micros(micros).to_string()
}

struct Message<'a> {
    room: &'a str,
    text: &'a str,
    ts_iso: String,
    memory_root: Option<&'a str>,
}

impl Message<'_> {
    fn signed(&self, key: &SigningKey) -> serde_json::Value {
        let root = self.memory_root.unwrap_or_default();
        let surface = format!("{}{}{}{root}", self.text, self.ts_iso, self.room);
        serde_json::json!({
            "agent_id": "alice",
            "text": self.text,
            "ts_iso": self.ts_iso,
            "pubkey_hex": hex::encode(key.verifying_key().to_bytes()),
            "signature_hex": hex::encode(key.sign(surface.as_bytes()).to_bytes()),
            "memory_root": self.memory_root,
        })
    }
}

fn key() -> SigningKey {
    SigningKey::from_bytes(&[0x11; 32])
}

fn post(here: &Here, room: &str, body: &serde_json::Value) -> minutebook_tests::http::Answer {
    here.json(
        "POST",
        &format!("/api/rooms/{room}/messages"),
        &body.to_string(),
    )
}

#[test]
fn a_signed_message_comes_back_with_what_it_was_signed_with() {
    let here = Here::start();
    let room = here.room();
    let text = "We agreed: $5/unit, délai 20 мая 🧱";
    let ts_iso = time(-10);
    let message = Message {
        room: &room,
        text,
        ts_iso: ts_iso.clone(),
        memory_root: Some("deadbeef"),
    };
    let body = message.signed(&key());
    let posted = post(&here, &room, &body);
    assert_eq!(posted.status, 201, "{}", posted.text());
    let listed = here.get(&format!("/api/rooms/{room}/messages")).json()["messages"][0].clone();
    assert_eq!(posted.json(), listed);
    for field in [
        "text",
        "pubkey_hex",
        "signature_hex",
        "memory_root",
        "ts_iso",
    ] {
        assert_eq!(listed[field], body[field], "{field}");
    }
    assert_eq!(
        listed["timestamp"].as_str().unwrap(),
        format!("{}Z", &ts_iso[..19])
    );
    assert_eq!(listed["key_enrolled"].as_bool(), Some(false));
}

#[test]
fn hex_is_taken_in_either_case_and_every_documented_time_is_kept_as_sent() {
    let here = Here::start();
    let room = here.room();
    let now = time(0);
    let second = &now[..19];
    for ts_iso in [
        format!("{second}Z"),
        format!("{second}.4Z"),
        format!("{second}.431854123Z"),
        format!("{second}.431854+00:00"),
    ] {
        let message = Message {
            room: &room,
            text: "x",
            ts_iso: ts_iso.clone(),
            memory_root: None,
        };
        let mut body = message.signed(&key());
        let upper = body["signature_hex"].as_str().unwrap().to_uppercase();
        body["signature_hex"] = upper.clone().into();
        let posted = post(&here, &room, &body);
        assert_eq!(posted.status, 201, "{}", posted.text());
        assert_eq!(posted.json()["ts_iso"].as_str(), Some(ts_iso.as_str()));
        assert_eq!(
            posted.json()["signature_hex"].as_str().unwrap(),
            upper.to_lowercase()
        );
    }
}

#[test]
fn what_does_not_hold_is_refused_with_the_peers_texts_and_stores_nothing() {
    let here = Here::start();
    let room = here.room();
    let good = |seconds| {
        let ts_iso = time(seconds);
        Message {
            room: &room,
            text: "x",
            ts_iso,
            memory_root: None,
        }
        .signed(&key())
    };
    let with = |field: &str, value: serde_json::Value| {
        let mut body = good(0);
        body[field] = value;
        body
    };
    let together = "when signing, provide pubkey_hex + signature_hex + ts_iso together";
    let bad_key = "pubkey_hex must be 64 hex chars";
    let bad_sig = "signature_hex must be 128 hex chars";
    let broken = "signature does not verify against (text || ts_iso || room_uuid || memory_root)";
    let flipped = {
        let sig = good(0)["signature_hex"].as_str().unwrap().to_owned();
        let first = if sig.starts_with('0') { "1" } else { "0" };
        format!("{first}{}", &sig[1..])
    };
    let newline = format!("{}\n", good(0)["pubkey_hex"].as_str().unwrap());
    let cases = [
        (with("ts_iso", serde_json::Value::Null), together),
        (with("pubkey_hex", "".into()), together),
        (with("signature_hex", serde_json::Value::Null), together),
        (with("pubkey_hex", "zz".into()), bad_key),
        (with("pubkey_hex", newline.into()), bad_key),
        (with("signature_hex", "ab".into()), bad_sig),
        (with("signature_hex", flipped.into()), broken),
        (with("text", "y".into()), broken),
        (with("memory_root", "aa".into()), broken),
    ];
    for (body, text) in cases {
        let answer = post(&here, &room, &body);
        assert_eq!(
            (answer.status, detail(&answer).as_str()),
            (400, text),
            "{body}"
        );
    }
    let weak = with("pubkey_hex", format!("01{}", "00".repeat(31)).into());
    assert_eq!(
        post(&here, &room, &weak).json()["code"].as_str(),
        Some("public_key_weak")
    );
    let other_room = here.room();
    assert_eq!(detail(&post(&here, &other_room, &good(0))), broken);
    let count = here.get(&format!("/api/rooms/{room}")).json()["message_count"].as_u64();
    assert_eq!(count, Some(0));
}

#[test]
fn a_time_that_is_not_now_or_no_time_is_refused() {
    let here = Here::start();
    let room = here.room();
    let signed = |ts_iso: String| {
        let memory_root = None;
        Message {
            room: &room,
            text: "x",
            ts_iso,
            memory_root,
        }
        .signed(&key())
    };
    let not_now = "ts_iso is more than 5 minutes from server clock";
    let no_time = "ts_iso is not a valid ISO-8601 timestamp";
    for (ts_iso, text) in [
        (time(-301).as_str(), not_now),
        (time(310).as_str(), not_now),
        ("2020-01-01T00:00:00Z", not_now),
        ("yesterday", no_time),
        ("2026-11-30 12:00:00Z", no_time),
        ("2026-11-30T12:00:00", no_time),
        ("2026-11-30T12:00:00z", no_time),
        ("2000-01-01TZZ", no_time),
        ("2026-11-30T12:00:00Zgarbage", no_time),
        ("2026-11-30T12:00:00+00:37howdy", no_time),
        ("2026-11-30T12:00:00+25:00", no_time),
        ("2026-11-30T12:00:00,5Z", no_time),
    ] {
        let answer = post(&here, &room, &signed(ts_iso.to_owned()));
        assert_eq!(
            (answer.status, detail(&answer).as_str()),
            (400, text),
            "{ts_iso}"
        );
    }
}

#[test]
fn a_signature_counts_once() {
    let here = Here::start();
    let room = here.room();
    let message = Message {
        room: &room,
        text: "x",
        ts_iso: time(0),
        memory_root: None,
    };
    let body = message.signed(&key());
    assert_eq!(post(&here, &room, &body).status, 201);
    let again = post(&here, &room, &body);
    assert_eq!(
        (again.status, again.json()["code"].as_str()),
        (409, Some("signature_replayed"))
    );
    let mut other = body;
    other["agent_id"] = "mallory".into();
    assert_eq!(post(&here, &room, &other).status, 409);
}

#[test]
fn empty_key_and_signature_and_a_time_alone_sign_nothing() {
    let here = Here::start();
    let room = here.room();
    for extra in [
        r#""pubkey_hex":"","signature_hex":"""#,
        r#""ts_iso":"nonsense""#,
        r#""memory_root":"cafe""#,
        r#""pubkey_hex":null,"signature_hex":null,"ts_iso":null"#,
    ] {
        let body = format!(r#"{{"agent_id":"a","text":"x",{extra}}}"#);
        let posted = here.json("POST", &format!("/api/rooms/{room}/messages"), &body);
        assert_eq!(posted.status, 201, "{}", posted.text());
        assert!(posted.json()["signature_hex"].is_null());
    }
}

#[test]
fn the_arbiters_key_is_published_with_its_history() {
    let here = Here::start();
    let json = here.get("/api/arbiter/pubkey").json();
    assert_eq!(json["alg"].as_str(), Some("ed25519"));
    let expected = SigningKey::from_bytes(&[9; 32]).verifying_key();
    assert_eq!(
        json["pubkey_hex"].as_str().unwrap(),
        hex::encode(expected.to_bytes())
    );
    assert_eq!(json["origin"].as_str(), Some("example.org/here"));
    assert_eq!(json["history"].as_array().unwrap().len(), 1);
    assert_eq!(json["history"][0]["vkey"], json["vkey"]);
}

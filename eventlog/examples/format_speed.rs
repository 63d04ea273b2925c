//! Nanoseconds per operation of the format. Run with
//! `cargo run --release -p minutebook-eventlog --no-default-features --example format_speed`.

use std::{hint::black_box, time::Instant};

use minutebook_eventlog::format::{
    bundle::{Line, parse_line, write_record_line},
    checkpoint::Checkpoint,
    envelope::Envelope,
    hash::{Hash, body_commitment, chain_hash, leaf_hash},
    note::SigningKey,
    tree::{Frontier, Tiler},
};

const BODY: &str = "{\"agent\":\"ada\",\"id\":\"0190f3c4-5d1e-7c3a-9d57-1f0e2a6b7c8d\",\
    \"kind\":\"chat\",\"n\":731,\"text\":\"The harbour slot is free from Thursday; shall we take \
    it for the whole week, or only until the \\\"Friday\\\" ferry? I can ask the port office \
    before noon and tell you what they say about the price.\"}";

fn envelope() -> Envelope<'static> {
    Envelope {
        actor: "agent:ada".into(),
        at: "2026-11-30T12:00:00.123456Z".into(),
        body: body_commitment(&[7; 32], BODY.as_bytes()),
        cause: None,
        cmd: "0190f3c4-5d1e-7c3a-9d57-1f0e2a6b7c8e".into(),
        prev: Hash::new([0xa5; 32]),
        seq: 123_456,
        sprev: Hash::new([0x5a; 32]),
        sseq: 732,
        stream: "room/0190f3c4-5d1e-7c3a-9d57-1f0e2a6b7c8f".into(),
        kind: "room.message_posted".into(),
        v: 1,
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "nanoseconds of a round fit a double"
)]
/// Prints the best of many short rounds: load on the machine spoils some, hardly all.
fn report(name: &str, mut operation: impl FnMut()) -> f64 {
    const TOTAL_NANOS: u128 = 300_000_000;
    const ROUND_NANOS: u128 = 300_000;
    let mut repeats = 1;
    let (mut best, mut total, mut is_measuring) = (f64::MAX, 0, false);
    while total < TOTAL_NANOS {
        let start = Instant::now();
        for _ in 0..repeats {
            operation();
        }
        let nanos = start.elapsed().as_nanos();
        total += nanos;
        is_measuring |= nanos >= ROUND_NANOS;
        if !is_measuring {
            repeats *= 2;
            continue;
        }
        best = best.min(nanos as f64 / f64::from(repeats));
    }
    line(&format!("{name:<28} {best:>10.0} ns"));
    best
}

#[expect(clippy::print_stdout, reason = "what this program is for")]
fn line(text: &str) {
    println!("{text}");
}

fn main() {
    let sample = envelope();
    let mut bytes = Vec::new();
    sample.encode(&mut bytes);
    let mut record = Vec::new();
    let body = Some((&[7; 32], BODY.as_bytes()));
    write_record_line(&bytes, body, &mut record).expect("a small line");
    let record = record.trim_ascii_end().to_vec();
    let (envelope_len, line_len) = (bytes.len(), record.len());
    line(&format!(
        "envelope {envelope_len} B, body {} B, line {line_len} B",
        BODY.len()
    ));

    let mut out = Vec::with_capacity(1024);
    report("envelope encode", || {
        out.clear();
        black_box(&sample).encode(&mut out);
    });
    let mut sum = report("envelope parse", || {
        black_box(Envelope::parse(black_box(&bytes)).is_ok());
    });
    sum += report("bundle parse_line", || {
        black_box(matches!(
            parse_line(black_box(&record)),
            Ok(Line::Record(_))
        ));
    });
    report("bundle write_record_line", || {
        out.clear();
        black_box(write_record_line(black_box(&bytes), body, &mut out).is_ok());
    });
    sum += report("chain_hash", || {
        black_box(chain_hash(black_box(&bytes)));
    });
    sum += report("leaf_hash", || {
        black_box(leaf_hash(black_box(&bytes)));
    });
    sum += report("body_commitment", || {
        black_box(body_commitment(&[7; 32], black_box(BODY.as_bytes())));
    });
    let leaf = leaf_hash(&bytes);
    let mut frontier = Frontier::new();
    sum += report("frontier push", || frontier.push(black_box(leaf)));
    let (mut tiler, mut completed) = (Tiler::new(), Vec::new());
    report("tiler push", || {
        tiler.push(black_box(leaf), &mut completed);
        completed.clear();
    });
    report("frontier root", || {
        black_box(frontier.root());
    });
    line(&format!(
        "record checked in all        {sum:>10.0} ns ({:.0}/s)",
        1e9 / sum
    ));

    let key = SigningKey::from_seed("log.example", [1; 32]).expect("a name");
    let checkpoint = Checkpoint {
        origin: "log.example".into(),
        size: 7,
        root: frontier.root(),
    };
    report("checkpoint sign", || {
        black_box(checkpoint.sign(&key));
    });
    let note = checkpoint.sign(&key);
    report("checkpoint open", || {
        black_box(Checkpoint::open(&note, "log.example", &[key.verifying_key()]).is_ok());
    });
}

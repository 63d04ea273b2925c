//! A room's ledger as JSON: threads, handshakes, discrepancies, and the context as a whole.
//!
//! Invariant: [`all`] and [`touched`] call everything by the same names, so that the steps between
//! two moments add up to what differs between them.

use minutebook_domain::{
    Event,
    ids::{ClaimId, RoomId},
    room,
    room::claims,
};
use minutebook_projections::{
    ProjectionError, ThreadsView,
    threads::{Discrepancy, Handshake, LedgerRow, Place, ThreadRow},
};
use serde_json::{Map, Value, json};

use crate::generations::OwnedFact;

const THREADS: &str = "threads_by_id";
const HANDSHAKES: &str = "handshakes_by_n";
const DISCREPANCIES: &str = "discrepancies_by_n";

/// All of it.
pub(super) fn all(
    view: &ThreadsView<'_>,
    room: RoomId,
) -> Result<Map<String, Value>, ProjectionError> {
    let ledger = view.ledger(room)?;
    let threads = view.threads(room)?;
    let mut fields = whole(view, room, &ledger, &threads)?;
    let by_id = (0_u32..).zip(&threads).map(|(index, row)| {
        let id = row.thread.id().to_string();
        (id, thread_value(index, row, ledger.confirmations_needed))
    });
    fields.insert(THREADS.to_owned(), Value::Object(by_id.collect()));
    let handshakes = view.handshakes(room, 0, usize::MAX)?;
    let handshakes = handshakes.iter().map(handshake_entry);
    fields.insert(HANDSHAKES.to_owned(), Value::Object(handshakes.collect()));
    let found = view.unresolved(room)?;
    let found = found.iter().map(discrepancy_entry);
    fields.insert(DISCREPANCIES.to_owned(), Value::Object(found.collect()));
    Ok(fields)
}

/// The part that an event can change: its thread with what is not resolved of it, its handshake,
/// its discrepancy; and the whole, for which all threads of the room are looked at.
pub(in crate::offline) fn touched(
    view: &ThreadsView<'_>,
    room: RoomId,
    event: &claims::Event,
) -> Result<Map<String, Value>, ProjectionError> {
    let ledger = view.ledger(room)?;
    let mut fields = whole(view, room, &ledger, &view.threads(room)?)?;
    let thread = match thread_of(event) {
        Some(claim) => view.thread(room, claim)?,
        None => None,
    };
    let mut numbers: Vec<u64> = thread
        .iter()
        .flat_map(|(_, row)| row.unresolved())
        .collect();
    let mut handshake = None;
    match event {
        claims::Event::HandshakeMade(made) => handshake = view.handshake(room, made.id)?,
        claims::Event::DiscrepancyRecorded(noted) => numbers.push(noted.id),
        claims::Event::Opened(_)
        | claims::Event::Revised(_)
        | claims::Event::ContextExtracted(_) => {}
    }
    let mut found = Map::new();
    for number in numbers {
        let one = view.discrepancy(room, number)?;
        let open = one.filter(|one| !one.row.is_resolved);
        found.extend(open.as_ref().map(discrepancy_entry));
    }
    let thread = thread.map(|(place, row)| step_entry(place, &row, ledger.confirmations_needed));
    let handshake = handshake.as_ref().map(handshake_entry);
    for (name, object) in [
        (THREADS, thread.into_iter().collect()),
        (HANDSHAKES, handshake.into_iter().collect()),
        (DISCREPANCIES, found),
    ] {
        fields.insert(name.to_owned(), Value::Object(object));
    }
    Ok(fields)
}

/// The event on the ledger, if it is one.
pub(in crate::offline) fn event_of(fact: &OwnedFact) -> Option<&claims::Event> {
    match &fact.event {
        Some(Event::Room(room::Event::Claim(event))) => Some(event),
        Some(Event::Room(_) | Event::Keys(_) | Event::Skills(_)) | None => None,
    }
}

/// The thread an event is about.
pub(in crate::offline) fn thread_of(event: &claims::Event) -> Option<ClaimId> {
    match event {
        claims::Event::Opened(event) => Some(event.claim),
        claims::Event::Revised(event) => Some(event.claim),
        claims::Event::DiscrepancyRecorded(event) => event.claim,
        claims::Event::HandshakeMade(_) | claims::Event::ContextExtracted(_) => None,
    }
}

fn whole(
    view: &ThreadsView<'_>,
    room: RoomId,
    ledger: &LedgerRow,
    threads: &[ThreadRow],
) -> Result<Map<String, Value>, ProjectionError> {
    let (context_hash, sealed) = view.seal(room, threads)?;
    let reading = ledger.last_reading.as_ref().map(|reading| {
        json!({
            "adapter": reading.adapter,
            "message": reading.message,
            "model": reading.model,
            "seq": reading.seq,
        })
    });
    let arbiter = json!({
        "last_extracted_msg_id": ledger.last_extracted_msg_id,
        "last_reading": reading,
        "outage": ledger.outage,
        "skipped": ledger.skipped,
    });
    Ok(Map::from_iter([
        ("arbiter".to_owned(), arbiter),
        ("context_hash".to_owned(), context_hash.into()),
        ("sealed".to_owned(), sealed.into()),
    ]))
}

fn thread_value(index: u32, row: &ThreadRow, needed: u8) -> Value {
    let thread = &row.thread;
    json!({
        "confirmations": row.confirmations,
        "confirmations_needed": needed,
        "last_seq": row.last_seq,
        "n": u64::from(index) + 1,
        "opened_by": thread.opener().as_str(),
        "revisions": thread.revisions(),
        "status": thread.status().name(),
        "subject": thread.subject(),
        "subject_key": thread.subject_key().as_str(),
        "value": thread.value(),
    })
}

/// Its last seq changes with every event, and says no more than that there was one.
fn step_entry(place: Place, row: &ThreadRow, needed: u8) -> (String, Value) {
    let mut value = thread_value(place.index(), row, needed);
    if let Value::Object(fields) = &mut value {
        fields.remove("last_seq");
    }
    (row.thread.id().to_string(), value)
}

fn handshake_entry(one: &Handshake) -> (String, Value) {
    let row = &one.row;
    let signature = row.signature.as_ref();
    let value = json!({
        "agent": row.agent,
        "at": row.at.to_string(),
        "context_hash": row.context_hash,
        "position": signature.and_then(|by| by.position),
        "seq": row.seq,
        "surface": signature.map(|by| by.surface.as_str()),
    });
    (one.id.to_string(), value)
}

fn discrepancy_entry(one: &Discrepancy) -> (String, Value) {
    let row = &one.row;
    let value = json!({
        "claim": row.claim.map(|claim| claim.to_string()),
        "description": row.description,
        "message": row.message,
        "seq": row.seq,
        "severity": row.severity,
    });
    (one.id.to_string(), value)
}

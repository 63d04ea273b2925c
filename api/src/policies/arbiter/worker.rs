//! Premium rooms: each message is read soon after it was posted, in the background.
//!
//! Which rooms are behind is in their rows, so nothing is lost with the process: the worker begins
//! with a look at all of them. After an outage the rooms it hit wait together, longer each time.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use minutebook_domain::ids::RoomId;
use minutebook_domain::room::ProtocolMode;
use minutebook_projections::ProjectionError;
use minutebook_projections::rooms::RoomRow;
use parking_lot::Mutex;
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::{Arbiter, CALLS_MAX, RunError};

/// First and longest pause after an outage.
const PAUSE_MIN: Duration = Duration::from_secs(1);
const PAUSE_MAX: Duration = Duration::from_mins(5);
/// Rooms looked at together at the start.
const PAGE: usize = 256;

/// Rooms that wait to be read.
#[derive(Default)]
pub(super) struct Waiting {
    rooms: Mutex<BTreeSet<RoomId>>,
    changed: Notify,
}

impl Waiting {
    pub(super) fn add(&self, room: RoomId) {
        if self.rooms.lock().insert(room) {
            self.changed.notify_one();
        }
    }

    async fn next(&self) -> RoomId {
        loop {
            let changed = self.changed.notified();
            if let Some(room) = self.rooms.lock().pop_first() {
                return room;
            }
            changed.await;
        }
    }
}

/// Reads premium rooms until the server stops.
pub async fn run(arbiter: Arc<Arbiter>, mut stopping: watch::Receiver<bool>) {
    let begin = Arc::clone(&arbiter);
    let looked = tokio::task::spawn_blocking(move || begin.wake_all_behind()).await;
    if let Ok(Err(error)) = looked {
        tracing::error!(%error, "which premium rooms are behind cannot be read");
    }
    let mut reading = JoinSet::new();
    let (mut later, mut pause) = (BTreeSet::new(), PAUSE_MIN);
    let mut again = Instant::now();
    loop {
        let is_full = reading.len() >= CALLS_MAX;
        tokio::select! {
            _ = stopping.wait_for(|stopping| *stopping) => return,
            Some(done) = reading.join_next() => match done {
                Ok((_, Ended::Done)) => pause = PAUSE_MIN,
                Ok((room, Ended::More)) => arbiter.waiting.add(room),
                Ok((room, Ended::Outage)) => {
                    if later.is_empty() {
                        again = Instant::now() + pause;
                        pause = (pause * 2).min(PAUSE_MAX);
                    }
                    later.insert(room);
                }
                Err(error) => tracing::error!(%error, "a reading ended badly"),
            },
            room = arbiter.waiting.next(), if !is_full => {
                let arbiter = Arc::clone(&arbiter);
                reading.spawn(async move { (room, arbiter.read_in_background(room).await) });
            }
            () = tokio::time::sleep_until(again), if !later.is_empty() => {
                for room in std::mem::take(&mut later) {
                    arbiter.waiting.add(room);
                }
            }
        }
    }
}

/// How a reading in the background ended.
enum Ended {
    Done,
    More,
    Outage,
}

impl Arbiter {
    async fn read_in_background(&self, room: RoomId) -> Ended {
        match self.run(room, None).await {
            Ok(run) if run.outage.is_some() => Ended::Outage,
            Ok(run) if run.remaining > 0 => Ended::More,
            Ok(_) => Ended::Done,
            Err(error) => {
                tracing::warn!(%room, %error, "a premium room could not be read");
                Ended::Outage
            }
        }
    }

    /// Follows a premium room from now on.
    pub fn follow(&self, room: RoomId) {
        self.premium.write().insert(room);
    }

    /// A room got a message: has it read in the background if it is a premium one.
    pub fn posted(&self, room: RoomId) {
        if self.premium.read().contains(&room) {
            self.waiting.add(room);
        }
    }

    fn wake_all_behind(&self) -> Result<(), RunError> {
        let mut after = None;
        loop {
            let page = self.rooms(|rooms| rooms.all(after, PAGE))?;
            for room in page.iter().filter(|room| is_followed(room)) {
                // First: what is posted from here on wakes it by itself.
                self.follow(room.id);
                if self.is_behind(room)? {
                    self.waiting.add(room.id);
                }
            }
            match page.last() {
                Some(last) if page.len() == PAGE => after = Some(last.id),
                Some(_) | None => return Ok(()),
            }
        }
    }

    fn is_behind(&self, room: &RoomRow) -> Result<bool, ProjectionError> {
        let ledger = self.threads(|threads| threads.ledger(room.id))?;
        // The newest reading may wait for what it proposed.
        Ok(ledger.last_extracted_msg_id < room.message_count || ledger.last_reading.is_some())
    }
}

fn is_followed(room: &RoomRow) -> bool {
    room.mode == ProtocolMode::Premium && !room.is_closed
}

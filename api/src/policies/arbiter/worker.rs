//! Premium rooms: each message is read soon after it was posted, in the background.
//!
//! Which rooms are behind is in their rows, so nothing is lost with the process: the worker begins
//! with a look at all of them. Whose turn it is, and how long an outage is waited out, is for
//! `schedule`.

use std::collections::HashMap;
use std::sync::Arc;

use minutebook_domain::ids::RoomId;
use minutebook_domain::room::ProtocolMode;
use minutebook_projections::ProjectionError;
use minutebook_projections::rooms::RoomRow;
use parking_lot::Mutex;
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::schedule::{Ended, Queue, Schedule};
use super::{Arbiter, CALLS_MAX, RunError};

/// Rooms looked at together at the start.
const PAGE: usize = 256;

/// Rooms that wait to be read.
#[derive(Default)]
pub(super) struct Waiting {
    rooms: Mutex<Queue>,
    changed: Notify,
}

impl Waiting {
    pub(super) fn add(&self, room: RoomId) {
        if self.rooms.lock().push(room) {
            self.changed.notify_one();
        }
    }

    async fn next(&self) -> RoomId {
        loop {
            let changed = self.changed.notified();
            if let Some(room) = self.rooms.lock().pop() {
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
    // By task, so that a room whose reading panicked is known too.
    let mut rooms = HashMap::new();
    let mut schedule = Schedule::new(Instant::now());
    loop {
        let is_full = reading.len() >= CALLS_MAX;
        let again = schedule.again();
        tokio::select! {
            _ = stopping.wait_for(|stopping| *stopping) => return,
            Some(done) = reading.join_next_with_id() => {
                let (task, ended) = match done {
                    Ok((task, ended)) => (task, ended),
                    Err(error) => {
                        tracing::error!(%error, "a reading ended badly");
                        (error.id(), Ended::Outage)
                    }
                };
                if let Some(room) = rooms.remove(&task)
                    && schedule.end(room, ended, Instant::now())
                {
                    arbiter.waiting.add(room);
                }
            }
            room = arbiter.waiting.next(), if !is_full => {
                if schedule.start(room) {
                    let arbiter = Arc::clone(&arbiter);
                    let read = async move { arbiter.read_in_background(room).await };
                    rooms.insert(reading.spawn(read).id(), room);
                }
            }
            () = sleep_until(again), if again.is_some() => {
                for room in schedule.take_later() {
                    arbiter.waiting.add(room);
                }
            }
        }
    }
}

/// Never comes if there is no such moment.
async fn sleep_until(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

impl Arbiter {
    async fn read_in_background(&self, room: RoomId) -> Ended {
        match self.run(room, None).await {
            Ok(run) if run.outage.is_some() => Ended::Outage,
            Ok(run) if run.remaining > 0 => Ended::More,
            Ok(_) => Ended::Done,
            // Closed or erased since it was posted in.
            Err(error) if error.is_refusal() => Ended::Done,
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

    /// Whether a room is read by itself.
    pub fn is_followed(&self, room: RoomId) -> bool {
        self.premium.read().contains(&room)
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
            let page = self.engine.rooms(|rooms| rooms.all(after, PAGE))?;
            for room in page.iter().filter(|room| is_followed(room)) {
                // First: what is posted from here on wakes it by itself.
                self.follow(room.id);
                match self.is_behind(room.id) {
                    Ok(true) => self.waiting.add(room.id),
                    Ok(false) => {}
                    Err(error) => tracing::error!(room = %room.id, %error, "cannot be read"),
                }
            }
            match page.last() {
                Some(last) if page.len() == PAGE => after = Some(last.id),
                Some(_) | None => return Ok(()),
            }
        }
    }

    fn is_behind(&self, room: RoomId) -> Result<bool, ProjectionError> {
        let ledger = self.engine.threads(|threads| threads.ledger(room))?;
        let Some(room) = self.engine.rooms(|rooms| rooms.room(room))? else {
            return Ok(false);
        };
        // The newest reading may wait for what it proposed.
        Ok(ledger.last_extracted_msg_id < room.message_count || ledger.last_reading.is_some())
    }
}

fn is_followed(room: &RoomRow) -> bool {
    room.mode == ProtocolMode::Premium && !room.is_closed
}

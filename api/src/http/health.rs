//! Whether the server lives, whether it can take writes, and what it counts.

use std::sync::atomic::Ordering::Relaxed;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::extract::{Request, State};
use axum::http::StatusCode;
use minutebook_domain::keys::Scope;
use minutebook_eventlog::store::stats::{BUCKET_MICROS, StoreStats, Timing};
use minutebook_projections::Kind;
use serde::Serialize;
use utoipa::ToSchema;

use super::app::{App, Shared};
use super::metrics::{Text, micros_to_seconds};
use super::reply::{self, Reply};
use crate::engine::{Health, HistogramSnapshot};
use crate::error::{ApiError, ErrorCode};
use crate::generations::live_position;
use crate::policies::arbiter::Counts;

/// How the server is.
#[derive(Serialize, ToSchema)]
struct ReadyJson {
    ready: bool,
    log_seq: u64,
}

/// Alive: the process answers.
#[utoipa::path(get, path = "/healthz", tag = "server",
    responses((status = 200, description = "Alive")))]
pub async fn healthz() -> Reply {
    Ok(reply::bytes(
        StatusCode::OK,
        "text/plain; charset=utf-8",
        "ok\n",
    ))
}

/// Ready: the log can be written and read.
#[utoipa::path(get, path = "/readyz", tag = "server",
    responses(
        (status = 200, body = ReadyJson, description = "Ready"),
        (status = 503, body = crate::error::Problem<'_>, description = "Not ready, and why"),
    ))]
pub async fn readyz(State(app): State<Shared>) -> Reply {
    let not_ready = |detail: &'static str| Err(ApiError::new(ErrorCode::Unavailable, detail));
    match &*app.engine.health().borrow() {
        Health::Running => {}
        Health::Stopping => return not_ready("the server is stopping"),
        Health::Failed(_) => return not_ready("the log cannot be written"),
    }
    if *app.stopping.borrow() {
        return not_ready("the server is stopping");
    }
    let log_seq = app.engine.reader().head()?.seq;
    reply::json(
        StatusCode::OK,
        &ReadyJson {
            ready: true,
            log_seq,
        },
    )
}

/// What the server counts, in Prometheus' text format.
#[utoipa::path(get, path = "/metrics", tag = "server",
    responses(
        (status = 200, content_type = "text/plain", body = String, description = "Metrics"),
        (status = 403, body = crate::error::Problem<'_>, description = "Needs the auditor scope"),
    ))]
pub async fn metrics(State(app): State<Shared>, request: Request) -> Reply {
    let (parts, _) = request.into_parts();
    app.caller(&parts)?.needs(Scope::Auditor)?;
    let write = app.blocking(|app| {
        let mut text = Text::default();
        app.metrics.write(&mut text);
        text.gauge(
            "minutebook_body_bytes",
            "Bytes held of request bodies.",
            app.bodies.held() as u64,
        );
        text.gauge(
            "minutebook_answer_bytes",
            "Bytes held of answers that nobody has taken yet.",
            app.answers.held() as u64,
        );
        if let Some(arbiter) = &app.arbiter {
            write_arbiter(arbiter.counts(), &mut text);
        }
        write_engine(app, &mut text)?;
        write_store(&app.engine.reader().stats(), &mut text);
        Ok(text.into_string())
    });
    let text = write.await?;
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    Ok(reply::bytes(StatusCode::OK, kind, text))
}

fn write_arbiter(counts: &Counts, text: &mut Text) {
    let name = "minutebook_model_calls_total";
    text.head(
        name,
        "counter",
        "Calls of language models, by how they ended.",
    );
    for (outcome, count) in counts.calls() {
        text.line(name, &format!("outcome=\"{outcome}\""), count);
    }
    let help = "Seconds per call of a language model.";
    write_histogram(text, "minutebook_model_seconds", help, &counts.seconds());
}

fn write_engine(app: &App, text: &mut Text) -> Result<(), ApiError> {
    let stats = app.engine.stats();
    let histograms = [
        (
            "minutebook_commit_commands",
            "Commands per commit.",
            stats.commit_commands.snapshot(),
        ),
        (
            "minutebook_commit_seconds",
            "Seconds per commit.",
            stats.commit_seconds.snapshot(),
        ),
        (
            "minutebook_append_seconds",
            "Of these, in the store: its commit, then the head file of the commit before.",
            stats.store_seconds.snapshot(),
        ),
        (
            "minutebook_queue_seconds",
            "Seconds a command waited.",
            stats.queue_seconds.snapshot(),
        ),
    ];
    for (name, help, snapshot) in histograms {
        write_histogram(text, name, help, &snapshot);
    }
    let count = |counter: &std::sync::atomic::AtomicU64| counter.load(Relaxed);
    text.counter(
        "minutebook_rejected_total",
        "Commands refused.",
        count(&stats.rejected),
    );
    text.counter(
        "minutebook_replayed_total",
        "Repeats answered.",
        count(&stats.replayed),
    );
    text.counter(
        "minutebook_busy_total",
        "Commands turned away.",
        count(&stats.busy),
    );
    text.gauge(
        "minutebook_followers",
        "Cursors over the log.",
        app.engine.followers(),
    );
    let head = app.engine.reader().head()?.seq;
    text.gauge("minutebook_log_seq", "Records in the log.", head);
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let now = u64::try_from(now.as_micros()).unwrap_or(u64::MAX);
    let age = match count(&stats.last_commit_micros) {
        0 => 0,
        last => now.saturating_sub(last),
    };
    let help = "Seconds since the newest commit of this process, 0 before the first.";
    text.gauge("minutebook_head_age_seconds", help, micros_to_seconds(age));
    let help = "Seq up to which a projection is folded.";
    text.head("minutebook_projection_seq", "gauge", help);
    for kind in Kind::ALL {
        let seq = live_position(&**app.engine.reader(), kind)
            .map_err(|error| ApiError::internal(&error))?;
        let labels = format!("projection=\"{}\"", kind.name());
        text.line("minutebook_projection_seq", &labels, seq);
    }
    Ok(())
}

fn write_histogram(text: &mut Text, name: &str, help: &str, snapshot: &HistogramSnapshot) {
    text.head(name, "histogram", help);
    for (bound, count) in &snapshot.buckets {
        let bound = if bound.is_finite() {
            bound.to_string()
        } else {
            "+Inf".to_owned()
        };
        text.line(&format!("{name}_bucket"), &format!("le=\"{bound}\""), count);
    }
    text.line(&format!("{name}_sum"), "", snapshot.sum);
    text.line(&format!("{name}_count"), "", snapshot.count);
}

fn write_store(stats: &StoreStats, text: &mut Text) {
    let timings = [
        (
            "minutebook_store_commit_seconds",
            "Seconds per store commit: serialising, fsync and memtable.",
            &stats.commits,
        ),
        (
            "minutebook_store_head_seconds",
            "Seconds per head file, fsync included.",
            &stats.heads,
        ),
        (
            "minutebook_store_head_wait_seconds",
            "Seconds a commit waited for the head file of the one before.",
            &stats.head_waits,
        ),
    ];
    for (name, help, timing) in timings {
        write_timing(text, name, help, timing);
    }
    text.counter(
        "minutebook_store_compactions_total",
        "Compactions done.",
        stats.compactions_done,
    );
    text.counter(
        "minutebook_store_compaction_seconds_total",
        "Seconds spent compacting.",
        micros_to_seconds(stats.compaction_micros),
    );
    write_store_gauges(stats, text);
}

fn write_store_gauges(stats: &StoreStats, text: &mut Text) {
    let gauges = [
        (
            "minutebook_store_journals",
            "Journal files.",
            stats.journals,
        ),
        (
            "minutebook_store_journal_bytes",
            "Their bytes.",
            stats.journal_bytes,
        ),
        (
            "minutebook_store_disk_bytes",
            "Bytes on disk.",
            stats.disk_bytes,
        ),
        (
            "minutebook_store_memtable_bytes",
            "Bytes in memtables.",
            stats.memtable_bytes,
        ),
        (
            "minutebook_store_flushes_waiting",
            "Memtables waiting.",
            stats.flushes_waiting,
        ),
        (
            "minutebook_store_compactions_running",
            "Compactions.",
            stats.compactions_running,
        ),
        (
            "minutebook_store_cache_bytes",
            "Bytes in the block cache.",
            stats.cache_bytes,
        ),
        (
            "minutebook_store_cache_capacity_bytes",
            "Bytes it may have.",
            stats.cache_capacity,
        ),
        (
            "minutebook_store_spaces",
            "Spaces of derived rows.",
            stats.spaces,
        ),
    ];
    for (name, help, value) in gauges {
        text.gauge(name, help, value);
    }
}

fn write_timing(text: &mut Text, name: &str, help: &str, timing: &Timing) {
    let bounds = BUCKET_MICROS.map(micros_to_seconds);
    text.head(name, "histogram", help);
    text.histogram(
        name,
        &bounds,
        &timing.buckets,
        micros_to_seconds(timing.total_micros),
    );
}

//! What the HTTP server counts. Labels are routes and statuses, never rooms, agents or addresses.

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use parking_lot::Mutex;

/// Statuses with a counter of their own; anything else is counted as 0.
const STATUSES: [u16; 21] = [
    200, 201, 204, 206, 304, 307, 400, 401, 403, 404, 405, 408, 409, 410, 413, 429, 431, 500, 503,
    504, 0,
];
/// Upper bounds of the latency histogram, in microseconds.
const LATENCY_MICROS: [u64; 12] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 500_000, 2_500_000,
];

/// A route's counters.
#[derive(Debug)]
pub struct RouteMetrics {
    /// `GET`, `POST` …, or `*`.
    pub method: String,
    /// The path's template.
    pub path: String,
    by_status: [AtomicU64; STATUSES.len()],
}

impl RouteMetrics {
    /// Counts an answer.
    pub fn count(&self, status: u16) {
        let place = STATUSES.iter().position(|known| *known == status);
        if let Some(counter) = self.by_status.get(place.unwrap_or(STATUSES.len() - 1)) {
            counter.fetch_add(1, Relaxed);
        }
    }
}

/// All counters.
#[derive(Debug, Default)]
pub struct HttpMetrics {
    routes: Mutex<Vec<Arc<RouteMetrics>>>,
    latency: [AtomicU64; LATENCY_MICROS.len() + 1],
    latency_micros: AtomicU64,
    /// Open connections.
    pub connections: AtomicU64,
    /// Connections refused because their address has its share.
    pub refused: AtomicU64,
    /// Open event streams.
    pub streams: AtomicU64,
    /// Events handed to event streams.
    pub delivered: AtomicU64,
}

impl HttpMetrics {
    /// A new route's counters.
    pub fn route(&self, method: &str, path: &str) -> Arc<RouteMetrics> {
        let route = Arc::new(RouteMetrics {
            method: method.to_owned(),
            path: path.to_owned(),
            by_status: std::array::from_fn(|_| AtomicU64::new(0)),
        });
        self.routes.lock().push(Arc::clone(&route));
        route
    }

    /// Counts how long an answer took, up to its head.
    pub fn took(&self, time: Duration) {
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let place = LATENCY_MICROS.iter().position(|bound| micros <= *bound);
        if let Some(counter) = self.latency.get(place.unwrap_or(LATENCY_MICROS.len())) {
            counter.fetch_add(1, Relaxed);
        }
        self.latency_micros.fetch_add(micros, Relaxed);
    }

    /// Appends all of it in Prometheus' text format.
    pub fn write(&self, out: &mut Text) {
        out.head(
            "minutebook_http_requests_total",
            "counter",
            "Answers by route and status.",
        );
        for route in self.routes.lock().iter() {
            for (status, counter) in STATUSES.iter().zip(&route.by_status) {
                let count = counter.load(Relaxed);
                if count > 0 {
                    let (method, path) = (&route.method, &route.path);
                    out.line(
                        "minutebook_http_requests_total",
                        &format!("method=\"{method}\",route=\"{path}\",status=\"{status}\""),
                        count,
                    );
                }
            }
        }
        let bounds = LATENCY_MICROS.map(micros_to_seconds);
        let counts = self.latency.each_ref().map(|counter| counter.load(Relaxed));
        let sum = micros_to_seconds(self.latency_micros.load(Relaxed));
        out.head(
            "minutebook_http_seconds",
            "histogram",
            "Seconds until an answer's head.",
        );
        out.histogram("minutebook_http_seconds", &bounds, &counts, sum);
        let gauge = |counter: &AtomicU64| counter.load(Relaxed);
        out.gauge(
            "minutebook_http_connections",
            "Open connections.",
            gauge(&self.connections),
        );
        out.gauge(
            "minutebook_streams",
            "Open event streams.",
            gauge(&self.streams),
        );
        out.head(
            "minutebook_connections_refused_total",
            "counter",
            "Connections refused because their address has its share.",
        );
        out.line(
            "minutebook_connections_refused_total",
            "",
            gauge(&self.refused),
        );
        out.head(
            "minutebook_delivered_total",
            "counter",
            "Events handed to event streams.",
        );
        out.line("minutebook_delivered_total", "", gauge(&self.delivered));
    }
}

/// Microseconds as seconds.
#[expect(clippy::cast_precision_loss, reason = "a metric needs no 53 bits")]
pub fn micros_to_seconds(micros: u64) -> f64 {
    micros as f64 / 1e6
}

/// Prometheus' text format, being written.
#[derive(Debug, Default)]
pub struct Text(String);

impl Text {
    /// The text.
    pub fn into_string(self) -> String {
        self.0
    }

    /// A metric's two comment lines.
    pub fn head(&mut self, name: &str, kind: &str, help: &str) {
        writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}").ok();
    }

    /// One sample.
    pub fn line(&mut self, name: &str, labels: &str, value: impl std::fmt::Display) {
        if labels.is_empty() {
            writeln!(self.0, "{name} {value}").ok();
        } else {
            writeln!(self.0, "{name}{{{labels}}} {value}").ok();
        }
    }

    /// A gauge with no labels.
    pub fn gauge(&mut self, name: &str, help: &str, value: impl std::fmt::Display) {
        self.head(name, "gauge", help);
        self.line(name, "", value);
    }

    /// A counter with no labels.
    pub fn counter(&mut self, name: &str, help: &str, value: impl std::fmt::Display) {
        self.head(name, "counter", help);
        self.line(name, "", value);
    }

    /// A histogram's samples from counts that are not yet cumulative; one more count than bounds.
    pub fn histogram(&mut self, name: &str, bounds: &[f64], counts: &[u64], sum: f64) {
        let mut total = 0;
        for (place, count) in counts.iter().enumerate() {
            total += count;
            let bound = bounds.get(place).map_or("+Inf".to_owned(), f64::to_string);
            self.line(&format!("{name}_bucket"), &format!("le=\"{bound}\""), total);
        }
        self.line(&format!("{name}_sum"), "", sum);
        self.line(&format!("{name}_count"), "", total);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_come_out_in_prometheus_text() {
        let metrics = HttpMetrics::default();
        let route = metrics.route("GET", "/api/rooms/{id}");
        route.count(200);
        route.count(200);
        route.count(299);
        metrics.took(Duration::from_micros(300));
        metrics.took(Duration::from_secs(9));
        let mut text = Text::default();
        metrics.write(&mut text);
        let text = text.into_string();
        let labels = "method=\"GET\",route=\"/api/rooms/{id}\"";
        for line in [
            &format!("minutebook_http_requests_total{{{labels},status=\"200\"}} 2"),
            &format!("minutebook_http_requests_total{{{labels},status=\"0\"}} 1"),
            "minutebook_http_seconds_bucket{le=\"0.0005\"} 1",
            "minutebook_http_seconds_bucket{le=\"+Inf\"} 2",
            "minutebook_http_seconds_sum 9.0003",
            "minutebook_http_seconds_count 2",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} in\n{text}");
        }
    }
}

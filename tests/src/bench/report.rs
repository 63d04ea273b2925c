//! Printing of times.

use hdrhistogram::Histogram;

/// `p50 0.12 ms, p99 0.30 ms, max 4.10 ms` of microseconds.
pub fn times(histogram: &Histogram<u64>) -> String {
    #[expect(clippy::cast_precision_loss, reason = "milliseconds for people")]
    let ms = |micros: u64| micros as f64 / 1000.0;
    format!(
        "p50 {:.3} ms, p99 {:.3} ms, max {:.2} ms",
        ms(histogram.value_at_quantile(0.5)),
        ms(histogram.value_at_quantile(0.99)),
        ms(histogram.max())
    )
}

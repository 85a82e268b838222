//! Records numbers over time in bounded memory. This module depends on neither cells nor pictures.
//!
//! Time is divided into parts of equal length. Of each part, these time points are kept: the first, the last, and those
//! at which a number has its minimum or maximum in the part. If there are too many parts, adjacent parts are merged in
//! pairs.

/// The values at a time point.
#[derive(Clone, Debug, PartialEq)]
pub struct TracePoint {
    /// Time in steps since the start.
    pub time: u64,
    /// The values, in the order of the recorded numbers; a missing value is NaN.
    pub values: Vec<f64>,
}

/// A sequence of time points in bounded memory.
#[derive(Clone, Debug)]
pub struct CellTrace {
    parts: Vec<Vec<TracePoint>>,
    /// The length of a part, in steps.
    length: u64,
    /// True if a time point was dropped.
    is_thinned: bool,
}

impl Default for CellTrace {
    fn default() -> CellTrace {
        CellTrace::new()
    }
}

impl CellTrace {
    /// Maximum number of parts: the horizontal resolution of a picture.
    const PARTS: usize = 1024;

    /// Maximum number of time points that are returned in full. If there are more, each part returns only
    /// some of its time points.
    const WHOLE: usize = 8 * CellTrace::PARTS;

    /// Creates a sequence without time points.
    pub fn new() -> CellTrace {
        CellTrace { parts: Vec::new(), length: 1, is_thinned: false }
    }

    /// Adds a time point; times must not decrease.
    pub fn add(&mut self, time: u64, values: Vec<f64>) {
        while time / self.length >= CellTrace::PARTS as u64 {
            self.halve();
        }
        let part = (time / self.length) as usize;
        if self.parts.len() <= part {
            self.parts.resize_with(part + 1, Vec::new);
        }
        let width = values.len();
        let Some(time_points) = self.parts.get_mut(part) else { return };
        time_points.push(TracePoint { time, values });
        if time_points.len() > CellTrace::kept_of(width) * 4 {
            self.is_thinned |= thin(time_points);
        }
    }

    /// Returns all recorded time points, in order.
    pub fn time_points(mut self) -> Vec<TracePoint> {
        if !self.is_whole() {
            for part in &mut self.parts {
                thin(part);
            }
        }
        self.parts.into_iter().flatten().collect()
    }

    /// Returns true if every time point was kept, and there are at most `CellTrace::WHOLE` of them.
    pub fn is_whole(&self) -> bool {
        !self.is_thinned && self.parts.iter().map(Vec::len).sum::<usize>() <= CellTrace::WHOLE
    }

    /// Returns the maximum number of time points that a part keeps, if each has `width` values.
    fn kept_of(width: usize) -> usize {
        2 * width + 2
    }

    fn halve(&mut self) {
        let parts = std::mem::take(&mut self.parts);
        let mut parts = parts.into_iter();
        while let Some(mut first) = parts.next() {
            first.extend(parts.next().unwrap_or_default());
            let width = first.first().map_or(0, |time_point| time_point.values.len());
            self.is_thinned |= first.len() > CellTrace::kept_of(width) * 4 && thin(&mut first);
            self.parts.push(first);
        }
        self.length = self.length.saturating_mul(2);
    }
}

/// Removes time points of a part. Keeps the first and the last one, and those at which a number has its
/// minimum or maximum. Returns true if any were removed.
fn thin(time_points: &mut Vec<TracePoint>) -> bool {
    let width = time_points.first().map_or(0, |time_point| time_point.values.len());
    let before = time_points.len();
    if before <= CellTrace::kept_of(width) {
        return false;
    }
    let mut kept = vec![false; time_points.len()];
    let mut keep = |n: usize| kept.get_mut(n).into_iter().for_each(|kept| *kept = true);
    keep(0);
    keep(time_points.len() - 1);
    for number in 0..width {
        let value =
            |n: &usize| time_points.get(*n).and_then(|time_point| time_point.values.get(number).copied());
        let there = || (0..time_points.len()).filter(|n| value(n).is_some_and(|value| !value.is_nan()));
        let order =
            |a: &usize, b: &usize| value(a).unwrap_or(f64::NAN).total_cmp(&value(b).unwrap_or(f64::NAN));
        there().min_by(order).into_iter().for_each(&mut keep);
        there().max_by(order).into_iter().for_each(&mut keep);
    }
    let mut kept = kept.into_iter();
    time_points.retain(|_| kept.next().unwrap_or(false));
    time_points.len() < before
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_rows_are_kept_whole() {
        let mut trace = CellTrace::new();
        (0..1024).for_each(|time| trace.add(time, vec![time as f64]));
        assert!(trace.is_whole());
        assert_eq!(trace.time_points().len(), 1024);
    }

    #[test]
    fn long_rows_keep_their_peaks_in_little_memory() {
        let mut trace = CellTrace::new();
        let steps = 3_000_000;
        let peak = |time: u64| if time == 1_234_567 { 5.0 } else { (time as f64).sin() };
        (0..steps).for_each(|time| trace.add(time, vec![peak(time), -peak(time), f64::NAN]));
        assert!(!trace.is_whole());
        let time_points = trace.time_points();
        assert!(time_points.len() <= 1024 * 8, "{}", time_points.len());
        assert!(time_points.is_sorted_by_key(|time_point| time_point.time));
        assert!(
            time_points.iter().any(|time_point| time_point.time == 1_234_567 && time_point.values[0] == 5.0)
        );
        assert_eq!((time_points[0].time, time_points[time_points.len() - 1].time), (0, steps - 1));
    }
}

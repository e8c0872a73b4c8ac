//! The start and the end of a `.cpuprofile`, which old files give in seconds.

use cpu_prof_core::format::number::{PlainNumber, as_time};

/// The members of a file that tell its times.
#[derive(Debug, Default)]
pub struct ProfileTimes {
    /// Microseconds, or seconds in an old file.
    start: Option<f64>,
    /// Microseconds, or seconds in an old file.
    end: Option<f64>,
    /// Whether the file is an old one, with a tree of nodes within nodes.
    is_old: bool,
    /// Time of each sample, microseconds. Old files have these.
    pub timestamps: Vec<PlainNumber>,
}

impl ProfileTimes {
    /// Reads a member of the file's object.
    pub fn member(&mut self, key: &str, value: &[u8]) {
        let number = || str::from_utf8(value).ok()?.trim().trim_matches('"').parse().ok();
        match key {
            "startTime" => self.start = number(),
            "endTime" => self.end = number(),
            "head" => self.is_old = true,
            "timestamps" => self.timestamps = serde_json::from_slice(value).unwrap_or_default(),
            _ => {}
        }
    }

    /// Returns the start, microseconds; none if the file does not tell.
    pub fn start_us(&self) -> Option<i64> {
        // The seconds can be whole.
        self.timestamps.first().map(|time| time.0).or_else(|| self.micros(self.start))
    }

    /// Returns the end, microseconds; none if the file does not tell.
    pub fn end_us(&self) -> Option<i64> {
        self.timestamps.last().map(|time| time.0).or_else(|| self.micros(self.end))
    }

    fn micros(&self, time: Option<f64>) -> Option<i64> {
        const US_PER_S: f64 = 1e6;
        let us = time.map(|time| time * if self.is_old { US_PER_S } else { 1.0 });
        us.and_then(as_time).map(|us| us.round() as i64)
    }
}

//! Times of samples, which never run back.

/// Turns the times of samples into the time between them. Where V8's samples run back, they are
/// moved to the time of the sample before.
#[derive(Debug, Clone, Copy)]
pub struct Timeline {
    last_us: i64,
}

impl Timeline {
    /// Returns a line that starts at `start_us`.
    pub fn new(start_us: i64) -> Self {
        Self { last_us: start_us }
    }

    /// Moves on to a sample. Returns the time since the last sample, or the start: microseconds.
    pub fn delta(&mut self, time_us: i64) -> i64 {
        let delta = time_us.saturating_sub(self.last_us).max(0);
        self.last_us += delta;
        delta
    }

    /// Returns the time of the last sample, or the start: microseconds.
    pub fn last_us(&self) -> i64 {
        self.last_us
    }
}

/// Turns the written times between samples into times. Written times can run back, and go on from
/// there.
#[derive(Debug, Clone, Copy)]
pub struct WrittenTimeline {
    written_us: i64,
    timeline: Timeline,
}

impl WrittenTimeline {
    /// Returns a line that starts at `start_us`.
    pub fn new(start_us: i64) -> Self {
        Self { written_us: start_us, timeline: Timeline::new(start_us) }
    }

    /// Moves on to a sample `delta_us` after the last. Returns the time of the sample,
    /// microseconds.
    pub fn sample(&mut self, delta_us: i64) -> i64 {
        self.written_us = self.written_us.saturating_add(delta_us);
        self.move_to(self.written_us)
    }

    /// Moves the written time from which the next sample counts, microseconds.
    pub fn run_back(&mut self, us: i64) {
        self.written_us = self.written_us.saturating_add(us);
    }

    /// Moves on to a time that is not a sample's, unless the time is earlier. Returns the time of
    /// the line, microseconds.
    pub fn move_to(&mut self, time_us: i64) -> i64 {
        self.timeline.delta(time_us);
        self.timeline.last_us()
    }

    /// Returns the time of the last sample, or the start: microseconds.
    pub fn last_us(&self) -> i64 {
        self.timeline.last_us()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_never_runs_back() {
        let mut timeline = Timeline::new(100);
        assert_eq!([90, 110, 105, 120].map(|time| timeline.delta(time)), [0, 10, 0, 10]);
        assert_eq!(timeline.last_us(), 120);
    }

    #[test]
    fn written_times_go_on_from_where_they_ran_back_to() {
        let mut timeline = WrittenTimeline::new(100);
        assert_eq!([10, -5, 3, 4].map(|delta| timeline.sample(delta)), [110, 110, 110, 112]);
        assert_eq!(timeline.move_to(50), 112);
        assert_eq!(timeline.move_to(130), 130);
        // The written times still count from 112.
        assert_eq!([10, 10].map(|delta| timeline.sample(delta)), [130, 132]);
        assert_eq!(timeline.last_us(), 132);
    }
}

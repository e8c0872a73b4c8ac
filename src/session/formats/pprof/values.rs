//! Which of a file's values are times of work, and what a sample lasts.

use std::fmt::Write as _;

use crate::formats::stack_tables::CPU;

/// A sample type: name and unit.
pub(super) type SampleType = (String, String);

const SECOND: u64 = 1_000_000_000;
/// The longest period of a file whose length is not known, nanoseconds.
const MAX_PERIOD: u64 = 60 * SECOND;
/// The shortest period that can be wrong, nanoseconds: a program can end before its first sample is due.
const LONG_PERIOD: u64 = SECOND;
/// The most threads that are sampled at a time. With more, their times are wrong.
const MAX_THREADS: u64 = 1024;
/// The period of most profilers, nanoseconds.
const USUAL_PERIOD: u64 = 10_000_000;

/// What a file tells of the time between two samples.
#[derive(Debug, Clone, Copy)]
pub(super) struct Period<'a> {
    pub number: i64,
    pub unit: &'a str,
    /// Length of the file, nanoseconds; 0 if the file does not tell.
    pub length_nanos: u64,
}

impl Period<'_> {
    /// Returns the period, nanoseconds; 0 if it is not one of time.
    fn told_nanos(self) -> u64 {
        let nanos = nanos_of(self.unit).unwrap_or(0);
        u64::try_from(self.number).unwrap_or(0).saturating_mul(nanos)
    }

    /// Returns the period, nanoseconds; 0 if it is not known or not plausible.
    fn nanos(self) -> u64 {
        let most = match self.length_nanos {
            0 => MAX_PERIOD,
            length => length.max(LONG_PERIOD),
        };
        Some(self.told_nanos()).filter(|nanos| *nanos <= most).unwrap_or(0)
    }

    /// Returns how many nanoseconds each of `count` samples counts for, and whether the file tells that.
    fn nanos_of_sample(self, count: u64) -> (u64, bool) {
        let (nanos, length) = (self.nanos(), self.length_nanos);
        let most = length.max(LONG_PERIOD);
        let is_too_long = length > 0 && nanos.saturating_mul(count) / MAX_THREADS > most;
        match (nanos, length.checked_div(count)) {
            (1.., _) if !is_too_long => (nanos, true),
            (_, Some(share @ 1..)) => (share, false),
            _ => (USUAL_PERIOD, false),
        }
    }
}

/// What the values of a file's samples mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ValueMeaning {
    /// Index of the value that is the time of work.
    time: usize,
    /// How many nanoseconds its unit has.
    nanos: u64,
    /// Index of the value that is the time in all states, in nanoseconds.
    wall: Option<usize>,
    /// Index of the value that counts samples.
    count: Option<usize>,
    /// Time between two samples, nanoseconds; 0 if the file does not tell.
    period_nanos: u64,
    /// Whether the times of samples are guessed: the file does not tell them.
    is_guessed: bool,
}

/// The values of a sample.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct KnownValues {
    pub samples: u64,
    /// Time of work, nanoseconds.
    pub work_nanos: u64,
    /// Time in other states, nanoseconds.
    pub other_nanos: u64,
}

impl ValueMeaning {
    /// Chooses the values to read: those of the default type, of CPU time, of wall time, of another time,
    /// or counts of samples with their period. Files of ours have all times. `sum` returns the sum of the values
    /// with an index. The error ends a sentence that begins with the file.
    pub(super) fn of(
        types: &[SampleType],
        default: &str,
        period: Period<'_>,
        is_ours: bool,
        sum: impl FnOnce(usize) -> Result<u64, String>,
    ) -> Result<Self, String> {
        let named = |name: &str| types.iter().position(|(known, _)| known == name);
        // Go's profiles of locks, and those of async-profiler.
        if named("contentions").is_some() && named(CPU).is_none() {
            return Err(CONTENTIONS.to_owned());
        }
        let timed = |index: &usize| nanos_of(&types[*index].1).is_some();
        let is_count = |(name, unit): &SampleType| unit == "count" && counts_samples(name);
        let count = types.iter().position(is_count);
        let chosen = [default, CPU, "wall"].into_iter().filter_map(named).find(timed);
        let time = chosen.or_else(|| (0..types.len()).find(timed));
        let wall = named("wall").filter(|_| is_ours).filter(timed);
        if let Some((time, nanos)) = time.and_then(|time| Some((time, nanos_of(&types[time].1)?))) {
            let period_nanos = period.nanos();
            return Ok(Self { time, nanos, wall, count, period_nanos, is_guessed: false });
        }
        let time = count.ok_or_else(|| no_times(types))?;
        let (nanos, is_told) = period.nanos_of_sample(sum(time)?);
        let period_nanos = if is_told { nanos } else { 0 };
        Ok(Self { time, nanos, wall, count, period_nanos, is_guessed: !is_told })
    }

    /// Returns what a user should know about the times.
    pub(super) fn note(&self) -> Option<String> {
        let ms = (self.nanos / 1000) as f64 / 1e3;
        self.is_guessed.then(|| {
            format!(
                "the file only counts samples, and has no plausible period: {ms} ms are taken for each, \
                 so shares are true, and times are not"
            )
        })
    }

    /// Returns the time between two samples: microseconds.
    pub(super) fn interval_us(&self) -> Option<i64> {
        i64::try_from(self.period_nanos / 1000).ok().filter(|us| *us > 0)
    }

    /// Returns the values of a sample. Differences of two profiles have values below 0, which count as 0.
    pub(super) fn read(&self, values: &[i64]) -> KnownValues {
        let value = |index: usize| u64::try_from(values.get(index).copied().unwrap_or(0));
        let value = |index: usize| value(index).unwrap_or(0);
        let work_nanos = value(self.time).saturating_mul(self.nanos);
        let wall_nanos = self.wall.map_or(work_nanos, value);
        let samples = match self.count {
            Some(count) => value(count),
            None => work_nanos.checked_div(self.period_nanos).unwrap_or(1).max(1),
        };
        KnownValues { samples, work_nanos, other_nanos: wall_nanos.saturating_sub(work_nanos) }
    }
}

/// Returns whether a type of this name counts the samples of a profile of time: perf's event is before `_sample`.
fn counts_samples(name: &str) -> bool {
    matches!(name, "samples" | "sample" | "cpu" | "cpu-samples" | "cpu_samples")
        || name.ends_with("_sample")
}

/// Returns how many nanoseconds a unit has; none if it is not one of time.
fn nanos_of(unit: &str) -> Option<u64> {
    Some(match unit {
        "nanoseconds" | "nanosecond" | "ns" => 1,
        "microseconds" | "microsecond" | "us" | "\u{b5}s" => 1000,
        "milliseconds" | "millisecond" | "ms" => 1_000_000,
        "seconds" | "second" | "s" => 1_000_000_000,
        _ => return None,
    })
}

/// Why a profile of blocked calls is refused: its times would count as work.
const CONTENTIONS: &str = "the pprof file is a block or mutex profile: its times are those of waiting for locks, and not \
                           of work; give a profile of CPU or wall time";

fn no_times(types: &[SampleType]) -> String {
    let is_memory = |(name, unit): &SampleType| {
        unit == "bytes" || name.contains("alloc") || name.contains("inuse")
    };
    let mut text = match types.iter().any(is_memory) {
        true => "the pprof file is a heap profile, and has no times".to_owned(),
        false => "the pprof file has no times".to_owned(),
    };
    for (index, (name, unit)) in types.iter().take(9).enumerate() {
        let before = if index == 0 { ": its values are " } else { ", " };
        // Writing to a string cannot fail.
        let _ = write!(text, "{before}{name}/{unit}");
    }
    text.push_str("; give a profile of CPU or wall time");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(
        types: &[(&str, &str)],
        default: &str,
        period: (i64, &str),
    ) -> Result<KnownValues, String> {
        let types: Vec<SampleType> =
            types.iter().map(|(name, unit)| ((*name).to_owned(), (*unit).to_owned())).collect();
        let period = Period { number: period.0, unit: period.1, length_nanos: 0 };
        Ok(ValueMeaning::of(&types, default, period, false, |_| Ok(3))?.read(&[3, 50, 70]))
    }

    fn known(samples: u64, work_nanos: u64) -> KnownValues {
        KnownValues { samples, work_nanos, other_nanos: 0 }
    }

    #[test]
    fn the_default_or_cpu_or_wall_time_is_read() {
        let go = [("samples", "count"), ("cpu", "nanoseconds")];
        assert_eq!(of(&go, "", (10, "nanoseconds")), Ok(known(3, 50)));
        let both = [("sample", "count"), ("wall", "nanoseconds"), ("cpu", "nanoseconds")];
        assert_eq!(of(&both, "", (1, "nanoseconds")), Ok(known(3, 70)));
        assert_eq!(of(&both, "wall", (1, "nanoseconds")), Ok(known(3, 50)));
        let other = [("delay", "milliseconds")];
        assert_eq!(of(&other, "", (1, "ms")), Ok(known(3, 3_000_000)));
        assert_eq!(of(&other, "", (0, "")), Ok(known(1, 3_000_000)));
    }

    #[test]
    fn counts_of_samples_have_the_time_of_their_period() {
        let pyroscope = [("samples", "count")];
        assert_eq!(of(&pyroscope, "", (10, "milliseconds")), Ok(known(3, 30_000_000)));
        // Rust's pprof has counts alone in old versions.
        assert_eq!(of(&[("cpu", "count")], "", (0, "")), Ok(known(3, 30_000_000)));
        let perf = [("cycles_sample", "count"), ("cycles_event", "count")];
        assert_eq!(of(&perf, "", (0, "")), Ok(known(3, 30_000_000)));
        let goroutines = of(&[("goroutine", "count")], "", (1, "count")).unwrap_err();
        assert!(goroutines.contains("goroutine/count"), "{goroutines}");
        let heap = [("inuse_objects", "count"), ("inuse_space", "bytes")];
        let error = of(&heap, "inuse_space", (524_288, "bytes")).unwrap_err();
        assert!(error.contains("inuse_objects/count, inuse_space/bytes"), "{error}");
        assert!(of(&[], "", (0, "")).unwrap_err().contains("no times;"));
        let mutex = [("contentions", "count"), ("delay", "nanoseconds")];
        assert!(of(&mutex, "", (1, "count")).unwrap_err().contains("mutex profile"));
    }

    #[test]
    fn implausible_periods_are_not_used() {
        let nanos = |number: i64, unit: &'static str, length_s: u64, count| {
            Period { number, unit, length_nanos: length_s * SECOND }.nanos_of_sample(count)
        };
        // A sample of 11 days in a file of 5 s.
        let millis = "milliseconds";
        assert_eq!(nanos(1_000_000_000, millis, 5, 100), (50_000_000, false));
        assert_eq!(nanos(1_000_000_000, millis, 0, 100), (USUAL_PERIOD, false));
        assert_eq!(nanos(1_000_000_000, millis, 5, 0), (USUAL_PERIOD, false));
        // A second fits into the file, and its samples do not.
        assert_eq!(nanos(1000, millis, 5, 100_000), (50_000, false));
        assert_eq!(nanos(1000, millis, 5, 1000), (SECOND, true));
        // Many threads have more time than the file, and a short program has less than a sample.
        assert_eq!(nanos(10, millis, 5, 32_000), (10_000_000, true));
        assert_eq!(nanos(100, millis, 1, 1), (100_000_000, true));
        // Hertz are no time.
        assert_eq!(nanos(100, "hertz", 5, 100), (50_000_000, false));
        assert_eq!(nanos(100, "hertz", 0, 100), (USUAL_PERIOD, false));
        // A length that is too short for its unit says nothing of threads.
        let short = Period { number: 10, unit: millis, length_nanos: 5000 };
        assert_eq!(short.nanos_of_sample(100), (10_000_000, true));
        assert_eq!(nanos(i64::MAX, "s", 5, u64::MAX), (USUAL_PERIOD, false));
    }

    #[test]
    fn a_time_is_read_without_an_implausible_period() {
        let types = [("cpu".to_owned(), "ms".to_owned())];
        let period = Period { number: 1 << 50, unit: "ms", length_nanos: 5 * SECOND };
        let meaning = ValueMeaning::of(&types, "", period, false, |_| Ok(0)).unwrap();
        assert_eq!(meaning.read(&[7]), known(1, 7_000_000));
        assert_eq!((meaning.interval_us(), meaning.note()), (None, None));
    }

    #[test]
    fn differences_and_missing_values_count_as_0() {
        let types = [("cpu".to_owned(), "s".to_owned())];
        let period = Period { number: i64::MIN, unit: "s", length_nanos: 0 };
        let meaning = ValueMeaning::of(&types, "", period, false, |_| Ok(0)).unwrap();
        assert_eq!(meaning.read(&[-5]), known(1, 0));
        assert_eq!(meaning.read(&[]), known(1, 0));
        assert_eq!(meaning.read(&[i64::MAX]).work_nanos, u64::MAX);
    }
}

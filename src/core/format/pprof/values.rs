//! Which of a file's values are times of work.

use std::fmt::Write as _;

use crate::format::stack_tables::CPU;

/// A sample type: name and unit.
pub(super) type SampleType = (String, String);

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
    /// or counts of samples with their period. Files of ours have all times. The error ends a sentence that
    /// begins with the file.
    pub(super) fn of(
        types: &[SampleType],
        default: &str,
        period: (i64, &SampleType),
        is_ours: bool,
    ) -> Result<Self, String> {
        let named = |name: &str| types.iter().position(|(known, _)| known == name);
        let timed = |index: &usize| nanos_of(&types[*index].1).is_some();
        let period_nanos = nanos_of(&period.1.1).unwrap_or(0);
        let period_nanos = u64::try_from(period.0).unwrap_or(0).saturating_mul(period_nanos);
        let count = ["samples", "sample"].into_iter().find_map(named);
        let count = count.filter(|index| types[*index].1 == "count");
        let chosen = [default, CPU, "wall"].into_iter().filter_map(named).find(timed);
        let time = chosen.or_else(|| (0..types.len()).find(timed));
        let wall = named("wall").filter(|_| is_ours).filter(timed);
        if let Some((time, nanos)) = time.and_then(|time| Some((time, nanos_of(&types[time].1)?))) {
            return Ok(Self { time, nanos, wall, count, period_nanos });
        }
        match count.filter(|_| period_nanos > 0) {
            Some(time) => Ok(Self { time, nanos: period_nanos, wall, count, period_nanos }),
            None => Err(no_times(types)),
        }
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

fn no_times(types: &[SampleType]) -> String {
    let mut text = "the pprof file has no times".to_owned();
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
        let period = (period.0, &(String::new(), period.1.to_owned()));
        Ok(ValueMeaning::of(&types, default, period, false)?.read(&[3, 50, 70]))
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
        let error = of(&pyroscope, "", (0, "")).unwrap_err();
        assert!(error.contains("samples/count"), "{error}");
        let heap = [("inuse_objects", "count"), ("inuse_space", "bytes")];
        let error = of(&heap, "inuse_space", (524_288, "bytes")).unwrap_err();
        assert!(error.contains("inuse_objects/count, inuse_space/bytes"), "{error}");
        assert!(of(&[], "", (0, "")).unwrap_err().contains("no times;"));
    }

    #[test]
    fn differences_and_missing_values_count_as_0() {
        let types = [("cpu".to_owned(), "s".to_owned())];
        let period = (i64::MIN, &types[0]);
        let meaning = ValueMeaning::of(&types, "", period, false).unwrap();
        assert_eq!(meaning.read(&[-5]), known(1, 0));
        assert_eq!(meaning.read(&[]), known(1, 0));
        assert_eq!(meaning.read(&[i64::MAX]).work_nanos, u64::MAX);
    }
}

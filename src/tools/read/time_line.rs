//! The time line that limits of time count on. Reports, conversions and merges ask here, so that one
//! limit is one moment for all.

use super::file::open;
use super::group::{ClockFacts, are_apart, find_clocks};
use super::sniff::{RecordingFile, SniffedFile, sniff};
use cpu_prof_core::files::input::Input;
use cpu_prof_core::format::trace::event_names::{PROFILE_EVENTS, WHOLE_PROFILE};
use cpu_prof_core::profile::read_scope::ReadScope;
use cpu_prof_session::formats::trace::event::event_times::{EventSpan, TraceTimes};
use cpu_prof_session::formats::trace::read::TraceReader;
use cpu_prof_session::formats::trace::scan::SoundItem;
use cpu_prof_session::model::Clock;
use cpu_prof_session::model::frame_table::FrameTable;

/// The times of all inputs.
#[derive(Debug, Default)]
pub struct InputTimes {
    /// Recorded processes, also those in merged traces.
    pub recorded: Vec<ClockFacts>,
    /// Traces of other tools.
    pub others: Vec<OtherTimes>,
}

/// The times of the processes of another tool's trace.
#[derive(Debug, Default)]
pub struct OtherTimes {
    span: EventSpan,
    /// Whether a process has times that count from 0.
    has_zero: bool,
    /// Count of profiles.
    recordings: usize,
}

impl InputTimes {
    /// Adds the times of a trace that is not a recording.
    pub fn trace(&mut self, times: TraceTimes) {
        let mut others = OtherTimes { recordings: times.recordings, ..OtherTimes::default() };
        for (process, span) in times.processes() {
            match (process, span.get()) {
                (Some(process), Some((start_us, end_us))) => self.recorded.push(ClockFacts {
                    boot: process.boot,
                    start_us,
                    end_us,
                    wall_zero_us: None,
                    recordings: process.threads.len(),
                    trace: None,
                }),
                _ => others.add(span),
            }
        }
        self.others.push(others);
    }

    /// Returns the start and the end of the time line, microseconds: of the recordings by the clock
    /// of most, and of the other traces that are not far from all recordings. Without recordings, the
    /// other traces have clocks too.
    pub fn line(&self) -> Option<(i64, i64)> {
        let (clocks, _) = find_clocks(&self.recorded);
        let Some(main) = clocks.first() else {
            let others: Vec<_> = self.others.iter().filter_map(OtherTimes::clock_facts).collect();
            let (clocks, _) = find_clocks(&others);
            return clocks.first().map(|clock| (clock.start_us, clock.end_us));
        };
        let recorded_us: Vec<_> =
            self.recorded.iter().map(|one| (one.start_us, one.end_us)).collect();
        let is_near = |span: &(i64, i64)| {
            !is_far(span.0, &recorded_us) && recorded_us.iter().any(|one| !are_apart(*one, *span))
        };
        let near = self.others.iter().filter_map(|one| one.span.get()).filter(is_near);
        let all = near.chain([(main.start_us, main.end_us)]);
        all.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
    }

    /// Gives a clock the start and the end of the time line, unless they are another clock's.
    pub fn set(&self, clock: &mut Clock) {
        if let Some((start_us, end_us)) = self.line()
            && clock.start_us <= end_us
            && start_us <= clock.end_us
        {
            (clock.start_us, clock.end_us) = (start_us, end_us);
        }
    }

    /// Returns whether events at 0 have a time: the times count from 0, or no event has another.
    pub fn has_zero(&self) -> bool {
        self.recorded.is_empty() && self.others.iter().any(|one| one.has_zero)
    }
}

impl OtherTimes {
    fn add(&mut self, span: EventSpan) {
        self.span.join(span);
        self.has_zero |= span.is_from_zero();
    }

    fn clock_facts(&self) -> Option<ClockFacts> {
        let (start_us, end_us) = self.span.get()?;
        let recordings = self.recordings;
        Some(ClockFacts {
            boot: None,
            start_us,
            end_us,
            wall_zero_us: None,
            recordings,
            trace: None,
        })
    }
}

/// Returns whether a time is far from all recordings, by their starts and ends: microseconds. Some
/// tools count from their own start, others by the clock of another machine.
pub(crate) fn is_far(ts: i64, recorded_us: &[(i64, i64)]) -> bool {
    const MINUTE_US: i64 = 60_000_000;
    const HOUR_US: i64 = 60 * MINUTE_US;
    let is_near = |(start_us, end_us): &(i64, i64)| {
        // A system that started a while ago has no times near 0.
        let is_from_zero = ts < MINUTE_US && *start_us > 2 * MINUTE_US;
        let near = start_us.saturating_sub(HOUR_US)..=end_us.saturating_add(HOUR_US);
        near.contains(&ts) && !is_from_zero
    };
    !recorded_us.is_empty() && !recorded_us.iter().any(is_near)
}

/// Finds the time line of inputs. Reads no more than the heads of events and the profiles of other
/// tools, and of finished recordings only the start and the end.
pub(crate) fn find_time_line(inputs: &[Input]) -> Option<(i64, i64)> {
    find_times(inputs).line()
}

/// Finds the times of inputs, as `find_time_line` does.
pub(crate) fn find_times<'a>(inputs: impl IntoIterator<Item = &'a Input>) -> InputTimes {
    let mut times = InputTimes::default();
    for (index, input) in inputs.into_iter().enumerate() {
        match sniff(index, input) {
            Ok(SniffedFile::Recording(recording)) => times.recorded.push(facts(&recording, input)),
            Ok(SniffedFile::Other { .. }) => times.trace(trace_times(input)),
            Err(_) => {}
        }
    }
    times
}

fn facts(recording: &RecordingFile, input: &Input) -> ClockFacts {
    let last_us = || {
        let times = trace_times(input);
        times.processes().filter_map(|(_, span)| Some(span.get()?.1)).max()
    };
    let end_us = recording.end_us.or_else(last_us).unwrap_or(recording.start_us);
    recording.clock_facts(end_us.max(recording.start_us))
}

/// Reads the times of all events, and those of samples. In a trace of ours, each part of a profile has
/// the time of its end.
fn trace_times(input: &Input) -> TraceTimes {
    let mut times = TraceTimes::default();
    let Ok(mut items) = open(input) else { return times };
    let (mut profiles, mut frames) = (TraceReader::new(ReadScope::NOTHING), FrameTable::new());
    loop {
        let is_ours = items.is_ours();
        match items.next() {
            Ok(Some(SoundItem::Event { text, head })) => {
                times.event(head, text);
                let name = head.name(text);
                let is_other_part = !is_ours && PROFILE_EVENTS.contains(&name);
                if is_other_part || name == WHOLE_PROFILE {
                    profiles.event(text, head, is_ours, &mut frames);
                }
            }
            Ok(Some(SoundItem::Member { key, value })) => times.member(key, value),
            Ok(None) | Err(_) => break,
        }
    }
    times.join(profiles.finish_with_times().1);
    times
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpu_prof_session::formats::trace::event::head::EventHead;

    const SECOND: i64 = 1_000_000;
    const HOUR: i64 = 3600 * SECOND;

    fn recording(start_us: i64, end_us: i64) -> ClockFacts {
        ClockFacts {
            boot: Some("a".into()),
            start_us,
            end_us,
            wall_zero_us: None,
            recordings: 1,
            trace: None,
        }
    }

    fn span(events: &[(i64, i64)]) -> EventSpan {
        let mut span = EventSpan::default();
        events.iter().for_each(|(ts, dur)| span.add(*ts, *dur));
        span
    }

    fn line(recorded: &[ClockFacts], others: &[EventSpan]) -> Option<(i64, i64)> {
        let other = |span: &EventSpan| {
            let mut other = OtherTimes::default();
            other.add(*span);
            other
        };
        let others = others.iter().map(other).collect();
        InputTimes { recorded: recorded.to_vec(), others }.line()
    }

    #[test]
    fn traces_of_the_time_of_the_recordings_belong_to_the_time_line() {
        let recorded = [recording(9 * HOUR, 9 * HOUR + SECOND)];
        let line = |others: &[EventSpan]| line(&recorded, others).unwrap();
        assert_eq!(line(&[]), (9 * HOUR, 9 * HOUR + SECOND));
        let near = span(&[(9 * HOUR - SECOND, 0), (9 * HOUR, 3 * SECOND)]);
        assert_eq!(line(&[near]), (9 * HOUR - SECOND, 9 * HOUR + 3 * SECOND));
        let far = [span(&[(0, 0), (5, 0)]), span(&[(20 * HOUR, 0)]), span(&[(SECOND, 0)])];
        assert_eq!(line(&far), (9 * HOUR, 9 * HOUR + SECOND));
    }

    #[test]
    fn without_recordings_all_events_belong_to_the_time_line() {
        let others = [span(&[(0, 0), (5, 10)]), span(&[(7, 1)]), span(&[])];
        assert_eq!(line(&[], &others), Some((0, 15)));
        // Some events of a system's clock have no time, and 0 in its place.
        assert_eq!(line(&[], &[span(&[(0, 0), (HOUR, 0)])]), Some((HOUR, HOUR)));
        assert_eq!(line(&[], &[span(&[])]), None);
    }

    #[test]
    fn the_machines_of_a_merged_trace_have_time_lines_of_their_own() {
        let mut times = TraceTimes::default();
        for (pid, ts) in [(1, 9 * HOUR), (1, 9 * HOUR + SECOND), (2, 9 * HOUR + 2 * SECOND), (3, 5)]
        {
            let event = format!("{{\"name\":\"x\",\"ph\":\"I\",\"pid\":{pid},\"ts\":{ts}}}");
            times.event(&EventHead::of_any(event.as_bytes()).unwrap(), event.as_bytes());
        }
        let facts = r#"{"cpu-prof":{"processes":[{"pid":1,"boot":"a","threads":[0]},
            {"pid":2,"boot":"a","threads":[0]},{"pid":3,"boot":"b","threads":[0]}]}}"#;
        times.member("metadata", facts.as_bytes());
        let mut inputs = InputTimes::default();
        inputs.trace(times);
        assert_eq!(inputs.line(), Some((9 * HOUR, 9 * HOUR + 2 * SECOND)));
    }
}

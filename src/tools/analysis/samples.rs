//! The samples of a profile as spans, with those in which the thread was not on a core told apart.

use cpu_prof_core::profile::off_core::OffCore;
use cpu_prof_session::model::thinner::{Thinned, Thinner};
use cpu_prof_session::model::thread_profile::{NONE, ThreadProfile};

/// A node and a line that a thread had reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PageSample {
    /// Index of the profile's node; [`NONE`] where nothing was recorded.
    pub node: u32,
    /// Line from 1; 0 for none.
    pub line: u32,
    /// Why the thread was not on a core; none for a thread that worked or waited for events.
    pub off_core: Option<OffCore>,
}

/// A time in which a thread had one sample after the other of the same node and line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SampleSpan {
    pub sample: PageSample,
    /// Length, microseconds.
    pub us: i64,
}

/// A time in which nothing was recorded.
const PAUSE: PageSample = PageSample { node: NONE, line: 0, off_core: None };

impl Thinned for PageSample {
    type Node = (u32, Option<OffCore>);

    fn node(&self) -> Self::Node {
        (self.node, self.off_core)
    }

    fn line(&self) -> u32 {
        self.line
    }

    fn is_pause(&self) -> bool {
        self.node == NONE
    }
}

/// Returns the spans of a profile from its start to its end, with at most one for each interval, if
/// there is an interval.
pub fn spans(profile: &ThreadProfile, interval_us: Option<i64>) -> Vec<SampleSpan> {
    let mut samples = timed_samples(profile);
    if let Some(interval_us) = interval_us {
        let mut thinner = Thinner::new(interval_us);
        let mut thinned = Vec::new();
        for (sample, time_us) in samples {
            thinner.sample(sample, time_us, &mut thinned);
        }
        thinner.end_at(profile.end_us, &mut thinned);
        samples = thinned;
    }
    let mut spans: Vec<SampleSpan> = Vec::new();
    for (index, (sample, from_us)) in samples.iter().enumerate() {
        let to_us = samples.get(index + 1).map_or(profile.end_us, |(_, next_us)| *next_us);
        let us = to_us.saturating_sub(*from_us).max(0);
        match spans.last_mut() {
            Some(last) if last.sample == *sample => last.us += us,
            _ if us > 0 => spans.push(SampleSpan { sample: *sample, us }),
            _ => {}
        }
    }
    spans
}

/// A part of a sample, in one state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SamplePart {
    pub sample: PageSample,
    /// Index of the profile's sample.
    pub number: usize,
    /// Start, microseconds.
    pub from_us: i64,
    /// End, microseconds: later than the start.
    pub to_us: i64,
}

/// Calls `take` with each part of each sample within a profile, in order, without the times in which nothing
/// was recorded. A profile that only counts samples has no parts.
pub fn each_part(profile: &ThreadProfile, mut take: impl FnMut(SamplePart)) {
    let mut last: Option<SamplePart> = None;
    let mut add = |next: Option<SamplePart>, at_us: i64| {
        let ended = std::mem::replace(&mut last, next);
        let to_us = at_us.min(profile.end_us);
        if let Some(part) = ended.filter(|part| part.from_us < to_us && part.sample.node != NONE) {
            take(SamplePart { to_us, ..part });
        }
    };
    each_start(profile, |sample, number, from_us| {
        add(Some(SamplePart { sample, number, from_us, to_us: from_us }), from_us);
    });
    add(None, profile.end_us);
}

/// Returns samples with their times, from the profile's start on.
fn timed_samples(profile: &ThreadProfile) -> Vec<(PageSample, i64)> {
    if profile.samples.is_empty() {
        return with_known_times(profile);
    }
    let mut list = Vec::with_capacity(profile.samples.len() + 1);
    let starts_late = profile.samples.first().is_some_and(|first| first.time_us > profile.start_us);
    if starts_late {
        list.push((PAUSE, profile.start_us));
    }
    each_start(profile, |sample, _, at_us| list.push((sample, at_us)));
    list
}

/// Calls `take` with each sample, its index and its start, from the profile's start on, and again where the
/// thread leaves or gets a core.
fn each_start(profile: &ThreadProfile, mut take: impl FnMut(PageSample, usize, i64)) {
    let mut off_core = profile.off_core.iter().peekable();
    let mut samples = profile.samples.iter().enumerate().peekable();
    while let Some((index, sample)) = samples.next() {
        let mut at_us = sample.time_us.max(profile.start_us);
        // Of a slice, all samples are kept.
        let next_us = samples.peek().map_or(profile.end_us, |(_, next)| next.time_us);
        let end_us = next_us.min(profile.end_us);
        if sample.node == NONE {
            if at_us < end_us {
                take(PAUSE, index, at_us);
            }
            continue;
        }
        let sample = PageSample { node: sample.node, line: sample.position.line, off_core: None };
        while at_us < end_us {
            while off_core.next_if(|span| span.to_us <= at_us).is_some() {}
            let next = off_core.peek().copied();
            let current = next.filter(|span| span.from_us <= at_us);
            take(PageSample { off_core: current.map(|span| span.state), ..sample }, index, at_us);
            let change_us = current.map(|span| span.to_us).or(next.map(|span| span.from_us));
            at_us = change_us.unwrap_or(i64::MAX);
        }
    }
}

/// Returns a sample for each node with time, of a profile that counts samples without their times.
fn with_known_times(profile: &ThreadProfile) -> Vec<(PageSample, i64)> {
    let mut at_us = profile.start_us;
    let mut list = Vec::new();
    for (node, times) in (0_u32..).zip(profile.all_times()) {
        if times.self_us > 0 {
            list.push((PageSample { node, line: 0, off_core: None }, at_us));
            at_us = at_us.saturating_add_unsigned(times.self_us);
        }
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpu_prof_core::profile::position::SourcePosition;
    use cpu_prof_session::model::lists::sample_list::ProfileSample;
    use cpu_prof_session::model::thread_profile::{OffCoreSpan, ProfileNode};

    fn profile(samples: &[(u32, u32, i64)], off_core: &[(i64, i64, OffCore)]) -> ThreadProfile {
        let span = |(from_us, to_us, state): &_| OffCoreSpan {
            from_us: *from_us,
            to_us: *to_us,
            node: 0,
            state: *state,
        };
        let samples = samples.iter().map(|(node, line, time_us)| ProfileSample {
            time_us: *time_us,
            node: *node,
            position: SourcePosition::line(*line),
        });
        ThreadProfile {
            start_us: 100,
            end_us: 200,
            samples: samples.collect(),
            off_core: off_core.iter().map(span).collect(),
            ..ThreadProfile::default()
        }
    }

    const WORK: Option<OffCore> = None;
    const BLOCKED: Option<OffCore> = Some(OffCore::Blocked);
    const WAITING: Option<OffCore> = Some(OffCore::Waiting);

    /// Node, line, state and length of a span.
    type Span = (u32, u32, Option<OffCore>, i64);

    fn found(profile: &ThreadProfile, interval_us: Option<i64>) -> Vec<Span> {
        spans(profile, interval_us)
            .into_iter()
            .map(|SampleSpan { sample, us }| (sample.node, sample.line, sample.off_core, us))
            .collect()
    }

    #[test]
    fn equal_samples_are_one_span_and_all_time_is_told() {
        let all =
            profile(&[(1, 5, 110), (1, 5, 120), (1, 6, 130), (NONE, 0, 150), (9, 0, 170)], &[]);
        assert_eq!(
            found(&all, None),
            [
                (NONE, 0, WORK, 10),
                (1, 5, WORK, 20),
                (1, 6, WORK, 20),
                (NONE, 0, WORK, 20),
                (9, 0, WORK, 30)
            ]
        );
    }

    #[test]
    fn time_off_the_core_is_cut_out_of_samples() {
        let spans = [
            (110, 130, OffCore::Blocked),
            (140, 150, OffCore::Waiting),
            (175, 185, OffCore::Waiting),
        ];
        let all = profile(&[(1, 5, 100), (9, 0, 150), (2, 0, 180)], &spans);
        assert_eq!(
            found(&all, None),
            [
                (1, 5, WORK, 10),
                (1, 5, BLOCKED, 20),
                (1, 5, WORK, 10),
                (1, 5, WAITING, 10),
                (9, 0, WORK, 25),
                (9, 0, WAITING, 5),
                (2, 0, WAITING, 5),
                (2, 0, WORK, 15)
            ]
        );
    }

    #[test]
    fn samples_outside_of_the_slice_are_left_out() {
        let samples = [(1, 0, 40), (2, 0, 90), (3, 0, 120), (NONE, 0, 210), (4, 0, 240)];
        let all = profile(&samples, &[(110, 130, OffCore::Blocked)]);
        let expected =
            [(2, 0, WORK, 10), (2, 0, BLOCKED, 10), (3, 0, BLOCKED, 10), (3, 0, WORK, 70)];
        assert_eq!(found(&all, None), expected);
        let mut parts = Vec::new();
        each_part(&all, |part| {
            let SamplePart { sample, number, from_us, to_us } = part;
            parts.push((sample.node, sample.off_core, number, from_us, to_us));
        });
        let expected = [
            (2, WORK, 1, 100, 110),
            (2, BLOCKED, 1, 110, 120),
            (3, BLOCKED, 2, 120, 130),
            (3, WORK, 2, 130, 200),
        ];
        assert_eq!(parts, expected);
    }

    #[test]
    fn thinned_samples_keep_the_length() {
        let list: Vec<_> = (0..50_u32).map(|at| (at % 3, 0, 100 + 2 * i64::from(at))).collect();
        let thinned = found(&profile(&list, &[]), Some(20));
        assert!(thinned.len() <= 5);
        assert_eq!(thinned.iter().map(|(_, _, _, us)| us).sum::<i64>(), 100);
    }

    #[test]
    fn counts_of_samples_become_spans() {
        let nodes = vec![ProfileNode::new(NONE, 0); 3];
        let mut counted = ThreadProfile { nodes, ..profile(&[], &[]) };
        counted.times_mut(1).self_us = 30;
        counted.times_mut(2).self_us = 70;
        assert_eq!(found(&counted, None), [(1, 0, WORK, 30), (2, 0, WORK, 70)]);
    }
}

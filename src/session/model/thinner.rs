//! Replaces the samples of an interval by one, so that nodes and lines keep their times over the
//! whole.
//!
//! Each node has a balance: the time that its samples had, less the time that was written for it.
//! Of the nodes in an interval, the one with the largest balance gets the interval. So a function
//! that is short in every interval is written now and then, and the error of a node's time stays
//! about one interval, however long the recording lasts.

use std::hash::Hash;

use rustc_hash::FxHashMap;

/// A sample that another can stand for.
pub trait Thinned: Copy {
    /// Key of the sample's node.
    type Node: Copy + Eq + Hash;

    /// Returns the key of the node.
    fn node(&self) -> Self::Node;

    /// Returns the line; 0 if it is not known.
    fn line(&self) -> u32;

    /// Returns whether nothing was recorded until the next sample.
    fn is_pause(&self) -> bool;
}

/// The samples of one thread.
#[derive(Debug)]
pub struct Thinner<S: Thinned> {
    interval_us: i64,
    /// The last sample with its time in microseconds. Its length is not known yet.
    last: Option<(S, i64)>,
    /// Start of the interval, microseconds.
    start_us: i64,
    /// Samples of the interval, with their lengths in microseconds.
    interval: Vec<(S, i64)>,
    nodes: FxHashMap<S::Node, i64>,
    lines: FxHashMap<(S::Node, u32), i64>,
}

impl<S: Thinned> Thinner<S> {
    /// Returns a thinner that leaves one sample in each interval.
    pub fn new(interval_us: i64) -> Self {
        Self {
            interval_us,
            last: None,
            start_us: 0,
            interval: Vec::new(),
            nodes: FxHashMap::default(),
            lines: FxHashMap::default(),
        }
    }

    /// Adds a sample. Appends the samples that are to be written to `out`.
    pub fn sample(&mut self, sample: S, time_us: i64, out: &mut Vec<(S, i64)>) {
        self.end_last(time_us, out);
        if sample.is_pause() {
            self.end_interval(out);
            out.push((sample, time_us));
        } else {
            self.last = Some((sample, time_us));
        }
    }

    /// Ends the last sample, and the interval. Appends the samples that are to be written to `out`.
    /// A sample that goes on after that is the next one.
    pub fn end_at(&mut self, end_us: i64, out: &mut Vec<(S, i64)>) {
        let last = self.last.map(|(sample, _)| (sample, end_us));
        self.end_last(end_us, out);
        self.end_interval(out);
        self.last = last;
    }

    /// Forgets the last sample, which ended when the interval did.
    pub fn finish(&mut self) {
        self.last = None;
    }

    fn end_last(&mut self, until_us: i64, out: &mut Vec<(S, i64)>) {
        let Some((sample, from_us)) = self.last.take() else { return };
        let length_us = until_us.saturating_sub(from_us);
        // Samples after the end of a recording have no time.
        if length_us <= 0 {
            return;
        }
        // A long sample stays as it is.
        if length_us >= self.interval_us {
            self.end_interval(out);
            out.push((sample, from_us));
            return;
        }
        if self.interval.is_empty() {
            self.start_us = from_us;
        }
        self.interval.push((sample, length_us));
        if until_us.saturating_sub(self.start_us) >= self.interval_us {
            self.end_interval(out);
        }
    }

    fn end_interval(&mut self, out: &mut Vec<(S, i64)>) {
        let mut whole_us = 0;
        for (sample, us) in &self.interval {
            *self.nodes.entry(sample.node()).or_default() += us;
            *self.lines.entry(line(sample)).or_default() += us;
            whole_us += us;
        }
        let balance = |sample: &S| {
            (self.nodes.get(&sample.node()).copied(), self.lines.get(&line(sample)).copied())
        };
        let chosen = self.interval.iter().map(|(sample, _)| *sample).max_by_key(balance);
        self.interval.clear();
        let Some(chosen) = chosen else { return };
        *self.nodes.entry(chosen.node()).or_default() -= whole_us;
        *self.lines.entry(line(&chosen)).or_default() -= whole_us;
        out.push((chosen, self.start_us));
    }
}

fn line<S: Thinned>(sample: &S) -> (S::Node, u32) {
    (sample.node(), sample.line())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// The node of a pause.
    const PAUSE: u32 = 1;

    /// A node and a line.
    type TestSample = (u32, u32);

    impl Thinned for TestSample {
        type Node = u32;

        fn node(&self) -> u32 {
            self.0
        }

        fn line(&self) -> u32 {
            self.1
        }

        fn is_pause(&self) -> bool {
            self.0 == PAUSE
        }
    }

    /// Returns the times of nodes and lines.
    fn times(samples: &[(TestSample, i64)], end_us: i64) -> BTreeMap<TestSample, i64> {
        let mut times = BTreeMap::new();
        for (index, (sample, from_us)) in samples.iter().enumerate() {
            let to_us = samples.get(index + 1).map_or(end_us, |(_, next)| *next);
            *times.entry(line(sample)).or_default() += to_us - from_us;
        }
        times
    }

    /// Makes samples of these nodes and lengths, and thins them.
    fn thinned(list: &[(TestSample, i64)], interval_us: i64) -> [Vec<(TestSample, i64)>; 2] {
        let (mut thinner, mut out, mut now_us) = (Thinner::new(interval_us), Vec::new(), 0);
        let mut all = Vec::new();
        for (what, us) in list {
            all.push((*what, now_us));
            thinner.sample(*what, now_us, &mut out);
            now_us += us;
        }
        thinner.end_at(now_us, &mut out);
        [all, out]
    }

    #[test]
    fn a_short_function_is_written_now_and_then() {
        let list: Vec<_> = (0..1000).flat_map(|_| [((2, 1), 9), ((3, 1), 1)]).collect();
        let [_, out] = thinned(&list, 50);
        assert_eq!(out.len(), 200);
        assert_eq!(times(&out, 10_000), BTreeMap::from([((2, 1), 9000), ((3, 1), 1000)]));
    }

    #[test]
    fn a_sample_goes_on_after_an_end() {
        let (mut thinner, mut out) = (Thinner::new(50), Vec::new());
        thinner.sample((2, 0), 0, &mut out);
        thinner.end_at(10, &mut out);
        thinner.end_at(10, &mut out);
        thinner.sample((3, 0), 40, &mut out);
        thinner.end_at(60, &mut out);
        assert_eq!(times(&out, 60), BTreeMap::from([((2, 0), 60)]));
    }

    #[test]
    fn long_samples_and_gaps_stay() {
        let list = [((2, 0), 100), ((3, 0), 5), ((PAUSE, 0), 2), ((2, 0), 5), ((3, 0), 100)];
        let [all, out] = thinned(&list, 50);
        let times: Vec<_> = out.iter().map(|(sample, us)| (sample.0, *us)).collect();
        assert_eq!(times, [(2, 0), (3, 100), (PAUSE, 105), (2, 107), (3, 112)]);
        assert_eq!(out.len(), all.len());
    }

    proptest! {
        #[test]
        fn times_are_kept(
            list in vec(((2_u32..7, 0_u32..4), 0_i64..30), 1..400),
            interval_us in 1_i64..100,
        ) {
            let [all, out] = thinned(&list, interval_us);
            let end_us = list.iter().map(|(_, us)| us).sum();
            let (before, after) = (times(&all, end_us), times(&out, end_us));
            prop_assert_eq!(before.values().sum::<i64>(), after.values().sum::<i64>());
            let ends: Vec<i64> = out.iter().map(|(_, us)| *us).collect();
            prop_assert!(ends.is_sorted());
            for (sample, time_us) in &out {
                let was_there = all.iter().any(|(other, from_us)| {
                    line(other) == line(sample) && (0..interval_us + 30).contains(&(from_us - time_us))
                });
                prop_assert!(was_there || interval_us < 30, "{sample:?} at {time_us}");
            }
            let of_node = |times: &BTreeMap<TestSample, i64>, node| -> i64 {
                times.iter().filter(|((other, _), _)| *other == node).map(|(_, us)| us).sum()
            };
            for node in 2..7 {
                let error = of_node(&after, node) - of_node(&before, node);
                prop_assert!(error.abs() <= 4 * (interval_us + 30), "node {node}: {error}");
            }
        }
    }
}

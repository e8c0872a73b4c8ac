//! Gives the samples their label sets: pairs them with the records of the signal handler by their times.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::label_sets::set_of;
use crate::record::window::timed_records::TimedRecords;
use crate::sampler::v8::LabelRing;
use cpu_prof_core::base::error::Error;
use cpu_prof_core::base::stderr::warn_once;
use cpu_prof_core::profile::frame::CallFrame;
use cpu_prof_core::profile::label_table::{LabelSet, NO_LABELS};
use cpu_prof_core::profile::window::Window;

/// Samples after which the pairing is judged.
const PROOF_SAMPLES: usize = 100;
/// The fewest of these that have a record. V8 takes some samples without the signal, more of them on a
/// thread that mostly waits.
const MIN_PAIRED: usize = 10;
/// Samples without a single record that are enough where the handler was never set: a recording can be short.
const FOREIGN_SAMPLES: usize = 20;

const CHANGED: &str = "a garbage collection changed what was read of the asynchronous context";
const UNPAIRED: &str =
    "V8's sampling signal goes elsewhere, most likely to another profiler in this process";

/// The pairing of one thread's samples.
#[derive(Debug, Default)]
pub(crate) struct LabelPairing {
    /// Ids of label sets.
    waiting: TimedRecords<u32>,
    /// Sets of these, looked up at once: their thread can forget them before the samples come.
    sets: BTreeMap<u32, Arc<LabelSet>>,
    /// Count of the samples so far since the records began, and how many have a record.
    seen: usize,
    paired: usize,
}

impl LabelPairing {
    /// Gives the samples of a window their label sets. No later window has samples up to the last of these.
    pub(crate) fn pair(&mut self, window: &mut Window, ring: &LabelRing) {
        ring.take(|record| {
            self.waiting.add(record.from_us, record.to_us, record.labels);
            if !self.sets.contains_key(&record.labels)
                && let Some(set) = set_of(record.labels)
            {
                self.sets.insert(record.labels, set);
            }
        });
        if ring.is_wrong() {
            self.waiting.clear();
            self.sets.clear();
            return warn_once(&Error::Labels(CHANGED.into()));
        }
        // A wait is nobody's work. Async hooks tell nothing of its start.
        let idle = window.state(CallFrame::IDLE);
        for sample in &mut window.samples {
            if sample.time_us <= ring.start_us {
                continue;
            }
            self.seen += 1;
            if let Some(labels) = self.waiting.take_at(sample.time_us) {
                self.paired += 1;
                sample.labels = if idle == Some(sample.node) { NO_LABELS } else { labels };
            }
        }
        // No later window has samples from before this one.
        self.waiting.forget_before(window.start_us);
        let is_foreign = !ring.is_set() && self.seen >= FOREIGN_SAMPLES && self.paired == 0;
        if is_foreign || self.seen >= PROOF_SAMPLES && self.paired < MIN_PAIRED {
            ring.give_up();
            return warn_once(&Error::Labels(UNPAIRED.into()));
        }
        let ids: BTreeSet<u32> = window.samples.iter().map(|sample| sample.labels).collect();
        let set_of = |id| Some((id, self.sets.get(&id)?.as_ref().clone()));
        window.label_sets.extend(ids.into_iter().filter_map(set_of));
        let waiting: BTreeSet<u32> = self.waiting.values().copied().collect();
        self.sets.retain(|id, _| waiting.contains(id));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampler::v8::LabelRecord;
    use cpu_prof_core::profile::window::Sample;
    use cpu_prof_core::testing::windows::made::{self, frame};

    /// The time of a sample in a wait.
    const IDLE_US: i64 = 1_000_000;

    /// Pairs samples at these times with records, and returns their labels.
    fn labels(
        pairing: &mut LabelPairing,
        ring: &LabelRing,
        records: &[(i64, i64, u32)],
        times: &[i64],
    ) -> Vec<u32> {
        for &(from_us, to_us, labels) in records {
            ring.add(LabelRecord { from_us, to_us, labels });
        }
        let samples = times.iter().map(|&time_us| Sample { time_us, ..Sample::default() });
        let nodes = [(0, frame("(root)", "", 0)), (0, frame(CallFrame::IDLE, "", 0))];
        let mut window = Window { samples: samples.collect(), ..made::window(&nodes, &[]) };
        if let Some(last) = window.samples.last_mut().filter(|last| last.time_us == IDLE_US) {
            last.node = 1;
        }
        pairing.pair(&mut window, ring);
        window.samples.iter().map(|sample| sample.labels).collect()
    }

    #[test]
    fn a_sample_has_the_record_around_its_time() {
        let ring = LabelRing::new(0, 100);
        let mut pairing = LabelPairing::default();
        let records = [(100, 110, 1), (200, 200, 2), (300, 310, 3), (400, 405, 4)];
        // V8's clock is a microsecond ahead.
        let found = labels(&mut pairing, &ring, &records, &[101, 150, 201, 302, 311]);
        assert_eq!(found, [1, 0, 2, 3, 0]);
        // A sample that two windows have, and one whose record came with the window before.
        assert_eq!(labels(&mut pairing, &ring, &[(500, 505, 5)], &[302, 401, 506]), [0, 4, 5]);
    }

    #[test]
    fn a_wait_has_no_labels() {
        let ring = LabelRing::new(0, 100);
        let records = [(100, 110, 1), (IDLE_US - 1, IDLE_US, 1)];
        let found = labels(&mut LabelPairing::default(), &ring, &records, &[101, IDLE_US]);
        assert_eq!(found, [1, 0]);
    }

    #[test]
    fn a_record_is_of_one_sample() {
        let ring = LabelRing::new(0, 100);
        let found = labels(&mut LabelPairing::default(), &ring, &[(100, 110, 1)], &[101, 111]);
        assert_eq!(found, [1, 0]);
    }

    #[test]
    fn samples_without_records_end_the_labels() {
        let ring = LabelRing::new(1000, 100);
        ring.handler_was_set();
        let mut pairing = LabelPairing::default();
        let times = |range: std::ops::Range<i64>| range.collect::<Vec<_>>();
        // Samples from before the start do not count.
        labels(&mut pairing, &ring, &[], &times(0..1000));
        labels(&mut pairing, &ring, &[], &times(2000..2099));
        assert!(!ring.is_wrong());
        labels(&mut pairing, &ring, &[], &[3000]);
        assert!(ring.is_wrong());
        assert_eq!(labels(&mut pairing, &ring, &[(4000, 4001, 1)], &[4001]), [0]);
    }

    #[test]
    fn fewer_samples_are_enough_where_the_handler_was_never_set() {
        let times = |count| (1..=count).map(|n| 1000 * n).collect::<Vec<_>>();
        for (records, count, is_wrong) in
            [(&[][..], 19, false), (&[], 20, true), (&[(999, 1001, 1)], 20, false)]
        {
            let ring = LabelRing::new(0, 100);
            labels(&mut LabelPairing::default(), &ring, records, &times(count));
            assert_eq!(ring.is_wrong(), is_wrong, "{count}");
        }
    }
}

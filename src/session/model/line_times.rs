//! The times of the positions of a profile's nodes, while the profile is being read.

use rustc_hash::FxHashMap;

use super::thread_profile::ProfileLine;
use cpu_prof_core::profile::position::{PositionTicks, SourcePosition};

/// Positions of nodes with their times.
#[derive(Debug, Default, Clone)]
pub(super) struct LineTimes {
    list: Vec<ProfileLine>,
    /// Indices in the list, by node and position.
    indices: FxHashMap<(u32, SourcePosition), u32>,
}

impl LineTimes {
    /// Adds time and samples to a position.
    pub(super) fn add(&mut self, node: u32, position: SourcePosition, us: u64, samples: u64) {
        if us == 0 && samples == 0 {
            return;
        }
        let list = &mut self.list;
        let index = *self.indices.entry((node, position)).or_insert_with(|| {
            list.push(ProfileLine { node, position, self_us: 0, samples: 0 });
            (list.len() - 1) as u32
        });
        let line = &mut list[index as usize];
        line.self_us = line.self_us.saturating_add(us);
        line.samples = line.samples.saturating_add(samples);
    }

    /// Takes time off a position, microseconds.
    pub(super) fn take_off(&mut self, node: u32, position: SourcePosition, us: u64) {
        if let Some(at) = self.indices.get(&(node, position)) {
            let self_us = &mut self.list[*at as usize].self_us;
            *self_us = self_us.saturating_sub(us);
        }
    }

    /// Shares a node's time out by the ticks of its lines. The rest is that of an unknown line.
    pub(super) fn share_out(&mut self, node: u32, us: u64, hits: u64, ticks: &[PositionTicks]) {
        let counted: u64 = ticks.iter().map(|at| u64::from(at.ticks)).sum();
        let whole = u128::from(counted.max(hits).max(1));
        let part = |of: u64, ticks: u32| {
            u64::try_from(u128::from(of) * u128::from(ticks) / whole).unwrap_or(0)
        };
        let (mut rest_us, mut rest) = (us, hits);
        for at in ticks {
            let (us, samples) = (part(us, at.ticks), part(hits, at.ticks));
            self.add(node, at.position, us, samples);
            (rest_us, rest) = (rest_us - us, rest - samples);
        }
        self.add(node, SourcePosition::default(), rest_us, rest);
    }

    /// Returns the positions.
    pub(super) fn into_list(self) -> Vec<ProfileLine> {
        self.list
    }
}

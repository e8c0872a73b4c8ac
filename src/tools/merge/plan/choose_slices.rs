//! Chooses the slices of a merge: what the user asked for, cut where a part would be too large.

use super::times::{EventTimes, Histogram};
use crate::merge::options::MergeOptions;
use crate::merge::output::slices::OutputSlices;
use crate::merge::result::MergeError;
use crate::read::slice::FoundSlice;

/// Times that parts are cut again. Each takes another reading of all inputs.
const ATTEMPTS: u32 = 4;

/// The slices of the parts.
#[derive(Debug)]
pub(crate) struct ChosenSlices {
    pub slices: OutputSlices,
    /// The slice that the user asked for, if there is a limit.
    pub found: Option<FoundSlice>,
    histogram: Histogram,
    /// Largest size of a part, bytes, where the trace may be split.
    max_bytes: Option<u64>,
    attempts: u32,
}

impl Default for ChosenSlices {
    fn default() -> Self {
        Self {
            slices: OutputSlices::one(None, None),
            found: None,
            histogram: Histogram::default(),
            max_bytes: None,
            attempts: 0,
        }
    }
}

impl ChosenSlices {
    /// Chooses the slices by the sizes of all events.
    pub(crate) fn of(times: EventTimes, options: &MergeOptions) -> Result<Self, MergeError> {
        let (start_us, end_us) = times.inputs.line().unwrap_or_default();
        let found = options.slice.find(start_us, end_us);
        if found.is_reversed() {
            return Err(MergeError::NothingInSlice { reason: found.reason() });
        }
        let FoundSlice { from_us, to_us, .. } = found;
        let mut slices = match options.split {
            Some(max_bytes) => times.histogram.cut(from_us, to_us, planned(max_bytes)),
            None => OutputSlices::one(from_us, to_us),
        };
        slices.has_zero = times.inputs.has_zero();
        Ok(Self {
            slices,
            found: options.slice.is_limited().then_some(found),
            histogram: times.histogram,
            max_bytes: options.split,
            attempts: ATTEMPTS,
        })
    }

    /// Cuts the slices whose parts became too large. `sizes` are those of the parts, bytes. Returns
    /// false if all are small enough, or cannot be cut.
    pub(crate) fn refine(&mut self, sizes: &[u64]) -> bool {
        let (Some(max_bytes), 1..) = (self.max_bytes, self.attempts) else { return false };
        self.attempts -= 1;
        let count = self.slices.count();
        let mut edges = Vec::new();
        for (number, bytes) in sizes.iter().enumerate() {
            let (Some(start_us), Some(end_us)) =
                (self.slices.edge(number), self.slices.edge(number + 1))
            else {
                continue;
            };
            edges.push(start_us);
            if *bytes > max_bytes {
                // The histogram does not have what parts repeat: names, and nodes of earlier parts.
                let counted = self.histogram.bytes(start_us, end_us);
                let repeated = bytes.saturating_sub(counted);
                let budget = planned(max_bytes).saturating_sub(repeated).max(counted / 8);
                let cut = self.histogram.cut(Some(start_us), Some(end_us), budget);
                edges.extend((1..cut.count()).filter_map(|number| cut.edge(number)));
            }
        }
        edges.extend(self.slices.edge(count));
        self.slices = self.slices.with_edges(edges);
        self.slices.count() > count
    }
}

/// Returns the size that parts are planned with: names are repeated in each.
fn planned(max_bytes: u64) -> u64 {
    max_bytes / 10 * 9
}

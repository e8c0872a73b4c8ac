//! The lines of samples. V8 counts ticks for the lines of a node, and does not give the line
//! of a sample.

use std::ops::Range;

use rustc_hash::FxHashMap;

/// The place in a script that a function has reached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourcePosition {
    /// Line, from 1 (unlike a frame's); 0 if the line is unknown.
    pub line: u32,
    /// Column, from 1; 0 if the column is unknown.
    pub column: u32,
}

impl SourcePosition {
    /// Returns whether the column is known. Traces have the first column where the column is unknown.
    pub fn has_column(self) -> bool {
        self.column > 1
    }

    /// Returns a line without a column.
    pub fn line(line: u32) -> Self {
        Self { line, column: 0 }
    }
}

/// The count of V8's samples at a position of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PositionTicks {
    /// Index of the node.
    pub node: u32,
    /// Position; a node can have a position several times.
    pub position: SourcePosition,
    /// Count of samples. V8 also counts samples that it does not keep, and keeps some that it does
    /// not count.
    pub ticks: u32,
}

/// The ticks of one node.
#[derive(Default)]
struct NodeTicks {
    /// Place in the list of ticks.
    range: Range<usize>,
    /// Count of samples.
    samples: u64,
    /// Count of samples that have a position.
    placed: u64,
    /// Distance of two samples in the list of the node's ticks.
    stride: u64,
}

/// The positions of samples that V8 did not count, where a node has more samples than ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Uncounted {
    /// Those of the other samples of the node, in proportion.
    AsCounted,
    /// None.
    Unknown,
}

/// Returns a position for each sample, of which `nodes` are the nodes.
///
/// The samples of a node get its positions in proportion to the ticks, each position as many samples
/// as it has ticks if both are the same number. Any part of the samples has about the same
/// proportions as the whole.
pub fn spread(
    nodes: &[u32],
    mut ticks: Vec<PositionTicks>,
    uncounted: Uncounted,
) -> Vec<SourcePosition> {
    ticks.sort_unstable_by_key(|at| (at.node, at.position));
    let mut by_node: FxHashMap<u32, NodeTicks> = FxHashMap::default();
    // The sum of a node's ticks up to each position.
    let mut sums: Vec<u64> = Vec::with_capacity(ticks.len());
    for (index, at) in ticks.iter().enumerate() {
        let node = by_node.entry(at.node).or_default();
        if node.range.is_empty() {
            node.range.start = index;
        }
        node.range.end = index + 1;
        let before = sums[node.range.start..].last().copied().unwrap_or(0);
        sums.push(before + u64::from(at.ticks));
    }
    for node in nodes {
        if let Some(node) = by_node.get_mut(node) {
            node.samples += 1;
        }
    }
    for node in by_node.values_mut() {
        node.stride = stride(node.samples);
    }
    let position = |node: &u32| {
        let Some(node) = by_node.get_mut(node) else { return SourcePosition::default() };
        let turn = node.placed * node.stride % node.samples;
        node.placed += 1;
        let sums = &sums[node.range.clone()];
        let counted = sums.last().copied().unwrap_or(0);
        let whole = match uncounted {
            Uncounted::AsCounted => counted,
            Uncounted::Unknown => counted.max(node.samples),
        };
        let tick = middle(turn, whole, node.samples);
        let at = sums.partition_point(|sum| *sum <= tick);
        ticks[node.range.clone()].get(at).map_or_else(SourcePosition::default, |at| at.position)
    };
    nodes.iter().map(position).collect()
}

/// Returns the middle of a part, if `whole` is divided into `parts`.
fn middle(part: u64, whole: u64, parts: u64) -> u64 {
    let middle = u128::from(2 * part + 1) * u128::from(whole) / u128::from(2 * parts);
    u64::try_from(middle).unwrap_or(u64::MAX)
}

/// Returns a step that visits each of `count` places once, and always soon comes near to each.
fn stride(count: u64) -> u64 {
    let golden = (count as f64 * 0.618) as u64;
    (golden.max(1)..).find(|step| gcd(*step, count) == 1).unwrap_or(1)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::Uncounted::{AsCounted, Unknown};
    use super::*;
    use crate::testing::windows::made::{self, ticks};

    fn counts(positions: &[SourcePosition]) -> Vec<(u32, usize)> {
        let mut counts = BTreeMap::new();
        for position in positions {
            *counts.entry(position.line).or_default() += 1;
        }
        counts.into_iter().collect()
    }

    #[test]
    fn samples_get_the_lines_of_their_node() {
        let positions =
            spread(&[1, 2, 1, 3, 2], ticks(&[(1, 10, 2), (2, 20, 1), (2, 21, 1)]), AsCounted);
        let lines: Vec<u32> = positions.iter().map(|position| position.line).collect();
        assert_eq!((lines[0], lines[2], lines[3]), (10, 10, 0));
        assert_eq!(counts(&positions), [(0, 1), (10, 2), (20, 1), (21, 1)]);
        assert!(spread(&[], ticks(&[(0, 1, 1)]), AsCounted).is_empty());
        assert_eq!(spread(&[0], Vec::new(), AsCounted), [SourcePosition::default()]);
        assert_eq!(spread(&[0], ticks(&[(0, 5, 0)]), AsCounted), [SourcePosition::default()]);
    }

    #[test]
    fn ticks_are_scaled_to_the_samples() {
        let more = spread(&[0; 100], ticks(&[(0, 5, 150), (0, 6, 40), (0, 5, 10)]), Unknown);
        assert_eq!(counts(&more), [(5, 80), (6, 20)]);
        let less = || ticks(&[(0, 5, 60), (0, 6, 20)]);
        assert_eq!(counts(&spread(&[0; 100], less(), AsCounted)), [(5, 75), (6, 25)]);
        assert_eq!(counts(&spread(&[0; 100], less(), Unknown)), [(0, 20), (5, 60), (6, 20)]);
    }

    #[test]
    fn a_part_has_the_proportions_of_the_whole() {
        let positions = spread(&[0; 1000], ticks(&[(0, 5, 90), (0, 6, 10)]), AsCounted);
        for part in positions.chunks(100) {
            let of_six = part.iter().filter(|position| position.line == 6).count();
            assert!((5..=15).contains(&of_six), "{of_six}");
        }
    }

    proptest! {
        #[test]
        fn shares_are_those_of_the_ticks(
            samples in vec(0_u32..3, 0..300),
            ticks in vec((0_u32..4, 1_u32..5, 0_u32..100), 0..12),
            uncounted in prop_oneof![Just(AsCounted), Just(Unknown)],
        ) {
            let ticks = made::ticks(&ticks);
            let positions = spread(&samples, ticks.clone(), uncounted);
            prop_assert_eq!(positions.len(), samples.len());
            for node in 0..3 {
                let hits = samples.iter().filter(|sample| **sample == node).count() as f64;
                let of_node: Vec<_> = ticks.iter().filter(|at| at.node == node).collect();
                let all = of_node.iter().map(|at| f64::from(at.ticks)).sum::<f64>();
                for line in 1..5 {
                    let of_line = of_node.iter().filter(|at| at.position.line == line);
                    let ticks: f64 = of_line.map(|at| f64::from(at.ticks)).sum();
                    let is_scaled = all > hits || (uncounted == AsCounted && all > 0.0);
                    let expected = if is_scaled { ticks / all * hits } else { ticks };
                    let at_line = |(sample, at): &(&u32, &SourcePosition)| **sample == node && at.line == line;
                    let count = samples.iter().zip(&positions).filter(at_line).count() as f64;
                    prop_assert!((count - expected).abs() <= 1.0, "{} is not {}", count, expected);
                    prop_assert!(is_scaled || count == expected);
                }
            }
        }
    }
}

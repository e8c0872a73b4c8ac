//! Windows: a part in the middle whose level is another one, as after a step that was taken back.
//!
//! Such a part hardly differs from what is before and after, taken together with one of them: a search for one
//! step does not see it. So the means of windows are compared with those of all else.

use std::ops::Range;

use super::design::{Before, Design, LEAST_RUNS, information_of, scale_of};

/// Most borders that windows begin and end at: their number grows with the square.
const MOST_BORDERS: usize = 24;

/// Windows of one order of atoms.
pub(super) struct Windows {
    /// Places of the borders in the order.
    borders: Vec<usize>,
    /// What makes the sum of each window a distance; 0 where no change can be told. The windows that begin at the
    /// first border come first.
    scales: Vec<f32>,
}

/// A window whose level is another one than that of the rest of its segment.
#[derive(Debug, Clone)]
pub(super) struct FittedWindow {
    pub segment: Range<usize>,
    /// The first atom within.
    pub from: usize,
    /// The first atom after.
    pub to: usize,
    /// How far the levels are apart, in standard errors.
    pub distance: f64,
}

impl Windows {
    /// Returns the windows of an order of the atoms of a segment.
    pub(super) fn of(design: &Design, order: &[usize], segment: Range<usize>) -> Self {
        let is_border = |at: &usize| design.commit_of[*at] != design.commit_of[at - 1];
        let all: Vec<usize> = (segment.start + 1..segment.end).filter(is_border).collect();
        let count = all.len().min(MOST_BORDERS);
        let borders: Vec<usize> =
            (0..count).map(|at| all[at * all.len() / count] - segment.start).collect();
        let (before, whole) = design.before(order, &borders);
        let mut scales = Vec::with_capacity(count * count.saturating_sub(1) / 2);
        for (at, from) in before.iter().enumerate() {
            scales.extend(before[at + 1..].iter().map(|to| scale(from, to, &whole)));
        }
        Self { borders, scales }
    }

    /// Returns the largest distance of any window in each lane. `lanes` has the sums of atoms, in standard deviations.
    pub(super) fn largest<const LANES: usize>(
        &self,
        lanes: &[[f32; LANES]],
        order: &[usize],
    ) -> [f32; LANES] {
        let before = self.sums(order.iter().map(|atom| lanes[*atom]));
        let mut largest = [0_f32; LANES];
        let mut scales = self.scales.iter();
        for (at, from) in before.iter().enumerate() {
            for (to, scale) in before[at + 1..].iter().zip(&mut scales) {
                for lane in 0..LANES {
                    let distance = (to[lane] - from[lane]).abs() * scale;
                    largest[lane] = if distance > largest[lane] { distance } else { largest[lane] };
                }
            }
        }
        largest
    }

    /// Returns the clearest window of a segment. `sums` are those of the atoms in standard deviations.
    pub(super) fn clearest(&self, sums: &[f32], segment: Range<usize>) -> Option<FittedWindow> {
        let before = self.sums(sums.iter().map(|sum| [*sum]));
        let mut best: Option<FittedWindow> = None;
        let mut scales = self.scales.iter();
        for (at, [from]) in before.iter().enumerate() {
            for ((end, [to]), scale) in before.iter().enumerate().skip(at + 1).zip(&mut scales) {
                let distance = f64::from((to - from).abs() * scale);
                if distance > best.as_ref().map_or(0.0, |best| best.distance) {
                    let [from, to] = [at, end].map(|at| segment.start + self.borders[at]);
                    best = Some(FittedWindow { segment: segment.clone(), from, to, distance });
                }
            }
        }
        best
    }

    /// Returns the sums before each border.
    fn sums<const LANES: usize>(
        &self,
        atoms: impl Iterator<Item = [f32; LANES]>,
    ) -> Vec<[f32; LANES]> {
        let mut sums = [0_f32; LANES];
        let mut borders = self.borders.iter().peekable();
        let mut found = Vec::with_capacity(self.borders.len());
        for (place, values) in atoms.enumerate() {
            if borders.next_if(|border| **border == place).is_some() {
                found.push(sums);
            }
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        }
        found
    }
}

/// Returns what makes the sum of a window a distance. There are enough runs before it, in it, and after it.
fn scale(from: &Before, to: &Before, whole: &Before) -> f32 {
    let runs = [from.runs, to.runs - from.runs, whole.runs - to.runs];
    if runs.into_iter().any(|runs| runs < LEAST_RUNS) {
        return 0.0;
    }
    let inner = to.weights.iter().zip(&from.weights).map(|(to, from)| to - from);
    scale_of(information_of(inner, &whole.weights))
}

//! Whether a step can come from a machine whose speed has memory.
//!
//! Such a speed wanders, and its clearest step is as far as that of a program that has changed. But what
//! is left beside that step still has memory. So the step is compared with those of made-up speeds with
//! several memories, of which only those count that are as clear with as little memory left.

use std::ops::Range;

use super::super::noise::Random;
use super::design::Design;

/// How much of its distance from the mean a speed keeps from one atom to the next.
const MEMORIES: [f64; 7] = [0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98];
/// Speeds that are made up of each memory.
const SPEEDS: usize = 399;
/// Most speeds of a memory that may be like the values, as a part.
const ALIKE: f64 = 0.005;

/// The clearest step of a segment, and what it leaves.
#[derive(Clone, Copy)]
struct Clearest {
    /// Squares that the step takes away, as a part of those that are left.
    squares: f64,
    /// Correlation of neighbours beside the step.
    memory: f64,
}

/// Returns whether a machine whose speed has memory has such a step too, in values of a segment.
pub(super) fn may_be_memory(design: &Design, values: &[f64], segment: &Range<usize>) -> bool {
    let order: Vec<usize> = segment.clone().collect();
    let information = design.information(&order, segment.start);
    let Some(own) = Clearest::of(design, values, segment, &information) else { return false };
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let mut made = vec![0.0; values.len()];
    let most = (ALIKE * SPEEDS as f64) as usize;
    MEMORIES.iter().rev().any(|memory| {
        let fresh = (1.0 - memory * memory).sqrt();
        let mut alike = 0;
        for _ in 0..SPEEDS {
            let mut speed = normal(&mut random);
            for atom in segment.clone() {
                made[design.runs_of(atom..atom + 1)].fill(speed);
                speed = memory * speed + fresh * normal(&mut random);
            }
            let is_alike = |one: Clearest| one.squares >= own.squares && one.memory <= own.memory;
            let one = Clearest::of(design, &made, segment, &information);
            alike += usize::from(one.is_some_and(is_alike));
            if alike > most {
                return true;
            }
        }
        false
    })
}

impl Clearest {
    fn of(
        design: &Design,
        values: &[f64],
        segment: &Range<usize>,
        information: &[f64],
    ) -> Option<Self> {
        let sums = design.sums(values, segment.clone());
        let (mut before, mut best) = (0.0, None);
        for (place, (sum, information)) in sums.iter().zip(information).enumerate() {
            let squares = if *information > 0.0 { before * before / information } else { 0.0 };
            if *information > 0.0 && best.is_none_or(|(_, most)| squares > most) {
                best = Some((place, squares));
            }
            before += sum;
        }
        let (place, squares) = best?;
        let (first, second) = sums.split_at(place);
        let atoms =
            |range: Range<usize>| range.map(|place| design.weight_of(segment.start + place));
        let around = |sums: &[f64], weights: Vec<f64>| -> Vec<f64> {
            let weight: f64 = weights.iter().sum();
            let mean = sums.iter().sum::<f64>() / weight.max(f64::MIN_POSITIVE);
            let left = sums.iter().zip(&weights);
            left.map(|(sum, weight)| (sum - mean * weight) / weight.sqrt()).collect()
        };
        let mut left = around(first, atoms(0..place).collect());
        left.extend(around(second, atoms(place..sums.len()).collect()));
        let all: f64 = left.iter().map(|one| one * one).sum::<f64>().max(f64::MIN_POSITIVE);
        let neighbours: f64 = left.windows(2).map(|pair| pair[0] * pair[1]).sum();
        Some(Self { squares: squares / all, memory: neighbours / all })
    }
}

/// Returns a number that is uniform from 0 to 1.
pub(super) fn uniform(random: &mut Random) -> f64 {
    (random.below(1 << 30) as f64 + 0.5) / f64::from(1 << 30)
}

/// Returns a number with a normal distribution.
pub(super) fn normal(random: &mut Random) -> f64 {
    let (radius, turn) = (uniform(random), uniform(random));
    (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * turn).cos()
}

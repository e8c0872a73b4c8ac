//! How large the largest difference of any row at any position is by chance.

use super::super::noise::Random;
use super::design::{Design, scale_of};
use super::windows::Windows;

/// Orders that are drawn.
const ORDERS: usize = 999;
/// Rows that are summed together, so that the processor adds several at once.
const LANES: usize = 16;

/// An order of the atoms, with the scale of each place.
struct DrawnOrder {
    atoms: Vec<usize>,
    /// What makes a sum a distance; 0 where no change can be told.
    scales: Vec<f32>,
    windows: Windows,
}

/// Orders in which blocks of atoms are at other places. They are the same each time.
pub(super) struct Orders(Vec<DrawnOrder>);

/// Returns orders of the atoms.
pub(super) fn orders(design: &Design) -> Orders {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (atoms, block) = (design.atoms(), design.block());
    let mut draw = || {
        // Blocks begin elsewhere each time.
        let shift = random.below(atoms.max(1));
        let mut starts: Vec<usize> = (0..atoms).step_by(block).collect();
        for place in (1..starts.len()).rev() {
            starts.swap(place, random.below(place + 1));
        }
        let of_block = |start: usize| start..(start + block).min(atoms);
        let order: Vec<usize> =
            starts.into_iter().flat_map(of_block).map(|atom| (atom + shift) % atoms).collect();
        let scales = design.information(&order, 0).into_iter().map(scale_of).collect();
        let windows = Windows::of(design, &order, 0..atoms);
        DrawnOrder { atoms: order, scales, windows }
    };
    Orders((0..ORDERS).map(|_| draw()).collect())
}

/// The largest distances of the orders, the largest first.
#[derive(Debug, Default)]
pub(super) struct Maxima {
    largest: Vec<f32>,
    /// The chance that runs of one program have a change in any of the rows.
    allowed: f64,
}

impl Maxima {
    /// Returns the distance that a change has at least.
    pub(super) fn critical(&self) -> f64 {
        let allowed = (self.allowed * self.largest.len() as f64) as usize;
        self.largest.get(allowed).copied().map_or(f64::INFINITY, f64::from)
    }

    /// Returns the chance that some row is as far by chance.
    pub(super) fn chance(&self, distance: f64) -> f64 {
        let larger = self.largest.partition_point(|maximum| f64::from(*maximum) >= distance);
        (larger + 1) as f64 / (self.largest.len() + 1) as f64
    }
}

impl Orders {
    /// Returns the largest distance of a step in each order. `rows` has the sums of each row's atoms, in standard
    /// deviations. `allowed` is the chance of a change where there is none.
    pub(super) fn of_steps(&self, rows: &[Vec<f32>], allowed: f64) -> Maxima {
        self.maxima(rows, allowed, largest_step)
    }

    /// Returns the largest distance of a window in each order, of rows as for steps.
    pub(super) fn of_windows(&self, rows: &[Vec<f32>], allowed: f64) -> Maxima {
        self.maxima(rows, allowed, |lanes, order| order.windows.largest(lanes, &order.atoms))
    }

    fn maxima(
        &self,
        rows: &[Vec<f32>],
        allowed: f64,
        largest_in: impl Fn(&[[f32; LANES]], &DrawnOrder) -> [f32; LANES],
    ) -> Maxima {
        let mut largest = vec![0_f32; self.0.len()];
        for rows in rows.chunks(LANES) {
            let atoms = rows.first().map_or(0, Vec::len);
            let mut lanes = vec![[0_f32; LANES]; atoms];
            for (lane, row) in rows.iter().enumerate() {
                row.iter().zip(&mut lanes).for_each(|(sum, lanes)| lanes[lane] = *sum);
            }
            for (order, largest) in self.0.iter().zip(&mut largest) {
                *largest = largest_in(&lanes, order).into_iter().fold(*largest, f32::max);
            }
        }
        largest.sort_unstable_by(|a, b| b.total_cmp(a));
        Maxima { largest, allowed }
    }
}

fn largest_step(lanes: &[[f32; LANES]], order: &DrawnOrder) -> [f32; LANES] {
    let mut sums = [0_f32; LANES];
    let mut largest = [0_f32; LANES];
    for (atom, scale) in order.atoms.iter().zip(&order.scales) {
        let values = &lanes[*atom];
        for lane in 0..LANES {
            let distance = sums[lane].abs() * scale;
            largest[lane] = if distance > largest[lane] { distance } else { largest[lane] };
            sums[lane] += values[lane];
        }
    }
    largest
}

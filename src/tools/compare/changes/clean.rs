//! Pulls single values in that are far from their neighbours.

use super::super::noise::quantile;

/// Neighbours on each side whose median a value is compared with.
const NEIGHBOURS: usize = 5;
/// How far from both medians a value may be, in standard deviations.
const REACH: f64 = 4.0;
/// Median of the distance of two normal values, in standard deviations.
const MEDIAN_DISTANCE: f64 = 0.954;

/// Pulls values in that are far from the values before and after them. A machine that does something
/// else now and then makes single runs slow. Values after a step are near those after them, and stay.
pub(super) fn pull_in(values: &mut [f64], sampled: f64) {
    if values.len() <= 2 * NEIGHBOURS {
        return;
    }
    let medians: Vec<f64> = values.windows(NEIGHBOURS).map(median).collect();
    let mut distances: Vec<f64> = values.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
    distances.sort_unstable_by(f64::total_cmp);
    let spread = quantile(&distances, 0.5) / MEDIAN_DISTANCE;
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let last = medians.len() - 1;
    for (run, value) in values.iter_mut().enumerate() {
        let after = medians[(run + 1).min(last)];
        let before = medians[run.saturating_sub(NEIGHBOURS).min(last)];
        let (low, high) = (before.min(after), before.max(after));
        let reach = REACH * spread.max((sampled * high.max(mean).abs()).sqrt());
        *value = value.clamp(low - reach, high + reach);
    }
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = [0.0; NEIGHBOURS];
    sorted.copy_from_slice(values);
    sorted.sort_unstable_by(f64::total_cmp);
    sorted[NEIGHBOURS / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_values_are_pulled_in_and_steps_stay() {
        let noise = [0.0, 0.4, -0.3, 0.2, -0.5, 0.1];
        let mut values: Vec<f64> = (0..60)
            .map(|run| if run < 52 { 10.0 } else { 30.0 } + noise[run % noise.len()])
            .collect();
        let before = values.clone();
        pull_in(&mut values, 0.0);
        assert_eq!(values, before);
        values[20] = 100.0;
        pull_in(&mut values, 0.0);
        assert!(values[20] < 13.0, "{}", values[20]);
        values[20] = before[20];
        assert_eq!(values, before);
    }
}

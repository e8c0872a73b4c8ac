//! Tells changes from noise in values that are given: rows of one value for each run of both sides.

use serde::{Deserialize, Serialize};

use super::compare_error::CompareError;
use super::noise::{NoiseModel, RowValues, SPREAD_OF_WORK, differences};

/// The values of one row.
#[derive(Debug, Deserialize)]
struct GivenRow {
    base: Vec<f64>,
    head: Vec<f64>,
    /// Time between two samples, in the unit of the values; 0 for values without sampling error.
    #[serde(default)]
    sampled: f64,
}

#[derive(Debug, Serialize)]
struct GivenResult {
    noise: NoiseModel,
    differences: Vec<GivenDifference>,
}

/// The difference of one row: means of the sides, and limits of what lies between them.
#[derive(Debug, Serialize)]
struct GivenDifference {
    base: f64,
    head: f64,
    low: f64,
    high: f64,
    changed: bool,
}

/// Compares rows of values: `[{base, head, sampled}]` as JSON. Returns JSON, or what is wrong with the
/// rows.
pub fn compare_given(rows: &str) -> Result<String, CompareError> {
    let rows: Vec<GivenRow> = serde_json::from_str(rows)?;
    let sides = rows.first().map_or((0, 0), |row| (row.base.len(), row.head.len()));
    if rows.iter().any(|row| (row.base.len(), row.head.len()) != sides) {
        return Err(CompareError::UnequalRows);
    }
    let rows: Vec<RowValues> = rows
        .into_iter()
        .map(|GivenRow { base, head, sampled }| RowValues {
            base,
            head,
            sampled,
            assumed_spread: SPREAD_OF_WORK,
        })
        .collect();
    let (found, noise) = differences(&rows);
    let shown = found.iter().map(|found| GivenDifference {
        base: found.base,
        head: found.head,
        low: found.low,
        high: found.high,
        changed: found.is_change(),
    });
    let result = GivenResult { noise, differences: shown.collect() };
    Ok(serde_json::to_string(&result)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the changes of two rows: one with a step, and one without.
    fn changes(base: usize, head: usize) -> Vec<bool> {
        let noisy = |run: usize, mean: f64| mean * (1.0 + ((run * 7) % 11) as f64 / 100.0);
        let row = |step: f64| {
            serde_json::json!({
                "base": (0..base).map(|run| noisy(run, 10.0)).collect::<Vec<_>>(),
                "head": (0..head).map(|run| noisy(run, 10.0 * step)).collect::<Vec<_>>(),
            })
        };
        let text = compare_given(&serde_json::json!([row(1.3), row(1.0)]).to_string());
        let result: serde_json::Value = serde_json::from_str(&text.unwrap()).unwrap();
        assert_eq!(result["noise"], "measured");
        let rows = result["differences"].as_array().unwrap();
        rows.iter().map(|row| row["changed"].as_bool().unwrap()).collect()
    }

    #[test]
    fn a_step_is_found_between_sides_of_any_size() {
        assert_eq!(changes(50, 7), [true, false]);
        assert_eq!(changes(7, 50), [true, false]);
        assert_eq!(changes(60, 60), [true, false]);
    }

    #[test]
    fn rows_that_do_not_fit_are_refused() {
        for text in [r#"[{"base":[1],"head":[1]},{"base":[1,2],"head":[1]}]"#, "[{}]", "nothing"] {
            assert!(compare_given(text).is_err(), "{text}");
        }
        assert_eq!(compare_given("[]").unwrap(), r#"{"noise":"assumed","differences":[]}"#);
    }
}

//! The facts of a run that each row of functions and groups repeats.

use serde::Deserialize;

use super::output::column::{LakeColumn, long};
use super::output::lake_file::tool;
use super::tables_error::LakeTablesError;
use cpu_prof_core::base::path_text::with_slashes;

/// What the user knows about a run: JSON.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct GivenFacts {
    commit: Option<String>,
    /// Count of the commits up to this one.
    commit_seq: Option<i64>,
    branch: Option<String>,
    job: Option<String>,
    host: Option<String>,
    /// `process.version`; that of the first process if missing.
    node: Option<String>,
    /// Root of the repository on the machine that recorded.
    root: Option<String>,
}

/// The facts of a run.
#[derive(Debug, Default)]
pub(super) struct RunFacts {
    pub given: GivenFacts,
    pub run_id: String,
    /// Wall time of the start, microseconds after 1970.
    pub started_us: i64,
    /// Work of all threads, microseconds.
    pub busy_us: u64,
    /// Length of the longest clock's span, microseconds.
    pub duration_us: u64,
    /// Count of samples.
    pub samples: u64,
    /// Usual time between two samples, microseconds.
    pub interval_us: i64,
    /// Version of Node that the recordings tell.
    pub node: Option<String>,
}

impl GivenFacts {
    /// Reads the facts.
    pub(super) fn parse(json: &str) -> Result<Self, LakeTablesError> {
        serde_json::from_str(json).map_err(LakeTablesError::Facts)
    }

    /// Returns the root of the repository with slashes; none if it is not known.
    pub(super) fn root(&self) -> Option<String> {
        known(&self.root).map(|root| with_slashes(&root).into_owned())
    }
}

impl RunFacts {
    /// Returns the columns of the facts, in their order.
    pub(super) fn columns(&self) -> Vec<LakeColumn> {
        let GivenFacts { commit, commit_seq, branch, job, host, node, .. } = &self.given;
        let text = |text: &Option<String>| LakeColumn::SameText(known(text));
        let node = known(node).or(known(&self.node));
        vec![
            LakeColumn::SameText(Some(self.run_id.clone())),
            LakeColumn::SameLong(self.started_us),
            text(commit),
            LakeColumn::SameInt(commit_seq.map(int)),
            text(branch),
            text(job),
            text(host),
            LakeColumn::SameText(node),
            LakeColumn::SameText(Some(tool())),
            LakeColumn::SameLong(long(self.busy_us)),
            LakeColumn::SameLong(long(self.duration_us)),
            LakeColumn::SameLong(long(self.samples)),
            LakeColumn::SameInt(Some(int(self.interval_us))),
        ]
    }
}

/// Returns a text that is not empty.
fn known(text: &Option<String>) -> Option<String> {
    text.clone().filter(|text| !text.is_empty())
}

/// Returns a number as a column of 32 bits has it.
fn int(number: i64) -> i32 {
    i32::try_from(number).unwrap_or(if number < 0 { i32::MIN } else { i32::MAX })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_that_are_missing_or_empty_are_null() {
        let given =
            GivenFacts::parse(r#"{"repo":"o/n","commit":"","branch":"b","host":null}"#).unwrap();
        assert_eq!((known(&given.commit), known(&given.branch)), (None, Some("b".into())));
        assert_eq!((given.root(), given.commit_seq), (None, None));
        let error = GivenFacts::parse("[").unwrap_err().to_string();
        assert!(error.contains("facts of the run"), "{error}");
        assert!(GivenFacts::parse(r#"{"commitSeq":"x"}"#).is_err());
    }

    #[test]
    fn numbers_that_are_too_large_stay_the_largest() {
        assert_eq!([int(5), int(i64::MAX), int(i64::MIN)], [5, i32::MAX, i32::MIN]);
        assert_eq!([long(7), long(u64::MAX)], [7, i64::MAX]);
    }
}

//! Why the tables of a run were not written.

use super::output::lake_file::TableError;
use cpu_prof_tools::read::load_error::LoadError;

/// Why the tables of a run were not written, as a sentence for the user.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LakeTablesError {
    /// What is told of the run has a wrong form.
    #[error("the facts of the run are wrong: {0}")]
    Facts(#[source] serde_json::Error),
    /// The run has nothing to show.
    #[error(transparent)]
    Input(#[from] LoadError),
    /// A table could not be written.
    #[error(transparent)]
    Output(#[from] TableError),
}

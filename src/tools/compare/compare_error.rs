//! Why runs were not compared.

use crate::read::load_error::LoadError;

/// Why runs, or values of runs, were not compared.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    /// A run has nothing to show.
    #[error(transparent)]
    Run(#[from] LoadError),
    /// What was given, or what was found, is no JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// Given rows differ in their counts of values.
    #[error("the rows have values of different numbers of runs")]
    UnequalRows,
}

//! Adds a run.

use serde::{Deserialize, Serialize};

use super::commit::{commit, stem_of};
use super::handle::Lake;
use super::snapshot::{self, LakeScope};
use super::upload::{Last, Upload};
use crate::layout::partition::{LAST_TABLE, Partition};
use crate::live::replacement::{Adding, adding};
use crate::store::failure::LakeError;

/// How often a replacement is tried again where others commit changes to the same day.
const ATTEMPTS: usize = 20;

/// What is added, as JavaScript passes it.
#[derive(Debug, Deserialize)]
pub struct AddRequest {
    repo: String,
    date: String,
    stem: String,
    /// A path of this machine.
    folder: String,
    /// Whether a run that is there with other contents is replaced.
    replace: bool,
}

/// What became of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AddOutcome {
    Added,
    /// The run was there, and stays as it was.
    Present,
    Replaced,
}

impl Lake {
    /// Adds a run, unless it is there.
    pub async fn add(&self, request: &AddRequest) -> Result<AddOutcome, LakeError> {
        let partition = Partition::of(&request.repo, &request.date)?;
        let stem = stem_of(&request.stem)?;
        let upload = Upload::of(&partition, &stem, &request.folder)?;
        let objects = self.open_to_write().await?;
        let scope = LakeScope::of(&partition);
        for _ in 0..ATTEMPTS {
            let mut snapshot = snapshot::read(&objects, &scope, &[LAST_TABLE]).await?;
            let contents = snapshot.partitions.remove(&partition).unwrap_or_default();
            let changes = contents.plain_changes();
            match adding(&stem, &changes, &contents.present(), request.replace) {
                Adding::Present => return Ok(AddOutcome::Present),
                Adding::Upload => {
                    upload.run(&objects, Last::IfAbsent).await?;
                    return Ok(AddOutcome::Added);
                }
                Adding::Commit(change) => {
                    let (number, uploads) = (contents.next_change(), [&upload]);
                    if commit(&objects, &partition, number, &change, &uploads).await? {
                        return Ok(AddOutcome::Replaced);
                    }
                }
                Adding::Compacted => {
                    return Err(LakeError(format!(
                        "the run is in a compacted file of the lake {}, and cannot be replaced there; \
                         add it without --replace to leave it as it is",
                        self.name
                    )));
                }
                Adding::ReplacedBefore => {
                    return Err(LakeError(format!(
                        "the lake {} had the run with exactly these facts before, and it was replaced; \
                         what was replaced cannot come back: change a fact (--job, --branch)",
                        self.name
                    )));
                }
            }
        }
        Err(LakeError(format!(
            "others change {} in the lake {} all the time; try again later",
            partition.named(),
            self.name
        )))
    }
}

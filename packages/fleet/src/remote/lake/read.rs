//! Tells what of a lake is live, and gets the files of it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::cache::{Cache, remove_unused};
use super::handle::Lake;
use super::snapshot::{self, LakeScope, Snapshot};
use crate::layout::partition::{LAST_TABLE, TABLES, is_date};
use crate::live::standing::Standing;
use crate::store::failure::LakeError;
use crate::store::objects::{Object, Objects};

/// How often a lake is read again where files were removed before they were fetched.
const ATTEMPTS: usize = 5;

/// What is wanted, as JavaScript passes it.
#[derive(Debug, Deserialize)]
pub struct LiveRequest {
    repo: Option<String>,
    /// The first day, and the last.
    from: Option<String>,
    to: Option<String>,
    tables: Vec<String>,
    /// The folder for the files of a remote lake.
    cache: Option<String>,
}

/// What is live.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LiveAnswer {
    partitions: Vec<LivePartition>,
    /// Paths of this machine, by table.
    files: BTreeMap<String, Vec<String>>,
    /// Count of the files that are of nothing of ours, or incomplete.
    ignored: usize,
    /// Whether a live run lacks a file.
    #[serde(skip)]
    is_cut: bool,
}

/// A partition that has runs.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct LivePartition {
    repo: String,
    date: String,
    stems: Vec<String>,
    /// What is there, and nobody reads.
    replaced_stems: Vec<String>,
    next_change: u32,
}

impl Lake {
    /// Returns what is live, and paths of its files, which are fetched from a remote lake.
    pub async fn live(&self, request: &LiveRequest) -> Result<LiveAnswer, LakeError> {
        for date in [&request.from, &request.to].into_iter().flatten() {
            if !is_date(date) {
                return Err(LakeError(format!("{date:?} is no date as 2026-01-31")));
            }
        }
        let known = |table: &String| TABLES.into_iter().find(|known| known == table);
        let tables: Option<Vec<&'static str>> = request.tables.iter().map(known).collect();
        let Some(tables) = tables else {
            return Err(LakeError(format!("a lake has the tables {}", TABLES.join(", "))));
        };
        let objects = self.open_to_read().await?;
        let LiveRequest { repo, from, to, .. } = request;
        let scope = LakeScope { repo: repo.clone(), from: from.clone(), to: to.clone() };
        for attempt in 1..=ATTEMPTS {
            let snapshot = snapshot::read(&objects, &scope, &tables).await?;
            if snapshot.repos == 0 && !self.has_repos(&objects).await? {
                return Err(self.empty());
            }
            let answer = self.answer(&objects, &snapshot, &tables, request).await?;
            // Where a file of a live run is gone, another took its place meanwhile, or it was lost.
            if let Some(answer) = answer.filter(|answer| !answer.is_cut || attempt == ATTEMPTS) {
                return Ok(answer);
            }
        }
        Err(LakeError(format!(
            "files of the lake {} are removed faster than they can be fetched; try again",
            self.name
        )))
    }

    async fn has_repos(&self, objects: &Objects) -> Result<bool, LakeError> {
        let folders = objects.folders(&format!("v1/{LAST_TABLE}")).await?;
        Ok(!folders.is_empty())
    }

    /// Returns nothing if a file was removed meanwhile.
    async fn answer(
        &self,
        objects: &Objects,
        snapshot: &Snapshot,
        tables: &[&'static str],
        request: &LiveRequest,
    ) -> Result<Option<LiveAnswer>, LakeError> {
        let (mut ignored, mut is_cut) = (snapshot.ignored, false);
        let mut partitions = Vec::new();
        let mut live: Vec<(&'static str, &Object)> = Vec::new();
        for (partition, contents) in &snapshot.partitions {
            let standing = Standing::of(&contents.plain_changes(), &contents.present());
            for table in tables {
                for stem in &standing.live {
                    match contents.files.get(table).and_then(|files| files.get(stem)) {
                        Some(object) => live.push((table, object)),
                        None => {
                            ignored += 1;
                            is_cut = true;
                        }
                    }
                }
            }
            if !standing.live.is_empty() || !standing.dead.is_empty() {
                let texts = |stems: &std::collections::BTreeSet<_>| {
                    stems.iter().map(ToString::to_string).collect()
                };
                partitions.push(LivePartition {
                    repo: partition.repo().to_owned(),
                    date: partition.date().to_owned(),
                    stems: texts(&standing.live),
                    replaced_stems: texts(&standing.dead),
                    next_change: contents.next_change(),
                });
            }
        }
        let paths = match (self.folder(), &request.cache) {
            (Some(folder), _) => live.iter().map(|(_, object)| folder.join(&object.path)).collect(),
            (None, Some(folder)) => {
                let cache = Cache::of(folder.as_ref(), &self.name);
                let objects_of_files = live.iter().map(|(_, object)| *object).collect();
                let Some(paths) = cache.fetch(objects, objects_of_files).await? else {
                    return Ok(None);
                };
                remove_unused(folder.as_ref(), SystemTime::now());
                paths
            }
            (None, None) => return Err(LakeError("there is no folder for fetched files".into())),
        };
        let mut files: BTreeMap<String, Vec<String>> =
            tables.iter().map(|table| ((*table).to_owned(), Vec::new())).collect();
        for ((table, _), path) in live.iter().zip(paths) {
            files.entry((*table).to_owned()).or_default().push(text_of(path)?);
        }
        Ok(Some(LiveAnswer { partitions, files, ignored, is_cut }))
    }
}

fn text_of(path: PathBuf) -> Result<String, LakeError> {
    path.into_os_string()
        .into_string()
        .map_err(|path| LakeError(format!("{} is no path as Unicode", path.display())))
}

//! A lake that a command has opened.

use std::fs;
use std::io;
use std::path::PathBuf;

use crate::layout::partition::VERSION_FOLDER;
use crate::store::address::Address;
use crate::store::failure::LakeError;
use crate::store::objects::{Objects, Variables};

/// Requests, or files, that are worked on side by side.
pub(super) const AT_ONCE: usize = 8;

/// An address, with the settings of an object store.
#[derive(Debug)]
pub struct Lake {
    /// As the user wrote it.
    pub name: String,
    address: Address,
    variables: Variables,
}

impl Lake {
    /// Reads an address. Nothing is opened. The error is for the user.
    pub fn of(name: String, variables: Variables) -> Result<Self, LakeError> {
        let address = Address::parse(&name)?;
        Ok(Self { name, address, variables })
    }

    pub fn is_remote(&self) -> bool {
        self.address.is_remote()
    }

    /// Returns the folder of a local lake.
    pub(super) fn folder(&self) -> Option<&PathBuf> {
        match &self.address {
            Address::Folder(folder) => Some(folder),
            Address::Bucket { .. } => None,
        }
    }

    /// Opens the lake for writing. A folder is made if it is missing.
    pub(super) async fn open_to_write(&self) -> Result<Objects, LakeError> {
        if let Some(folder) = self.folder() {
            fs::create_dir_all(folder).map_err(|error| {
                LakeError(format!(
                    "the folder of the lake {} cannot be made: {error}; take another folder",
                    self.name
                ))
            })?;
        }
        let objects = Objects::open(&self.name, &self.address, &self.variables)?;
        self.check_version(&objects).await?;
        Ok(objects)
    }

    /// Opens the lake for reading.
    pub(super) async fn open_to_read(&self) -> Result<Objects, LakeError> {
        if let Some(folder) = self.folder() {
            match fs::metadata(folder) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(self.empty()),
                Ok(found) if !found.is_dir() => {
                    return Err(LakeError(format!(
                        "{} is a file, and a lake is a folder",
                        self.name
                    )));
                }
                _ => {}
            }
        }
        let objects = Objects::open(&self.name, &self.address, &self.variables)?;
        self.check_version(&objects).await?;
        Ok(objects)
    }

    /// Refuses a lake that another version of this program wrote.
    async fn check_version(&self, objects: &Objects) -> Result<(), LakeError> {
        let folders = objects.folders("").await?;
        let is_version = |name: &&String| {
            let digits = name.strip_prefix('v').unwrap_or_default();
            !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
        };
        if folders.iter().any(|name| name == VERSION_FOLDER) {
            return Ok(());
        }
        match folders.iter().find(is_version) {
            Some(other) => Err(LakeError(format!(
                "the lake {} has the layout {other}, and this version of cpu-prof has \
                 {VERSION_FOLDER}; install the version that wrote the lake, or begin another lake",
                self.name
            ))),
            None => Ok(()),
        }
    }

    /// Returns the error of a lake without runs.
    pub(super) fn empty(&self) -> LakeError {
        LakeError(format!(
            "there is no run in the lake {name}; check its name, or add a run: cpu-prof lake add \
             profiles/run --to {name}",
            name = self.name
        ))
    }
}

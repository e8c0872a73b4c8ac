//! The files of a lake by their paths: whole or not there, listed, removed.

use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use futures_util::TryStreamExt;
use object_store::path::Path as ObjectPath;
use object_store::{Error, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode};

use super::address::Address;
use super::connect::connect;
pub(crate) use super::credentials::Variables;
use super::failure::{Failures, LakeError};

/// A file of the lake.
#[derive(Debug, Clone)]
pub(crate) struct Object {
    pub path: String,
    /// Bytes.
    pub size: u64,
    pub modified: SystemTime,
}

impl From<ObjectMeta> for Object {
    fn from(meta: ObjectMeta) -> Self {
        let ObjectMeta { location, size, last_modified, .. } = meta;
        Self { path: location.into(), size, modified: last_modified.into() }
    }
}

/// The files of a lake.
#[derive(Debug)]
pub(crate) struct Objects {
    store: Arc<dyn ObjectStore>,
    failures: Arc<Failures>,
    /// Whether lists are in the order of the paths.
    is_sorted: bool,
    /// The lake in messages.
    lake: String,
}

impl Objects {
    /// Opens a lake. A folder must be there.
    pub(crate) fn open(
        lake: &str,
        address: &Address,
        variables: &Variables,
    ) -> Result<Self, LakeError> {
        let failures = Arc::default();
        let store = connect(address, variables, &failures)
            .map_err(|why| LakeError(format!("the lake {lake} cannot be opened: {why}")))?;
        Ok(Self { store, failures, is_sorted: address.is_remote(), lake: lake.into() })
    }

    /// Returns the error of an operation.
    fn failed(&self, action: &str, path: &str, error: &Error) -> LakeError {
        let why = self.failures.explain(error);
        let what = if path.is_empty() { String::new() } else { format!("{path} of ") };
        LakeError(format!("{what}the lake {} cannot be {action}: {why}", self.lake))
    }

    /// Writes a file, over one that is there.
    pub(crate) async fn put(&self, path: &str, bytes: Bytes) -> Result<(), LakeError> {
        let put = self.store.put(&location(path)?, bytes.into()).await;
        put.map(|_| ()).map_err(|error| self.failed("written", path, &error))
    }

    /// Writes a file where none is. Returns whether it did.
    pub(crate) async fn put_new(&self, path: &str, bytes: Bytes) -> Result<bool, LakeError> {
        let options = PutMode::Create.into();
        match self.store.put_opts(&location(path)?, bytes.into(), options).await {
            Ok(_) => Ok(true),
            Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => Ok(false),
            Err(error) => Err(self.failed("written", path, &error)),
        }
    }

    /// Returns a file; nothing if it is not there.
    pub(crate) async fn get(&self, path: &str) -> Result<Option<Bytes>, LakeError> {
        let bytes = match self.store.get(&location(path)?).await {
            Ok(result) => result.bytes().await,
            Err(error) => Err(error),
        };
        found(bytes).map_err(|error| self.failed("read", path, &error))
    }

    /// Returns whether a file is there.
    pub(crate) async fn has(&self, path: &str) -> Result<bool, LakeError> {
        self.modified(path).await.map(|modified| modified.is_some())
    }

    /// Returns when a file was written; nothing if it is not there.
    pub(crate) async fn modified(&self, path: &str) -> Result<Option<SystemTime>, LakeError> {
        let head = found(self.store.head(&location(path)?).await);
        head.map(|head| head.map(|meta| meta.last_modified.into()))
            .map_err(|error| self.failed("read", path, &error))
    }

    /// Removes a file. It does not matter whether it is there.
    pub(crate) async fn remove(&self, path: &str) -> Result<(), LakeError> {
        let removed = found(self.store.delete(&location(path)?).await);
        removed.map(|_| ()).map_err(|error| self.failed("removed", path, &error))
    }

    /// Lists the names of the folders in a folder; the empty path is the lake itself.
    pub(crate) async fn folders(&self, path: &str) -> Result<Vec<String>, LakeError> {
        let location = location(path)?;
        let folder = (!path.is_empty()).then_some(&location);
        let listed = self.store.list_with_delimiter(folder).await;
        let listed = listed.map_err(|error| self.failed("listed", path, &error))?;
        let name = |folder: &ObjectPath| folder.filename().map(str::to_owned);
        Ok(listed.common_prefixes.iter().filter_map(name).collect())
    }

    /// Lists the files below a folder whose paths come after `after`, and not those that `is_beyond` says
    /// are beyond the wanted ones.
    pub(crate) async fn list(
        &self,
        folder: &str,
        after: &str,
        is_beyond: impl Fn(&str) -> bool,
    ) -> Result<Vec<Object>, LakeError> {
        let mut listed = self.store.list_with_offset(Some(&location(folder)?), &location(after)?);
        let mut objects = Vec::new();
        loop {
            match listed.try_next().await {
                Ok(Some(meta)) => {
                    let object = Object::from(meta);
                    if !is_beyond(&object.path) {
                        objects.push(object);
                    } else if self.is_sorted {
                        return Ok(objects);
                    }
                }
                Ok(None) => return Ok(objects),
                Err(error) => return Err(self.failed("listed", folder, &error)),
            }
        }
    }
}

/// Returns a path as the library has it. Those of a lake are all valid.
fn location(path: &str) -> Result<ObjectPath, LakeError> {
    ObjectPath::parse(path).map_err(|_| LakeError(format!("{path} is no path in a lake")))
}

/// Turns the error of a file that is not there into nothing.
fn found<T>(result: Result<T, Error>) -> Result<Option<T>, Error> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

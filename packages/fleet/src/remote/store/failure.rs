//! Why a request or a file failed, in words for the user. They have no text of a server, and no secret.

use std::error::Error as _;
use std::fmt;
use std::io;
use std::sync::Mutex;

use object_store::Error as ObjectError;

use crate::layout::partition::PartitionError;

/// A message for the user.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct LakeError(pub String);

impl From<PartitionError> for LakeError {
    fn from(error: PartitionError) -> Self {
        Self(error.to_string())
    }
}

/// Why an exchange with a server failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The status of an answer, and the code of S3 in it.
    Status(u16, Option<String>),
    /// The host, which has no connection, and the reason.
    Unreachable(String, String),
    /// The host that did not answer in time.
    Stalled(String),
    /// The host that ended the connection too early.
    Cut(String),
    /// Why the connection is not secure.
    Untrusted(String),
    /// The address of the server begins with `http:`, which no setting permits.
    Plain,
    /// No setting has credentials, and the machine has none.
    NoCredentials,
    /// The host that answered what S3 does not.
    Garbage(String),
    /// The host whose list does not end.
    Endless(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(status, code) => {
                write!(f, "the server answered {status}")?;
                if let Some(code) = code {
                    write!(f, " {code}")?;
                }
                write!(f, "; {}", advice(*status, code.as_deref()))
            }
            Self::Unreachable(host, why) => write!(
                f,
                "{host} cannot be reached ({why}); check the network, AWS_ENDPOINT_URL and \
                 AWS_REGION"
            ),
            Self::Stalled(host) => write!(
                f,
                "{host} did not answer in time; try again, or give it more time with \
                 AWS_TIMEOUT=300s"
            ),
            Self::Cut(host) => {
                write!(f, "{host} ended the connection before the end of its answer; try again")
            }
            Self::Untrusted(why) => write!(
                f,
                "the connection is not secure ({why}); AWS_CA_BUNDLE names a file with the \
                 certificates of your own authority"
            ),
            Self::Plain => write!(
                f,
                "its address is http://, where everybody on the way can read and change data; \
                 use https://, or set AWS_ALLOW_HTTP=true for a server of your own"
            ),
            Self::NoCredentials => write!(
                f,
                "there are no credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY \
                 (aws configure export-credentials --format env prints those of a profile)"
            ),
            Self::Garbage(host) => {
                write!(f, "{host} answered what no object store answers; check AWS_ENDPOINT_URL")
            }
            Self::Endless(host) => write!(
                f,
                "{host} lists the same files again and again, or more than a lake has; check AWS_ENDPOINT_URL \
                 and the name of the bucket"
            ),
        }
    }
}

/// Returns what to do about a status.
fn advice(status: u16, code: Option<&str>) -> &'static str {
    match (status, code) {
        (_, Some("NoSuchBucket")) => "there is no such bucket: check its name and AWS_ENDPOINT_URL",
        (_, Some("RequestTimeTooSkewed")) => "set the clock of this machine",
        (_, Some("ExpiredToken")) => "the credentials have expired: get new ones",
        (_, Some("InvalidAccessKeyId" | "SignatureDoesNotMatch")) => {
            "check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
        }
        (301 | 307 | 308 | 400, _) => "the bucket can be in another region: check AWS_REGION",
        (401 | 403, _) => {
            "check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, and what this \
             key may do with the bucket"
        }
        (404, _) => "check the name of the bucket and AWS_ENDPOINT_URL",
        (429, _) => "it has too many requests: try again later",
        (500.., _) => "the server has a problem: try again later",
        _ => "check AWS_ENDPOINT_URL",
    }
}

/// The last failure of requests: what an object store's library says of it has texts of the server.
#[derive(Debug, Default)]
pub(crate) struct Failures(Mutex<Option<Failure>>);

impl Failures {
    pub(super) fn note(&self, failure: Failure) {
        if let Ok(mut last) = self.0.lock() {
            *last = Some(failure);
        }
    }

    fn last(&self) -> Option<Failure> {
        self.0.lock().ok()?.clone()
    }

    /// Returns why an operation failed.
    pub(super) fn explain(&self, error: &ObjectError) -> String {
        if let Some(io) = io_error(error) {
            return format!("{io}{}", io_advice(io.kind()));
        }
        match self.last() {
            Some(failure) => failure.to_string(),
            None => {
                "the server answered what no object store answers; check AWS_ENDPOINT_URL".into()
            }
        }
    }
}

/// Finds the system's error in one of a local folder.
fn io_error(error: &ObjectError) -> Option<&io::Error> {
    let mut source = error.source();
    while let Some(cause) = source {
        if let Some(io) = cause.downcast_ref::<io::Error>() {
            return Some(io);
        }
        source = cause.source();
    }
    None
}

fn io_advice(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "; make room on the disk, or take another folder"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "; change the rights of the folder, or take another"
        }
        io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory => {
            "; a file has the name of a folder of the lake, or the reverse: take another folder"
        }
        io::ErrorKind::Unsupported => {
            "; this disk has no hard links: take a folder of another disk"
        }
        _ => "",
    }
}

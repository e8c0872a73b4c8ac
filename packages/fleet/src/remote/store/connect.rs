//! Opens the place of a lake.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, S3ConditionalPut};
use object_store::local::LocalFileSystem;
use object_store::path::Path as ObjectPath;
use object_store::prefix::PrefixStore;
use object_store::{BackoffConfig, ObjectStore, RetryConfig};

use super::address::Address;
use super::credentials::{Variables, has_source, with_variables};
use super::failure::{Failures, LakeError};
use super::http::{CA_VARIABLE, Connector};
use super::limits::{Limits, TIME_VARIABLE};

/// How often a request is repeated, and for how long.
const RETRIES: usize = 5;
const RETRY_TIME: Duration = Duration::from_secs(30);
const LONGEST_BREAK: Duration = Duration::from_secs(4);

/// Returns the store of a lake. A folder must be there.
pub(super) fn connect(
    address: &Address,
    variables: &Variables,
    failures: &Arc<Failures>,
) -> Result<Arc<dyn ObjectStore>, LakeError> {
    let (bucket, prefix) = match address {
        Address::Folder(folder) => {
            let store = LocalFileSystem::new_with_prefix(folder)
                .map_err(|error| LakeError(failures.explain(&error)))?;
            return Ok(Arc::new(store));
        }
        Address::Bucket { bucket, prefix } => (bucket, prefix),
    };
    let set = |name: &str| variables.get(name).filter(|value| !value.is_empty());
    let limits = set(TIME_VARIABLE).map_or(Ok(Limits::default()), |value| Limits::of(value))?;
    let certificates = set(CA_VARIABLE).map(|file| {
        fs::read(file).map_err(|error| {
            LakeError(format!("{CA_VARIABLE} names a file that cannot be read: {error}"))
        })
    });
    let certificates = certificates.transpose()?;
    let connector = Connector::new(
        limits,
        certificates.as_deref(),
        Arc::clone(failures),
        has_source(variables),
    )?;
    let backoff = BackoffConfig { max_backoff: LONGEST_BREAK, ..BackoffConfig::default() };
    let retry = RetryConfig { backoff, max_retries: RETRIES, retry_timeout: RETRY_TIME };
    let store = with_variables(AmazonS3Builder::new(), variables)?
        .with_bucket_name(bucket)
        .with_conditional_put(S3ConditionalPut::ETagMatch)
        .with_retry(retry)
        .with_http_connector(connector)
        .build()
        .map_err(|_| {
            LakeError(
                "the variables AWS_… cannot be used: check AWS_ENDPOINT_URL, AWS_ALLOW_HTTP (true or \
                 false), AWS_REGION, and that AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are both set"
                    .into(),
            )
        })?;
    Ok(Arc::new(PrefixStore::new(store, ObjectPath::from(prefix.as_str()))))
}

//! The settings of an object store: the usual variables `AWS_…`.

use std::collections::BTreeMap;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};

use super::failure::LakeError;

/// What is sent in headers, and the reason for a look at it: a line break comes with a copied key.
const IN_HEADERS: [&str; 3] = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"];

/// What the lake decides by itself, whatever the variables say.
const OF_THE_LAKE: [&str; 4] =
    ["AWS_BUCKET", "AWS_BUCKET_NAME", "AWS_CONDITIONAL_PUT", "AWS_COPY_IF_NOT_EXISTS"];

/// Variables of which one says where credentials come from.
const SOURCES: [&str; 6] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_SKIP_SIGNATURE",
    "AWS_METADATA_ENDPOINT",
];

/// The variables, by name.
pub(crate) type Variables = BTreeMap<String, String>;

/// Passes the variables on. The error has no value.
pub(super) fn with_variables(
    mut builder: AmazonS3Builder,
    variables: &Variables,
) -> Result<AmazonS3Builder, LakeError> {
    for name in IN_HEADERS {
        let is_sign = |byte: u8| byte.is_ascii_graphic();
        if variables.get(name).is_some_and(|value| !value.bytes().all(is_sign)) {
            return Err(LakeError(format!(
                "{name} has characters that no key has: a space or a line break?"
            )));
        }
    }
    for (name, value) in variables {
        // An empty variable is none, as for Amazon's own programs.
        if OF_THE_LAKE.contains(&name.as_str()) || value.is_empty() {
            continue;
        }
        if let Ok(key) = name.to_ascii_lowercase().parse::<AmazonS3ConfigKey>() {
            builder = builder.with_config(key, value);
        }
    }
    Ok(builder)
}

/// Returns whether any variable says where credentials come from.
pub(super) fn has_source(variables: &Variables) -> bool {
    SOURCES.iter().any(|name| variables.get(*name).is_some_and(|value| !value.is_empty()))
}

//! Addresses of lakes: a folder, or `s3://bucket/prefix`.

use std::path::PathBuf;

use object_store::path::Path as ObjectPath;

use super::failure::LakeError;

/// What an address of an object store begins with.
const S3: &str = "s3://";

/// Where a lake is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Address {
    Folder(PathBuf),
    Bucket {
        bucket: String,
        /// Without slashes at its ends; may be empty.
        prefix: String,
    },
}

impl Address {
    /// Reads an address.
    pub(crate) fn parse(text: &str) -> Result<Self, LakeError> {
        let Some(rest) = text.strip_prefix(S3) else {
            if let Some((scheme, _)) = text.split_once("://") {
                let known = "a lake is a folder, or s3://bucket/prefix (AWS_ENDPOINT_URL names \
                             another server than Amazon's)";
                return Err(LakeError(format!("{scheme}:// is not supported: {known}")));
            }
            if text.is_empty() {
                return Err(LakeError(
                    "the lake has no name: give a folder, or s3://bucket/prefix".into(),
                ));
            }
            return Ok(Self::Folder(text.into()));
        };
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        let is_sign = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        if bucket.is_empty() || bucket.len() > 255 || !bucket.bytes().all(is_sign) {
            return Err(LakeError(format!(
                "{S3}{bucket} is no name of a bucket, which has letters, digits, dashes and dots: \
                 s3://bucket/prefix"
            )));
        }
        let prefix = prefix.trim_matches('/');
        ObjectPath::parse(prefix).map_err(|_| {
            LakeError(format!(
                "{text} has a prefix that no object store takes: leave out //, /./ and /../"
            ))
        })?;
        Ok(Self::Bucket { bucket: bucket.into(), prefix: prefix.into() })
    }

    pub(crate) fn is_remote(&self) -> bool {
        matches!(self, Self::Bucket { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_folders_or_buckets() {
        let bucket = |bucket: &str, prefix: &str| Address::Bucket {
            bucket: bucket.into(),
            prefix: prefix.into(),
        };
        assert_eq!(Address::parse("s3://b"), Ok(bucket("b", "")));
        assert_eq!(Address::parse("s3://b.c-d_E1/"), Ok(bucket("b.c-d_E1", "")));
        assert_eq!(Address::parse("s3://b/a/b/"), Ok(bucket("b", "a/b")));
        assert_eq!(Address::parse("C:\\lake"), Ok(Address::Folder("C:\\lake".into())));
        assert_eq!(Address::parse("a/s3:"), Ok(Address::Folder("a/s3:".into())));
        for (text, words) in [
            ("", "has no name"),
            ("s3://", "no name of a bucket"),
            ("s3:///prefix", "no name of a bucket"),
            ("s3://key:secret@bucket/x", "no name of a bucket"),
            ("s3://b/../c", "a prefix"),
            ("s3://b/a//b", "a prefix"),
            ("gs://b/c", "gs:// is not supported"),
        ] {
            assert!(Address::parse(text).unwrap_err().0.contains(words), "{text}");
        }
    }
}

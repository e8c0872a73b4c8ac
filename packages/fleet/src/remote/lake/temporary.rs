//! Names of unfinished files, in the cache and in a folder of a lake, and the removal of forgotten ones.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// Returns a name that no other writer takes, and that does not end as the name of a table's file.
pub(super) fn temporary_name() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    format!(
        "{}-{}-{}.partial",
        std::process::id(),
        since_1970.as_nanos(),
        COUNT.fetch_add(1, Ordering::Relaxed)
    )
}

/// Removes the unfinished files of killed writers below a folder: `<name>.parquet#1` and the like. Returns
/// their count.
pub(super) fn remove_unfinished(folder: &Path, now: SystemTime, grace: Duration) -> usize {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let mut removed = 0;
    for entry in entries.flatten() {
        // Does not follow links.
        let Ok(found) = entry.metadata() else { continue };
        if found.is_dir() {
            removed += remove_unfinished(&entry.path(), now, grace);
        } else if found.is_file() && entry.file_name().to_str().is_some_and(is_unfinished) {
            let age = found.modified().ok().and_then(|time| now.duration_since(time).ok());
            if age.is_some_and(|age| age >= grace) && fs::remove_file(entry.path()).is_ok() {
                removed += 1;
            }
        }
    }
    removed
}

/// Returns whether a name is that of an unfinished file: object_store's for local files.
fn is_unfinished(name: &str) -> bool {
    name.rsplit_once('#').is_some_and(|(whole, digits)| {
        let is_ours = whole.ends_with(".parquet") || whole.ends_with(".json");
        is_ours && !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_unfinished_files_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let inner = dir.path().join("repo=a");
        fs::create_dir(&inner).unwrap();
        for name in
            ["a.parquet", "a.parquet#1", "1.json#12", "a.parquet#", "notes#1", "a.parquet#x"]
        {
            fs::write(inner.join(name), "").unwrap();
        }
        let now = SystemTime::now() + Duration::from_secs(60);
        assert_eq!(remove_unfinished(dir.path(), now, Duration::from_secs(3600)), 0);
        assert_eq!(remove_unfinished(dir.path(), now, Duration::from_secs(10)), 2);
        assert_eq!(fs::read_dir(inner).unwrap().count(), 4);
    }

    #[test]
    fn names_are_of_no_table() {
        let (first, second) = (temporary_name(), temporary_name());
        assert_ne!(first, second);
        assert!(!first.ends_with(".parquet"));
    }
}

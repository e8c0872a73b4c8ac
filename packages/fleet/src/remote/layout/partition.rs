//! Partitions: a day of a repository, and the paths of what is in it.

use super::segment;
use super::stem::Stem;

/// The folder of this version of the layout.
pub(crate) const VERSION_FOLDER: &str = "v1";
/// The table that is written last: a stem is there when its file of this table is.
pub(crate) const LAST_TABLE: &str = "functions";
/// The tables in the order in which they are written.
pub(crate) const TABLES: [&str; 5] = ["stacks", "stack_times", "threads", "groups", LAST_TABLE];
/// The folder of the changes, beside those of the tables.
pub(crate) const CHANGES: &str = "changes";
/// How the name of a table's file ends.
const TABLE_FILE: &str = ".parquet";
/// How the name of a change ends, and its digits.
const CHANGE_FILE: &str = ".json";
const CHANGE_DIGITS: usize = 8;

/// What is wrong with the names of a partition.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PartitionError {
    #[error("the name of the repository is empty or too long")]
    Repository,
    #[error("{0:?} is no date as 2026-01-31")]
    Date(String),
}

/// A day of a repository.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Partition {
    repo: String,
    date: String,
}

impl Partition {
    /// Returns the partition of these names.
    pub(crate) fn of(repo: &str, date: &str) -> Result<Self, PartitionError> {
        if segment::encode(repo).is_none() {
            return Err(PartitionError::Repository);
        }
        if !is_date(date) {
            return Err(PartitionError::Date(date.into()));
        }
        Ok(Self { repo: repo.into(), date: date.into() })
    }

    pub(crate) fn repo(&self) -> &str {
        &self.repo
    }

    pub(crate) fn date(&self) -> &str {
        &self.date
    }

    /// Returns the folder of the partition in a table, or in the changes.
    pub(crate) fn folder(&self, table: &str) -> String {
        format!("{}/date={}", repo_folder(table, &self.repo), self.date)
    }

    pub(crate) fn table_file(&self, table: &str, stem: &Stem) -> String {
        format!("{}/{stem}{TABLE_FILE}", self.folder(table))
    }

    pub(crate) fn change_file(&self, number: u32) -> String {
        format!("{}/{number:0CHANGE_DIGITS$}{CHANGE_FILE}", self.folder(CHANGES))
    }

    /// Returns a phrase for messages.
    pub(crate) fn named(&self) -> String {
        format!("{} on {}", self.repo, self.date)
    }
}

/// Returns the folder of a repository in a table, or in the changes. `repo` is a valid name.
pub(crate) fn repo_folder(table: &str, repo: &str) -> String {
    let segment = segment::encode(repo).unwrap_or_default();
    format!("{VERSION_FOLDER}/{table}/repo={segment}")
}

/// Returns the repository of a folder `…/repo=<name>`; nothing for any other folder.
pub(crate) fn repo_of(folder: &str) -> Option<String> {
    let name = folder.rsplit_once('/').map_or(folder, |(_, name)| name);
    segment::decode(name.strip_prefix("repo=")?)
}

/// Returns the partition and the stem of a table's file; nothing if the path is of nothing of ours.
pub(crate) fn parse_table_file(path: &str) -> Option<(Partition, Stem)> {
    let (partition, name) = parse(path)?;
    Some((partition, Stem::of(name.strip_suffix(TABLE_FILE)?)?))
}

/// Returns the partition and the number of a change; nothing if the path is of nothing of ours.
pub(crate) fn parse_change_file(path: &str) -> Option<(Partition, u32)> {
    let (partition, name) = parse(path)?;
    let digits = name.strip_suffix(CHANGE_FILE)?;
    let is_number =
        digits.len() == CHANGE_DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number = digits.parse().ok().filter(|number| is_number && *number > 0)?;
    Some((partition, number))
}

/// Splits `v1/<table>/repo=<R>/date=<D>/<name>`.
fn parse(path: &str) -> Option<(Partition, &str)> {
    let parts: Vec<&str> = path.split('/').collect();
    let [VERSION_FOLDER, _, repo, date, name] = parts[..] else { return None };
    let repo = segment::decode(repo.strip_prefix("repo=")?)?;
    Some((Partition::of(&repo, date.strip_prefix("date=")?).ok()?, name))
}

/// Returns whether a text is a day of the calendar: `yyyy-mm-dd`.
pub(crate) fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_shaped = bytes.len() == 10
        && bytes.iter().enumerate().all(|(at, byte)| match at {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    if !is_shaped {
        return false;
    }
    let number = |range: std::ops::Range<usize>| text[range].parse::<u32>().unwrap_or(0);
    let (year, month, day) = (number(0..4), number(5..7), number(8..10));
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 => 28 + u32::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return false,
    };
    (1..=days).contains(&day)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEM: &str = "0123456789abcdef-fedcba9876543210";

    #[test]
    fn paths_come_back() {
        let partition = Partition::of("org/app", "2026-02-28").unwrap();
        let stem = Stem::of(STEM).unwrap();
        let file = partition.table_file("functions", &stem);
        assert_eq!(file, format!("v1/functions/repo=org%2Fapp/date=2026-02-28/{STEM}.parquet"));
        assert_eq!(parse_table_file(&file), Some((partition.clone(), stem)));
        let change = partition.change_file(12);
        assert_eq!(change, "v1/changes/repo=org%2Fapp/date=2026-02-28/00000012.json");
        assert_eq!(parse_change_file(&change), Some((partition, 12)));
        assert_eq!(repo_of("v1/functions/repo=org%2Fapp").as_deref(), Some("org/app"));
    }

    #[test]
    fn foreign_paths_are_of_nothing() {
        for path in [
            &format!("v1/functions/repo=a/date=2026-02-29/{STEM}.parquet"),
            &format!("v1/functions/repo=a/{STEM}.parquet"),
            &format!("v1/functions/repo=a/date=2026-02-28/{STEM}.parquet#1"),
            &format!("v1/functions/repo=a/date=2026-02-28/more/{STEM}.parquet"),
            &format!("v1/functions/repo=a b/date=2026-02-28/{STEM}.parquet"),
            "v1/functions/repo=a/date=2026-02-28/data.parquet",
            "v1/functions/_SUCCESS",
        ] {
            assert_eq!(parse_table_file(path), None, "{path}");
        }
        for name in ["1.json", "00000000.json", "+0000001.json", "00000001.json#1", "x.json"] {
            let path = format!("v1/changes/repo=a/date=2026-02-28/{name}");
            assert_eq!(parse_change_file(&path), None, "{path}");
        }
    }

    #[test]
    fn dates_are_days_of_the_calendar() {
        for date in ["2026-01-31", "2024-02-29", "2000-02-29", "2026-04-30"] {
            assert!(is_date(date), "{date}");
        }
        for date in [
            "",
            "2026-1-31",
            "2026-02-29",
            "1900-02-29",
            "2026-04-31",
            "2026-13-01",
            "2026-01-00",
            "2026-01-é1",
        ] {
            assert!(!is_date(date), "{date}");
        }
        assert!(Partition::of("a", "today").is_err());
        assert!(Partition::of("", "2026-01-31").is_err());
    }
}

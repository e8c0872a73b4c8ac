//! Settings, from the environment.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::Error;
use crate::filename::NamePattern;

/// What a process records, and where to: checked, with every default filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// The output directory, absolute: the program may change its own working directory later.
    pub dir: PathBuf,
    /// The files' names, without extension.
    pub name: NamePattern,
    /// Between two samples, microseconds.
    pub interval_us: u32,
    /// Between two flushes.
    pub flush_interval: Duration,
    /// How `node_modules` frames are shown.
    pub ignore_list: IgnoreList,
    /// Call-tree nodes of one recording that are remembered before the tree is forgotten.
    pub max_nodes: usize,
}

/// Whether DevTools may fold `node_modules` frames into 'On ignore list'.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IgnoreList {
    /// Shown where the program itself is a tool under `node_modules`, else left to DevTools.
    Auto,
    /// Left to DevTools.
    Keep,
    /// Always shown.
    Show,
}

impl Config {
    /// Reads `CPU_PROF_*` through `get`; `cwd` is the process's working directory.
    pub fn read(get: impl Fn(&str) -> Option<OsString>, cwd: &Path) -> Result<Self, Error> {
        // An empty variable is as good as none: it is how a shell takes a setting back.
        let value = |name: &str| get(name).filter(|value| !value.is_empty());
        let text = |name| value(name).map(|value| value.to_string_lossy().into_owned());

        let name = text("CPU_PROF_NAME").unwrap_or_else(|| NamePattern::DEFAULT.to_owned());
        choice("CPU_PROF_FORMAT", text("CPU_PROF_FORMAT"), &[("trace", ())])?;
        choice("CPU_PROF_SOURCE", text("CPU_PROF_SOURCE"), &[("auto", ()), ("v8", ())])?;
        Ok(Self {
            dir: value("CPU_PROF_DIR").map_or_else(|| cwd.to_owned(), |dir| cwd.join(dir)),
            name: NamePattern::parse(&name).map_err(|allowed| Error::Setting {
                name: "CPU_PROF_NAME",
                value: name,
                allowed,
            })?,
            interval_us: number(
                "CPU_PROF_INTERVAL",
                text("CPU_PROF_INTERVAL"),
                1000,
                (50, 1_000_000),
                "microseconds",
            )?,
            flush_interval: Duration::from_millis(u64::from(number(
                "CPU_PROF_FLUSH_INTERVAL",
                text("CPU_PROF_FLUSH_INTERVAL"),
                500,
                (10, 60_000),
                "milliseconds",
            )?)),
            ignore_list: choice(
                "CPU_PROF_IGNORE_LIST",
                text("CPU_PROF_IGNORE_LIST"),
                &[
                    ("auto", IgnoreList::Auto),
                    ("keep", IgnoreList::Keep),
                    ("show", IgnoreList::Show),
                ],
            )?,
            max_nodes: number(
                "CPU_PROF_MAX_NODES",
                text("CPU_PROF_MAX_NODES"),
                200_000,
                (1000, 100_000_000),
                "call-tree nodes",
            )? as usize,
        })
    }
}

fn number(
    name: &'static str,
    value: Option<String>,
    default: u32,
    (least, most): (u32, u32),
    unit: &str,
) -> Result<u32, Error> {
    let Some(value) = value else { return Ok(default) };
    // `parse` alone would take a leading plus sign.
    let digits = value.bytes().all(|byte| byte.is_ascii_digit());
    match value.parse() {
        Ok(number) if digits && (least..=most).contains(&number) => Ok(number),
        _ => Err(Error::Setting {
            name,
            value,
            allowed: format!("a whole number of {unit} from {least} to {most} is allowed"),
        }),
    }
}

/// The first choice is the default.
fn choice<T: Copy>(
    name: &'static str,
    value: Option<String>,
    choices: &[(&str, T)],
) -> Result<T, Error> {
    let wanted = value.as_deref().unwrap_or(choices[0].0);
    match choices.iter().find(|(word, _)| *word == wanted) {
        Some((_, choice)) => Ok(*choice),
        None => {
            let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
            let allowed = match words.as_slice() {
                [one] => format!("only {one} is allowed"),
                [rest @ .., last] => format!("{} or {last} is allowed", rest.join(", ")),
                [] => String::new(),
            };
            Err(Error::Setting { name, value: wanted.to_owned(), allowed })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;
    use std::os::unix::ffi::OsStringExt;

    use proptest::collection::vec;
    use proptest::option::weighted;
    use proptest::prelude::*;
    use proptest::sample::select;

    fn read(pairs: &[(&str, &str)]) -> Result<Config, Error> {
        let get = |name: &str| {
            pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value))
        };
        Config::read(get, Path::new("/home/me"))
    }

    #[test]
    fn defaults() {
        let config = read(&[]).unwrap();
        assert_eq!(config.dir, Path::new("/home/me"));
        assert_eq!(config.name, NamePattern::parse(NamePattern::DEFAULT).unwrap());
        assert_eq!(config.interval_us, 1000);
        assert_eq!(config.flush_interval, Duration::from_millis(500));
        assert_eq!(config.ignore_list, IgnoreList::Auto);
    }

    #[test]
    fn an_empty_variable_is_the_default() {
        let empty = read(&[
            ("CPU_PROF_DIR", ""),
            ("CPU_PROF_NAME", ""),
            ("CPU_PROF_INTERVAL", ""),
            ("CPU_PROF_IGNORE_LIST", ""),
        ]);
        assert_eq!(empty.unwrap(), read(&[]).unwrap());
    }

    #[test]
    fn a_relative_directory_is_taken_from_the_working_directory() {
        assert_eq!(read(&[("CPU_PROF_DIR", "a b")]).unwrap().dir, Path::new("/home/me/a b"));
        assert_eq!(read(&[("CPU_PROF_DIR", "/abs")]).unwrap().dir, Path::new("/abs"));
    }

    #[test]
    fn every_wrong_value_names_its_setting() {
        for (name, value) in [
            ("CPU_PROF_INTERVAL", "0"),
            ("CPU_PROF_INTERVAL", "49"),
            ("CPU_PROF_INTERVAL", "1000001"),
            ("CPU_PROF_INTERVAL", "-1"),
            ("CPU_PROF_INTERVAL", "+100"),
            ("CPU_PROF_INTERVAL", "1e3"),
            ("CPU_PROF_INTERVAL", " 100"),
            ("CPU_PROF_INTERVAL", "99999999999999999999"),
            ("CPU_PROF_FLUSH_INTERVAL", "9"),
            ("CPU_PROF_FLUSH_INTERVAL", "half"),
            ("CPU_PROF_MAX_NODES", "10"),
            ("CPU_PROF_IGNORE_LIST", "Show"),
            ("CPU_PROF_FORMAT", "pprof"),
            ("CPU_PROF_SOURCE", "perf"),
            ("CPU_PROF_NAME", "../up"),
            ("CPU_PROF_NAME", "%q"),
        ] {
            let error = read(&[(name, value)]).unwrap_err();
            assert!(error.stops_the_program());
            let line = error.line();
            assert!(
                line.starts_with(&format!("cpu-prof: {name}={value} is not valid: ")),
                "{line}"
            );
        }
    }

    #[test]
    fn says_what_is_allowed() {
        let line = read(&[("CPU_PROF_IGNORE_LIST", "x")]).unwrap_err().line();
        assert!(line.ends_with("auto, keep or show is allowed"), "{line}");
        let line = read(&[("CPU_PROF_INTERVAL", "7")]).unwrap_err().line();
        assert!(line.ends_with("from 50 to 1000000 is allowed"), "{line}");
    }

    const NAMES: [&str; 8] = [
        "CPU_PROF_DIR",
        "CPU_PROF_NAME",
        "CPU_PROF_FORMAT",
        "CPU_PROF_SOURCE",
        "CPU_PROF_INTERVAL",
        "CPU_PROF_FLUSH_INTERVAL",
        "CPU_PROF_IGNORE_LIST",
        "CPU_PROF_MAX_NODES",
    ];

    /// Anything, what is almost right, and what is right.
    fn setting() -> impl Strategy<Value = OsString> {
        prop_oneof![
            vec(any::<u8>(), 0..12).prop_map(OsString::from_vec),
            any::<String>().prop_map(OsString::from),
            "[+-]?[0-9]{1,11}".prop_map(OsString::from),
            (select(&[10_u32, 50, 1000, 60_000, 1_000_000, 100_000_000]), 0_u32..3)
                .prop_map(|(bound, past)| (bound - 1 + past).to_string().into()),
            "(trace|auto|v8|keep|show|CPU|%[DHPTNX%]|/|\\.|\n|\u{b}|\u{85}){1,4}"
                .prop_map(OsString::from),
        ]
    }

    proptest! {
        #[test]
        fn any_environment_gives_settings_in_bounds_or_one_line(
            values in vec(weighted(0.3, setting()), NAMES.len()),
        ) {
            let values: HashMap<&str, OsString> =
                NAMES.into_iter().zip(values).filter_map(|(k, v)| Some((k, v?))).collect();
            match Config::read(|name| values.get(name).cloned(), Path::new("/home/me")) {
                Ok(config) => {
                    prop_assert!(config.dir.is_absolute());
                    prop_assert!((50..=1_000_000).contains(&config.interval_us));
                    prop_assert!((10..=60_000).contains(&config.flush_interval.as_millis()));
                    prop_assert!((1000..=100_000_000).contains(&config.max_nodes));
                }
                Err(error) => {
                    let line = error.line();
                    let Error::Setting { name, value, .. } = error else {
                        return Err(TestCaseError::fail(line));
                    };
                    prop_assert_eq!(values[name].to_string_lossy(), value);
                    prop_assert!(line.starts_with(&format!("cpu-prof: {name}=")), "{line}");
                    prop_assert!(!line.contains(char::is_control), "{line:?}");
                }
            }
        }
    }
}

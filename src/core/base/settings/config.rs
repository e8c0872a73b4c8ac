//! The settings of a recording: what a user knows of them, and how they are read from options in code
//! and from the environment.

use std::ffi::OsString;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::categories::Categories;
use super::given_value::GivenValue;
use super::name_pattern::NamePattern;
use super::node_options::diagnostic_dir;
use super::push;
use super::setting::SettingDefault::{BySource, Value, Words};
use super::setting::{Setting, ValueKind};
use super::start::{SocketFolder, StartMode};
use super::values::{Formats, HistoryLimits, IgnoreList, Source};
use crate::base::error::Error;

/// Checked settings, with every default filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Output folder, absolute: the program may change its working directory later.
    pub dir: PathBuf,
    /// Name of the output files, without extension.
    pub name: NamePattern,
    /// Output formats.
    pub formats: Formats,
    /// Time between two samples, microseconds.
    pub interval_us: u32,
    /// Time between two flushes, if the user set it.
    pub flush_interval: Option<Duration>,
    /// Treatment of `node_modules` frames.
    pub ignore_list: IgnoreList,
    /// Call-tree nodes that a recording remembers before it forgets the tree.
    pub max_nodes: usize,
    /// Source of samples, if the user set it.
    pub source: Option<Source>,
    /// Events beside the profile.
    pub categories: Categories,
    /// Limits past which the oldest part of a recording is removed.
    pub history: HistoryLimits,
    /// Label that the program gives the recording, without spaces around. Options in code alone have
    /// one: a variable would give all recordings of all processes the same.
    pub label: Option<String>,
    /// When the recordings start.
    pub start: StartMode,
    /// Folder of the control socket of an armed process.
    pub socket: SocketFolder,
    /// Length of a recording that a condition starts.
    pub for_: Duration,
    /// Shortest time from the end of such a recording to the next.
    pub every: Duration,
    /// The most such recordings whose files are kept.
    pub max_recordings: usize,
    /// Length of the slices in which the process sends its profiles; none if it sends none.
    pub push_slice: Option<Duration>,
}

/// Default with V8's profiler, whose rotation takes tens of microseconds.
const V8_FLUSH_MS: u32 = 500;

/// Default with the inspector. V8 writes the whole tree of a window as JSON on the program's own
/// thread: 7 to 13 µs per node, which is 30 ms for the 4,000 nodes that half a second of `tsc` has.
/// Longer windows cost a program with repeating call paths less.
const INSPECTOR_FLUSH_MS: u32 = 2000;

const DIR: Setting = Setting {
    name: "dir",
    kind: ValueKind::String,
    variable: Some("CPU_PROF_DIR"),
    flag: Some("--dir <dir>"),
    help: "folder of the recordings",
    default: Words("the folder of Node's --diagnostic-dir, or else the working directory"),
};
const NAME: Setting = Setting {
    name: "name",
    kind: ValueKind::String,
    variable: Some("CPU_PROF_NAME"),
    flag: Some("--name <pattern>"),
    help: "names of the recordings",
    default: Value(NamePattern::DEFAULT),
};
const INTERVAL: Setting = Setting {
    name: "interval",
    kind: ValueKind::Number,
    variable: Some("CPU_PROF_INTERVAL"),
    flag: Some("--interval <µs>"),
    help: "microseconds between two samples",
    default: Value("1000"),
};
const FORMAT: Setting = Setting {
    name: "format",
    kind: ValueKind::String,
    variable: Some("CPU_PROF_FORMAT"),
    flag: Some("--format <format>"),
    help: "trace, cpuprofile or trace,cpuprofile",
    default: Value("trace"),
};
const FLUSH_INTERVAL: Setting = Setting {
    name: "flushInterval",
    kind: ValueKind::Number,
    variable: Some("CPU_PROF_FLUSH_INTERVAL"),
    flag: Some("--flush-interval <ms>"),
    help: "milliseconds between two writes",
    default: BySource { v8: V8_FLUSH_MS, inspector: INSPECTOR_FLUSH_MS },
};
const IGNORE_LIST: Setting = Setting {
    name: "ignoreList",
    kind: ValueKind::String,
    variable: Some("CPU_PROF_IGNORE_LIST"),
    flag: Some("--ignore-list <mode>"),
    help: "node_modules in DevTools: auto, keep or show",
    default: Value("auto"),
};
const MAX_NODES: Setting = Setting {
    name: "maxNodes",
    kind: ValueKind::Number,
    variable: Some("CPU_PROF_MAX_NODES"),
    flag: Some("--max-nodes <n>"),
    help: "call-tree nodes kept in memory per recording",
    default: Value("200000"),
};
const CATEGORIES: Setting = Setting {
    name: "categories",
    kind: ValueKind::String,
    variable: Some("CPU_PROF_CATEGORIES"),
    flag: Some("--categories <list>"),
    help: Categories::HELP,
    default: Value(Categories::DEFAULT),
};
const SOURCE: Setting = Setting {
    name: "source",
    kind: ValueKind::String,
    variable: Some("CPU_PROF_SOURCE"),
    flag: Some("--source <source>"),
    help: "source of the samples: auto, v8, walk or inspector",
    default: Value("auto"),
};
const MAX_SIZE: Setting = Setting {
    name: "maxSize",
    kind: ValueKind::String,
    variable: Some("CPU_PROF_MAX_SIZE"),
    flag: Some("--max-size <size>"),
    help: "size of the files per thread, such as 200M: removes the oldest part",
    default: Words("no limit"),
};
const KEEP: Setting = Setting {
    name: "keep",
    kind: ValueKind::String,
    variable: Some("CPU_PROF_KEEP"),
    flag: Some("--keep <time>"),
    help: "time that is kept, such as 10m: removes what is older",
    default: Words("all"),
};
const START: Setting = Setting {
    name: "start",
    kind: ValueKind::String,
    variable: Some("CPU_PROF_START"),
    flag: Some("--start <when>"),
    help: "on: records from the start; off: armed, records on request; or conditions: stall>500ms",
    default: Value("on"),
};
const SOCKET: Setting = Setting {
    name: "socket",
    kind: ValueKind::String,
    variable: Some("CPU_PROF_SOCKET"),
    flag: Some("--socket <dir>"),
    help: "folder of an armed process's control socket, or off",
    default: Words("a folder of the user"),
};
const FOR: Setting = Setting {
    name: "for",
    kind: ValueKind::String,
    variable: Some("CPU_PROF_FOR"),
    flag: Some("--for <time>"),
    help: "length of a recording that a condition starts",
    default: Value("30s"),
};
const EVERY: Setting = Setting {
    name: "every",
    kind: ValueKind::String,
    variable: Some("CPU_PROF_EVERY"),
    flag: Some("--every <time>"),
    help: "shortest time between two such recordings",
    default: Value("10m"),
};
const MAX_RECORDINGS: Setting = Setting {
    name: "maxRecordings",
    kind: ValueKind::Number,
    variable: Some("CPU_PROF_MAX_RECORDINGS"),
    flag: Some("--max-recordings <n>"),
    help: "such recordings that are kept: removes the oldest",
    default: Value("10"),
};
// Only in code: a preload always records workers, and has no part of a program to name.
const WORKERS: Setting = Setting::in_code("workers", ValueKind::Boolean, Value("true"));
const LABEL: Setting = Setting::in_code("label", ValueKind::String, Words("none"));

/// All settings. A new one also needs its type in `index.d.ts` and its row in `docs/settings.md`.
pub static SETTINGS: &[&Setting] = &[
    &DIR,
    &NAME,
    &INTERVAL,
    &FORMAT,
    &FLUSH_INTERVAL,
    &IGNORE_LIST,
    &MAX_NODES,
    &CATEGORIES,
    &SOURCE,
    &MAX_SIZE,
    &KEEP,
    &START,
    &SOCKET,
    &FOR,
    &EVERY,
    &MAX_RECORDINGS,
    &WORKERS,
    &LABEL,
];

/// Returns all settings as JSON, for JavaScript.
pub fn settings_json() -> String {
    serde_json::to_string(&SETTINGS).unwrap_or_default()
}

/// Lengths of recordings by a condition, and of the time between two. A thread that computes starts some
/// milliseconds after the request, and a shorter recording would have no samples of it.
const RECORDING_LENGTHS: RangeInclusive<Duration> =
    Duration::from_millis(100)..=Duration::from_secs(24 * 3600);

impl Config {
    /// Reads options given in code, and for each missing option its variable. `cwd` is the working
    /// directory of the process, `exec_argv` its `process.execArgv`.
    pub fn read(
        option: impl Fn(&str) -> Option<String>,
        env: impl Fn(&str) -> Option<OsString>,
        cwd: &Path,
        exec_argv: &[String],
    ) -> Result<Self, Error> {
        let find = |setting: &Setting| {
            let default = setting.default.value();
            match (option(setting.name), setting.variable) {
                (None, Some(name)) => GivenValue::of_variable(name, &env, default),
                (value, _) => {
                    GivenValue { name: setting.name, value: value.map(OsString::from), default }
                }
            }
        };
        let node_dir = || {
            let node_options = env("NODE_OPTIONS").unwrap_or_default();
            diagnostic_dir(exec_argv, &node_options.to_string_lossy())
        };
        let formats = find(&FORMAT).formats()?;
        let history = HistoryLimits {
            max_size: find(&MAX_SIZE).size(formats)?,
            keep: find(&KEEP).history_length(formats)?,
        };
        let dir = find(&DIR).value.map(PathBuf::from).or_else(node_dir);
        Ok(Self {
            dir: dir.map_or_else(|| cwd.to_owned(), |dir| cwd.join(dir)),
            name: find(&NAME).name_pattern()?,
            formats,
            history,
            label: find(&LABEL).label(),
            start: find(&START).start_mode()?,
            socket: find(&SOCKET).socket_folder()?,
            for_: find(&FOR).length(&RECORDING_LENGTHS, "30s or 500ms")?,
            every: find(&EVERY).length(&RECORDING_LENGTHS, "10m or 30s")?,
            max_recordings: find(&MAX_RECORDINGS).number((1, 1000), "recordings")? as usize,
            push_slice: push::slice(&env, formats)?,
            interval_us: find(&INTERVAL).number((1, 1_000_000), "microseconds")?,
            flush_interval: find(&FLUSH_INTERVAL)
                .given_number((10, 60_000), "milliseconds")?
                .map(|ms| Duration::from_millis(u64::from(ms))),
            ignore_list: find(&IGNORE_LIST).choice(&[
                ("auto", IgnoreList::Auto),
                ("keep", IgnoreList::Keep),
                ("show", IgnoreList::Show),
            ])?,
            max_nodes: find(&MAX_NODES).number((1000, 100_000_000), "call-tree nodes")? as usize,
            categories: find(&CATEGORIES).categories()?,
            source: find(&SOURCE).choice(&[
                ("auto", None),
                ("v8", Some(Source::V8)),
                ("walk", Some(Source::Walk)),
                ("inspector", Some(Source::Inspector)),
            ])?,
        })
    }

    /// Returns whether threads wait for a request or a condition. A limited time of history needs a
    /// recording from the start.
    pub fn is_armed(&self) -> bool {
        match self.start {
            StartMode::On => false,
            StartMode::Off => true,
            StartMode::When(_) => self.history.keep.is_none(),
        }
    }

    /// Returns the time between two flushes with the given source.
    pub fn flush_interval(&self, source: Source) -> Duration {
        let default_ms = match source {
            Source::V8 | Source::Walk => V8_FLUSH_MS,
            Source::Inspector => INSPECTOR_FLUSH_MS,
        };
        self.flush_interval.unwrap_or(Duration::from_millis(u64::from(default_ms)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::settings::categories::Category;
    use std::cell::RefCell;
    use std::collections::HashMap;
    use std::os::unix::ffi::OsStringExt;

    use proptest::collection::vec;
    use proptest::option::weighted;
    use proptest::prelude::*;
    use proptest::sample::select;

    /// Reads a configuration without options in code.
    fn from_env(get: impl Fn(&str) -> Option<OsString>) -> Result<Config, Error> {
        Config::read(|_| None, get, Path::new("/home/me"), &[])
    }

    fn read(pairs: &[(&str, &str)]) -> Result<Config, Error> {
        let get = |name: &str| {
            pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value))
        };
        from_env(get)
    }

    #[test]
    fn the_table_has_what_is_read_and_one_way_of_names() {
        let asked = RefCell::new(vec!["workers"]);
        let option = |name: &str| {
            let known = SETTINGS.iter().find(|setting| setting.name == name);
            asked.borrow_mut().push(known.unwrap_or_else(|| panic!("{name}")).name);
            None
        };
        Config::read(option, |_| None, Path::new("/"), &[]).unwrap();
        let mut asked = asked.into_inner();
        let mut names: Vec<&str> = SETTINGS.iter().map(|setting| setting.name).collect();
        asked.sort_unstable();
        names.sort_unstable();
        assert_eq!(asked, names);
        for Setting { name, variable, flag, .. } in SETTINGS {
            let words = |between: char| {
                name.chars().fold(String::new(), |mut text, c| {
                    text.extend(c.is_uppercase().then_some(between));
                    text.push(c.to_ascii_lowercase());
                    text
                })
            };
            let flag = flag.map(|flag| flag.split(' ').next().unwrap_or_default());
            assert!(flag.is_none_or(|flag| flag == format!("--{}", words('-'))), "{name}");
            let expected = format!("CPU_PROF_{}", words('_').to_uppercase());
            assert!(variable.is_none_or(|variable| variable == expected), "{name}");
        }
    }

    #[test]
    fn defaults() {
        let config = read(&[]).unwrap();
        assert_eq!(config.dir, Path::new("/home/me"));
        assert_eq!(config.name, NamePattern::parse(NamePattern::DEFAULT).unwrap());
        assert_eq!(config.interval_us, 1000);
        assert_eq!(config.flush_interval(Source::V8), Duration::from_millis(500));
        assert_eq!(config.flush_interval(Source::Inspector), Duration::from_secs(2));
        assert_eq!(config.source, None);
        assert_eq!(config.ignore_list, IgnoreList::Auto);
    }

    #[test]
    fn the_help_and_the_default_have_the_words_of_the_table() {
        assert_eq!(Categories::DEFAULT, "cpu,gc,memory,loop,timings,processes");
        let words: Vec<&str> = Category::ALL.iter().map(|(_, word)| *word).collect();
        let (last, others) = words.split_last().unwrap();
        assert_eq!(Categories::WORDS, format!("cpu, {} and {last}", others.join(", ")));
        assert!(Categories::HELP.contains(Categories::WORDS));
    }

    #[test]
    fn categories_are_a_list() {
        let defaults = read(&[]).unwrap().categories;
        let has = |category| defaults.has(category);
        assert!(has(Category::Gc) && has(Category::Timings) && !has(Category::Http));
        let of = |list| read(&[("CPU_PROF_CATEGORIES", list)]).unwrap().categories;
        assert_eq!(of("cpu"), Categories::NONE);
        let two = Categories::NONE.with(Category::Gc).with(Category::EventLoop);
        assert_eq!(of("gc,cpu,loop"), two);
        assert_eq!(of("cpu,gc,memory,loop,timings,processes"), defaults);
        assert!(of("cpu,http").has(Category::Http));
        assert_eq!(of("+native"), defaults.with(Category::Native));
        assert!(
            of("+http,native").has(Category::Http)
                && read(&[("CPU_PROF_CATEGORIES", "+")]).is_err()
        );
    }

    #[test]
    fn lengths_of_time_have_any_unit() {
        let ms = Duration::from_millis;
        let read = |value| {
            let names = ["CPU_PROF_FOR", "CPU_PROF_EVERY", "CPU_PROF_KEEP"];
            let config = read(&names.map(|name| (name, value))).unwrap();
            [Some(config.for_), Some(config.every), config.history.keep]
        };
        for (value, length) in [
            ("1500ms", ms(1500)),
            ("1.5s", ms(1500)),
            ("10m", ms(600_000)),
            ("0.5h", ms(1_800_000)),
            ("24h", ms(86_400_000)),
            ("1d", ms(86_400_000)),
        ] {
            assert_eq!(read(value), [Some(length); 3], "{value}");
        }
        let short = self::read(&[("CPU_PROF_START", "cpu>90%/10s"), ("CPU_PROF_FOR", "500ms")]);
        assert_eq!(short.unwrap().for_, ms(500));
        let long = self::read(&[("CPU_PROF_KEEP", "2w")]).unwrap().history.keep;
        assert_eq!(long, Some(ms(14 * 86_400_000)));
    }

    #[test]
    fn a_default_of_the_table_is_read_like_a_value() {
        let none = read(&[]).unwrap();
        let mut values = 0;
        for Setting { name, variable, default, .. } in SETTINGS {
            let (Some(variable), Some(value)) = (*variable, default.value()) else { continue };
            assert_eq!(read(&[(variable, value)]).unwrap(), none, "{name}");
            values += 1;
        }
        assert!(values >= 10, "{values}");
        let ms = |source| none.flush_interval(source).as_millis().to_string();
        let (v8, inspector) = (ms(Source::V8), ms(Source::Inspector));
        let told = FLUSH_INTERVAL.default.to_string();
        assert_eq!(told, format!("{v8}, or {inspector} with the inspector"));
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
    fn a_relative_directory_counts_from_the_working_directory() {
        assert_eq!(read(&[("CPU_PROF_DIR", "a b")]).unwrap().dir, Path::new("/home/me/a b"));
        assert_eq!(read(&[("CPU_PROF_DIR", "/abs")]).unwrap().dir, Path::new("/abs"));
    }

    #[test]
    fn nodes_folder_for_its_own_files_is_the_default() {
        let dir = |cpu_prof_dir: &str, node_options: &str, exec_argv: &[&str]| {
            let env = |name: &str| match name {
                "CPU_PROF_DIR" => Some(cpu_prof_dir.into()),
                "NODE_OPTIONS" => Some(node_options.into()),
                _ => None,
            };
            let exec_argv: Vec<String> = exec_argv.iter().map(|arg| (*arg).to_owned()).collect();
            Config::read(|_| None, env, Path::new("/home/me"), &exec_argv).unwrap().dir
        };
        assert_eq!(
            dir("", "--diagnostic-dir=/b", &["--diagnostic-dir=a"]),
            Path::new("/home/me/a")
        );
        assert_eq!(dir("", "--diagnostic-dir=/b", &[]), Path::new("/b"));
        assert_eq!(
            dir("c", "--diagnostic-dir=/b", &["--diagnostic-dir=a"]),
            Path::new("/home/me/c")
        );
    }

    #[test]
    fn every_wrong_value_names_its_setting() {
        for (name, value) in [
            ("CPU_PROF_INTERVAL", "0"),
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
            ("CPU_PROF_CATEGORIES", "gc"),
            ("CPU_PROF_CATEGORIES", "cpu,disk"),
            ("CPU_PROF_CATEGORIES", "cpu, gc"),
            ("CPU_PROF_MAX_SIZE", "200"),
            ("CPU_PROF_MAX_SIZE", "63K"),
            ("CPU_PROF_MAX_SIZE", "1.5G"),
            ("CPU_PROF_MAX_SIZE", "99999999999999999999G"),
            ("CPU_PROF_KEEP", "0s"),
            ("CPU_PROF_KEEP", "10"),
            ("CPU_PROF_KEEP", "m"),
            ("CPU_PROF_KEEP", "999ms"),
            ("CPU_PROF_KEEP", "1000001d"),
            ("CPU_PROF_KEEP", "99999999999999999999d"),
            ("CPU_PROF_FOR", "0s"),
            ("CPU_PROF_FOR", "0.4ms"),
            ("CPU_PROF_FOR", "99ms"),
            ("CPU_PROF_FOR", "30"),
            ("CPU_PROF_FOR", "-30s"),
            ("CPU_PROF_FOR", "1e3s"),
            ("CPU_PROF_FOR", " 1s"),
            ("CPU_PROF_EVERY", "1 s"),
            ("CPU_PROF_EVERY", "+1s"),
            ("CPU_PROF_EVERY", ".5s"),
            ("CPU_PROF_EVERY", "1.s"),
            ("CPU_PROF_EVERY", "1.5.2s"),
            ("CPU_PROF_EVERY", "１s"),
            ("CPU_PROF_EVERY", "25h"),
            ("CPU_PROF_EVERY", "never"),
            ("CPU_PROF_MAX_RECORDINGS", "0"),
            ("CPU_PROF_MAX_RECORDINGS", "1001"),
            ("CPU_PROF_NAME", "up/.."),
            ("CPU_PROF_NAME", "%q"),
        ] {
            let error = read(&[(name, value)]).unwrap_err();
            assert!(error.is_wrong_setting());
            let line = error.line();
            assert!(
                line.starts_with(&format!("cpu-prof: {name}={value} is not valid: ")),
                "{line}"
            );
        }
    }

    #[test]
    fn an_option_takes_precedence_and_is_named_in_the_message() {
        let read = |interval: &str| {
            let option = |name: &str| (name == "interval").then(|| interval.to_owned());
            let env = |name: &str| (name == "CPU_PROF_INTERVAL").then(|| OsString::from("70"));
            Config::read(option, env, Path::new("/"), &[])
        };
        assert_eq!(read("80").unwrap().interval_us, 80);
        let line = read("0").unwrap_err().line();
        assert!(line.starts_with("cpu-prof: interval=0 is not valid: "), "{line}");
        assert!(read("").is_err());
    }

    #[test]
    fn a_given_flush_interval_applies_to_every_source() {
        let config = read(&[("CPU_PROF_FLUSH_INTERVAL", "70"), ("CPU_PROF_SOURCE", "inspector")]);
        let config = config.unwrap();
        assert_eq!(config.source, Some(Source::Inspector));
        for source in [Source::V8, Source::Inspector] {
            assert_eq!(config.flush_interval(source), Duration::from_millis(70));
        }
    }

    #[test]
    fn only_code_gives_a_label() {
        let read = |label: &str| {
            let option = |name: &str| (name == "label").then(|| label.to_owned());
            Config::read(option, |_| None, Path::new("/"), &[]).unwrap().label
        };
        assert_eq!(read(" a b ").as_deref(), Some("a b"));
        assert_eq!(read(" \n"), None);
        let of_env = from_env(|name| name.ends_with("LABEL").then(|| "x".into()));
        assert_eq!(of_env.unwrap().label, None);
    }

    #[test]
    fn limits_of_the_history() {
        let history = |pairs: &[(&str, &str)]| read(pairs).map(|config| config.history);
        assert!(!history(&[]).unwrap().is_limited());
        let both = history(&[("CPU_PROF_MAX_SIZE", "200M"), ("CPU_PROF_KEEP", "10m")]).unwrap();
        let expected =
            HistoryLimits { max_size: Some(200 << 20), keep: Some(Duration::from_secs(600)) };
        assert_eq!(both, expected);
        for format in ["cpuprofile", "trace,cpuprofile"] {
            for limit in [("CPU_PROF_MAX_SIZE", "1G"), ("CPU_PROF_KEEP", "1h")] {
                let error = history(&[("CPU_PROF_FORMAT", format), limit]).unwrap_err();
                assert!(error.line().contains("it needs the format trace alone"), "{error}");
            }
        }
    }

    #[test]
    fn formats() {
        let formats = |value| read(&[("CPU_PROF_FORMAT", value)]).map(|config| config.formats);
        let both = Formats { trace: true, cpuprofile: true };
        assert_eq!(formats("").unwrap(), Formats { trace: true, cpuprofile: false });
        assert_eq!(formats("cpuprofile").unwrap(), Formats { trace: false, cpuprofile: true });
        assert_eq!(formats("cpuprofile,trace").unwrap(), both);
        assert!(formats("trace, cpuprofile").is_err());
        assert!(formats("trace,").is_err());
    }

    #[test]
    fn the_message_lists_the_allowed_values() {
        let line = read(&[("CPU_PROF_IGNORE_LIST", "x")]).unwrap_err().line();
        assert!(line.ends_with("auto, keep or show is allowed"), "{line}");
        let line = read(&[("CPU_PROF_INTERVAL", "0")]).unwrap_err().line();
        assert!(line.ends_with("from 1 to 1000000 is allowed"), "{line}");
    }

    const NAMES: [&str; 12] = [
        "CPU_PROF_DIR",
        "CPU_PROF_NAME",
        "CPU_PROF_FORMAT",
        "CPU_PROF_SOURCE",
        "CPU_PROF_INTERVAL",
        "CPU_PROF_FLUSH_INTERVAL",
        "CPU_PROF_IGNORE_LIST",
        "CPU_PROF_MAX_NODES",
        "CPU_PROF_MAX_SIZE",
        "CPU_PROF_KEEP",
        "CPU_PROF_FOR",
        "CPU_PROF_EVERY",
    ];

    /// Any text, almost valid values and valid values.
    fn setting() -> impl Strategy<Value = OsString> {
        prop_oneof![
            vec(any::<u8>(), 0..12).prop_map(OsString::from_vec),
            any::<String>().prop_map(OsString::from),
            "[+-]?[0-9]{1,11}[KMGsmh]?".prop_map(OsString::from),
            "[0-9]{1,20}[.]?[0-9]{0,20}(ms|s|m|h|d|w)".prop_map(OsString::from),
            (select(&[1_u32, 10, 1000, 60_000, 1_000_000, 100_000_000]), 0_u32..3)
                .prop_map(|(bound, past)| (bound - 1 + past).to_string().into()),
            "(trace|cpuprofile|,|auto|v8|inspector|keep|show|CPU|%[DHPTNX%]|[$][{]pid[}]|/|\\.|\n|\u{b}|\u{85}){1,4}"
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
            match from_env(|name| values.get(name).cloned()) {
                Ok(config) => {
                    prop_assert!(config.dir.is_absolute());
                    prop_assert!((1..=1_000_000).contains(&config.interval_us));
                    let flush_ms = config.flush_interval(Source::V8).as_millis();
                    prop_assert!((10..=60_000).contains(&flush_ms));
                    prop_assert!((1000..=100_000_000).contains(&config.max_nodes));
                    prop_assert!(config.history.max_size.is_none_or(|bytes| bytes >= 64 << 10));
                    prop_assert!(config.history.keep.is_none_or(|keep| keep.as_secs() >= 1));
                    for length in [config.for_, config.every] {
                        prop_assert!(RECORDING_LENGTHS.contains(&length));
                    }
                    prop_assert!(!config.history.is_limited() || !config.formats.cpuprofile);
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

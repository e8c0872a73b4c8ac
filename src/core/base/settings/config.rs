//! The settings of a recording, read from options in code and from the environment.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::amount;
use super::name_pattern::NamePattern;
use super::node_options::diagnostic_dir;
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
}

/// Limits of a recording's history. Without limits the recording is one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HistoryLimits {
    /// Size of all files of the recording, bytes.
    pub max_size: Option<u64>,
    /// Age of the oldest file's end.
    pub keep: Option<Duration>,
}

impl HistoryLimits {
    /// Returns whether there is a limit.
    pub fn is_limited(self) -> bool {
        self.max_size.is_some() || self.keep.is_some()
    }
}

/// The kinds of events that are recorded. The profile itself always is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Categories {
    /// Garbage collections.
    pub gc: bool,
    /// Memory at each flush.
    pub memory: bool,
    /// Long tasks of the event loop.
    pub event_loop: bool,
    /// User timings.
    pub timings: bool,
    /// Requests of HTTP: each costs some ten microseconds, so they are not among the defaults.
    pub http: bool,
    /// How processes and workers end.
    pub processes: bool,
}

impl Categories {
    /// The words of the setting, with the profile.
    pub(crate) const WORDS: &'static str = "cpu, gc, memory, loop, timings, http and processes";
    /// The profile alone.
    const CPU: Self = Self {
        gc: false,
        memory: false,
        event_loop: false,
        timings: false,
        http: false,
        processes: false,
    };
    /// The kinds whose cost does not show.
    const DEFAULT: Self = Self {
        gc: true,
        memory: true,
        event_loop: true,
        timings: true,
        http: false,
        processes: true,
    };

    /// Reads a list with commas; none if a word is unknown, or the profile is not in it.
    fn parse(text: &str) -> Option<Self> {
        let mut categories = Self::CPU;
        let mut has_cpu = false;
        for word in text.split(',') {
            *match word {
                "cpu" => &mut has_cpu,
                "gc" => &mut categories.gc,
                "memory" => &mut categories.memory,
                "loop" => &mut categories.event_loop,
                "timings" => &mut categories.timings,
                "http" => &mut categories.http,
                "processes" => &mut categories.processes,
                _ => return None,
            } = true;
        }
        has_cpu.then_some(categories)
    }
}

/// Default with V8's profiler, whose rotation takes tens of microseconds.
const V8_FLUSH_INTERVAL: Duration = Duration::from_millis(500);

/// Default with the inspector. V8 writes the whole tree of a window as JSON on the program's own
/// thread: 7 to 13 µs per node, which is 30 ms for the 4,000 nodes that half a second of `tsc` has.
/// Longer windows cost a program with repeating call paths less.
const INSPECTOR_FLUSH_INTERVAL: Duration = Duration::from_secs(2);

/// Whether DevTools may fold `node_modules` frames into 'On ignore list'.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IgnoreList {
    /// `Show` for a program that is itself a tool under `node_modules`, else `Keep`.
    Auto,
    /// DevTools decides.
    Keep,
    /// The frames are always shown.
    Show,
}

/// Source of samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// V8's C++ profiler, looked up at run time.
    V8,
    /// A session of `node:inspector`, driven by JavaScript.
    Inspector,
}

impl Source {
    /// Returns the name in settings and results.
    pub fn name(self) -> &'static str {
        match self {
            Self::V8 => "v8",
            Self::Inspector => "inspector",
        }
    }
}

/// Output formats of a recording, at least one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Formats {
    /// `.trace.json`, streamed.
    pub trace: bool,
    /// `.cpuprofile`, written at the end.
    pub cpuprofile: bool,
}

impl Config {
    /// Reads options given in code, and for each missing option its variable. `cwd` is the working
    /// directory of the process, `exec_argv` its `process.execArgv`.
    pub fn read(
        option: impl Fn(&str) -> Option<String>,
        env: impl Fn(&str) -> Option<OsString>,
        cwd: &Path,
        exec_argv: &[String],
    ) -> Result<Self, Error> {
        let find = |name: &'static str, variable: &'static str| match option(name) {
            Some(value) => Setting { name, value: Some(value.into()) },
            // An empty variable counts as unset: that is how a shell removes a setting.
            None => Setting { name: variable, value: env(variable).filter(|v| !v.is_empty()) },
        };
        let node_dir = || {
            let node_options = env("NODE_OPTIONS").unwrap_or_default();
            diagnostic_dir(exec_argv, &node_options.to_string_lossy())
        };
        let formats = find("format", "CPU_PROF_FORMAT").formats()?;
        let history = HistoryLimits {
            max_size: find("maxSize", "CPU_PROF_MAX_SIZE").size(formats)?,
            keep: find("keep", "CPU_PROF_KEEP").duration(formats)?,
        };
        let dir = find("dir", "CPU_PROF_DIR").value.map(PathBuf::from).or_else(node_dir);
        Ok(Self {
            dir: dir.map_or_else(|| cwd.to_owned(), |dir| cwd.join(dir)),
            name: find("name", "CPU_PROF_NAME").name_pattern()?,
            formats,
            history,
            label: option("label").map(|label| label.trim().to_owned()).filter(|l| !l.is_empty()),
            interval_us: find("interval", "CPU_PROF_INTERVAL")
                .number((1, 1_000_000), "microseconds")?
                .unwrap_or(1000),
            flush_interval: find("flushInterval", "CPU_PROF_FLUSH_INTERVAL")
                .number((10, 60_000), "milliseconds")?
                .map(|ms| Duration::from_millis(u64::from(ms))),
            ignore_list: find("ignoreList", "CPU_PROF_IGNORE_LIST").choice(&[
                ("auto", IgnoreList::Auto),
                ("keep", IgnoreList::Keep),
                ("show", IgnoreList::Show),
            ])?,
            max_nodes: find("maxNodes", "CPU_PROF_MAX_NODES")
                .number((1000, 100_000_000), "call-tree nodes")?
                .unwrap_or(200_000) as usize,
            categories: find("categories", "CPU_PROF_CATEGORIES").categories()?,
            source: find("source", "CPU_PROF_SOURCE").choice(&[
                ("auto", None),
                ("v8", Some(Source::V8)),
                ("inspector", Some(Source::Inspector)),
            ])?,
        })
    }

    /// Returns the time between two flushes with the given source.
    pub fn flush_interval(&self, source: Source) -> Duration {
        self.flush_interval.unwrap_or(match source {
            Source::V8 => V8_FLUSH_INTERVAL,
            Source::Inspector => INSPECTOR_FLUSH_INTERVAL,
        })
    }
}

/// A setting before it is checked.
struct Setting {
    /// Name of the option or variable, as the user knows it.
    name: &'static str,
    value: Option<OsString>,
}

impl Setting {
    fn text(&self) -> Option<String> {
        self.value.as_ref().map(|value| value.to_string_lossy().into_owned())
    }

    fn wrong(&self, allowed: String) -> Error {
        Error::Setting { name: self.name, value: self.text().unwrap_or_default(), allowed }
    }

    fn name_pattern(&self) -> Result<NamePattern, Error> {
        let name = self.text().unwrap_or_else(|| NamePattern::DEFAULT.to_owned());
        NamePattern::parse(&name).map_err(|allowed| self.wrong(allowed))
    }

    fn formats(&self) -> Result<Formats, Error> {
        let mut formats = Formats { trace: false, cpuprofile: false };
        for word in self.text().as_deref().unwrap_or("trace").split(',') {
            match word {
                "trace" => formats.trace = true,
                "cpuprofile" => formats.cpuprofile = true,
                _ => {
                    return Err(
                        self.wrong("trace, cpuprofile or trace,cpuprofile is allowed".into())
                    );
                }
            }
        }
        Ok(formats)
    }

    fn categories(&self) -> Result<Categories, Error> {
        let Some(text) = self.text() else { return Ok(Categories::DEFAULT) };
        Categories::parse(&text).ok_or_else(|| {
            let words = Categories::WORDS;
            self.wrong(format!("a list such as cpu,gc is allowed, of {words}; cpu is always in it"))
        })
    }

    fn size(&self, formats: Formats) -> Result<Option<u64>, Error> {
        /// A segment is a quarter of the limit, and needs room for the names and some call paths.
        const MIN: u64 = 64 << 10;
        let Some(text) = self.limit_of_trace(formats)? else { return Ok(None) };
        match amount::bytes(&text) {
            Some(bytes) if bytes >= MIN => Ok(Some(bytes)),
            _ => Err(self.wrong("a size such as 200M is allowed (K, M or G), from 64K".into())),
        }
    }

    fn duration(&self, formats: Formats) -> Result<Option<Duration>, Error> {
        let Some(text) = self.limit_of_trace(formats)? else { return Ok(None) };
        match amount::duration(&text) {
            Some(duration) if !duration.is_zero() => Ok(Some(duration)),
            _ => Err(self.wrong("a time such as 10m is allowed (s, m or h), from 1s".into())),
        }
    }

    /// Returns the text of a limit of the history, which only a trace can have.
    fn limit_of_trace(&self, formats: Formats) -> Result<Option<String>, Error> {
        match self.text() {
            Some(_) if formats.cpuprofile => Err(self.wrong(
                "it needs the format trace alone, because a .cpuprofile is kept in memory until the \
                 end"
                    .into(),
            )),
            text => Ok(text),
        }
    }

    fn number(&self, (min, max): (u32, u32), unit: &str) -> Result<Option<u32>, Error> {
        let Some(text) = self.text() else { return Ok(None) };
        match amount::whole_number(&text) {
            Some(number) if (min..=max).contains(&number) => Ok(Some(number)),
            _ => {
                Err(self.wrong(format!("a whole number of {unit} from {min} to {max} is allowed")))
            }
        }
    }

    /// Returns the choice with the setting's word. The first choice is the default.
    fn choice<T: Copy>(&self, choices: &[(&str, T)]) -> Result<T, Error> {
        let text = self.text();
        let wanted = text.as_deref().unwrap_or(choices[0].0);
        if let Some((_, choice)) = choices.iter().find(|(word, _)| *word == wanted) {
            return Ok(*choice);
        }
        let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
        Err(self.wrong(match words.as_slice() {
            [rest @ .., last] if !rest.is_empty() => {
                format!("{} or {last} is allowed", rest.join(", "))
            }
            _ => format!("only {} is allowed", words.concat()),
        }))
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
    fn categories_are_a_list() {
        assert_eq!(read(&[]).unwrap().categories, Categories::DEFAULT);
        let of = |list| read(&[("CPU_PROF_CATEGORIES", list)]).unwrap().categories;
        assert_eq!(of("cpu"), Categories::CPU);
        assert_eq!(of("gc,cpu,loop"), Categories { gc: true, event_loop: true, ..Categories::CPU });
        assert_eq!(of("cpu,gc,memory,loop,timings,processes"), Categories::DEFAULT);
        assert!(of("cpu,http").http);
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

    const NAMES: [&str; 10] = [
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
    ];

    /// Any text, almost valid values and valid values.
    fn setting() -> impl Strategy<Value = OsString> {
        prop_oneof![
            vec(any::<u8>(), 0..12).prop_map(OsString::from_vec),
            any::<String>().prop_map(OsString::from),
            "[+-]?[0-9]{1,11}[KMGsmh]?".prop_map(OsString::from),
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

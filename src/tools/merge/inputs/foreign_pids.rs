//! The process ids of another tool's trace, and those in the output.

use std::fmt;

use rustc_hash::FxHashMap;

use super::processes::OutputProcesses;
use cpu_prof_core::format::number::digits;

/// The id of a process in a trace of another tool. Most are small numbers, but some tools write
/// negative numbers, strings or `1.0`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum ForeignPid {
    Number(i64),
    Text(String),
}

/// The pids of one trace.
#[derive(Debug, Default)]
pub(crate) struct ForeignPids {
    pids: FxHashMap<ForeignPid, u32>,
    /// Pids that changed: the file's, and the trace's.
    pub renumbered: Vec<(ForeignPid, u32)>,
}

impl ForeignPid {
    /// Reads a pid as an event has it: a JSON value.
    pub(crate) fn read(json: &[u8]) -> Self {
        if let Some(number) = digits(json) {
            return Self::Number(number);
        }
        let json = &*String::from_utf8_lossy(json);
        let text = json.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(json);
        let whole = |number: f64| (number.fract() == 0.0).then_some(number as i64);
        let number = text.parse().ok().or_else(|| text.parse().ok().and_then(whole));
        number.map_or_else(|| Self::Text(text.to_owned()), Self::Number)
    }

    /// Returns the pid if viewers can read it.
    pub(crate) fn as_number(&self) -> Option<u32> {
        match self {
            Self::Number(number) => u32::try_from(*number).ok(),
            Self::Text(_) => None,
        }
    }
}

impl From<u32> for ForeignPid {
    fn from(pid: u32) -> Self {
        Self::Number(pid.into())
    }
}

impl fmt::Display for ForeignPid {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(formatter),
            Self::Text(text) => text.fmt(formatter),
        }
    }
}

impl ForeignPids {
    /// Gives a process a pid that the output has already.
    pub(crate) fn set(&mut self, own: ForeignPid, pid: u32) {
        self.pids.insert(own, pid);
    }

    /// Returns the pid in the output: the same if it is free there.
    pub(crate) fn pid(&mut self, own: ForeignPid, processes: &mut OutputProcesses) -> u32 {
        if let Some(pid) = self.pids.get(&own) {
            return *pid;
        }
        let pid = match own.as_number() {
            Some(number) => processes.take_pid(number),
            None => processes.new_pid(),
        };
        if own.as_number() != Some(pid) {
            self.renumbered.push((own.clone(), pid));
        }
        self.pids.insert(own, pid);
        pid
    }

    /// Returns the trace's own id of a process.
    pub(crate) fn own(&self, pid: u32) -> Option<&ForeignPid> {
        self.pids.iter().find(|(_, number)| **number == pid).map(|(own, _)| own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pids_of_all_forms_are_read() {
        for (json, number) in [("7", 7), ("-7", -7), ("\"7\"", 7), ("7.0", 7), ("0", 0)] {
            assert_eq!(ForeignPid::read(json.as_bytes()), ForeignPid::Number(number));
        }
        for json in ["\"main\"", "1.5", "\"\"", "null", "1e300x"] {
            let text = json.trim_matches('"').to_owned();
            assert_eq!(ForeignPid::read(json.as_bytes()), ForeignPid::Text(text));
        }
    }

    #[test]
    fn each_process_has_one_pid_in_the_output() {
        let mut processes = OutputProcesses::default();
        let mut pids = |list: &[i64]| -> Vec<u32> {
            let mut trace = ForeignPids::default();
            list.iter().map(|own| trace.pid(ForeignPid::Number(*own), &mut processes)).collect()
        };
        assert_eq!(pids(&[0, 5, 0]), [0, 5, 0]);
        assert_eq!(pids(&[0, -1, 0, -1, 6]), [10_000_000, 10_000_001, 10_000_000, 10_000_001, 6]);
    }
}

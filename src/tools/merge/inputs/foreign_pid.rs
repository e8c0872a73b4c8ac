//! The id of a process in a trace of another tool.

use std::fmt;

use cpu_prof_core::format::number::digits;

/// The id of a process in a trace of another tool. Most are small numbers, but some tools write
/// negative numbers, strings or `1.0`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ForeignPid {
    Number(i64),
    Text(String),
}

impl ForeignPid {
    /// Reads a pid as an event has it: a JSON value.
    pub fn read(json: &[u8]) -> Self {
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
}

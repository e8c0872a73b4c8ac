//! What a user knows of one setting.

use std::fmt;

use serde::{Serialize, Serializer};

/// Type of a setting's value in code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ValueKind {
    /// A text.
    String,
    /// A number.
    Number,
    /// True or false.
    Boolean,
}

/// What holds without a value. This is what is read, and what help and JavaScript show.
#[derive(Debug, Clone, Copy)]
pub enum SettingDefault {
    /// A value, as a user would give it: it is read in the same way.
    Value(&'static str),
    /// A number for each source of samples.
    BySource {
        /// With V8's profiler.
        v8: u32,
        /// With the inspector.
        inspector: u32,
    },
    /// No value: what happens then, in words.
    Words(&'static str),
}

impl SettingDefault {
    /// Returns the text that is read like a user's; none if nothing is read.
    pub(super) const fn value(self) -> Option<&'static str> {
        match self {
            Self::Value(value) => Some(value),
            Self::BySource { .. } | Self::Words(_) => None,
        }
    }
}

impl fmt::Display for SettingDefault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(text) | Self::Words(text) => f.write_str(text),
            Self::BySource { v8, inspector } => {
                write!(f, "{v8}, or {inspector} with the inspector")
            }
        }
    }
}

impl Serialize for SettingDefault {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// What a user knows of a setting.
#[derive(Debug, Serialize)]
pub struct Setting {
    /// Name in code.
    pub name: &'static str,
    /// Type of the value in code.
    #[serde(rename = "type")]
    pub kind: ValueKind,
    /// Name of the environment variable; none for a setting in code alone.
    pub variable: Option<&'static str>,
    /// Option of `cpu-prof run`, with a name for the value.
    pub flag: Option<&'static str>,
    /// Description for the help of `cpu-prof run`.
    pub help: &'static str,
    /// What holds without a value.
    pub default: SettingDefault,
}

impl Setting {
    pub(super) const fn in_code(
        name: &'static str,
        kind: ValueKind,
        default: SettingDefault,
    ) -> Self {
        Self { name, kind, variable: None, flag: None, help: "", default }
    }
}

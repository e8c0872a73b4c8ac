//! What a caller can set.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;

/// The kind of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ServerKind {
    Pyroscope,
    Otlp,
}

impl ServerKind {
    /// Returns the kind of this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Pyroscope, Self::Otlp].into_iter().find(|kind| kind.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Pyroscope => "pyroscope",
            Self::Otlp => "otlp",
        }
    }
}

/// The settings of a sender. Headers are secrets, so they have no `Debug`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PushOptions {
    /// Without: by the path.
    pub kind: Option<ServerKind>,
    pub headers: BTreeMap<String, String>,
    /// PEM: the authorities that are trusted instead of Mozilla's list.
    pub certificates: Option<String>,
    /// The most payloads that wait.
    pub capacity: usize,
    pub retry: RetryTimes,
    /// The whole time of one request.
    pub timeout_ms: u64,
}

impl Default for PushOptions {
    fn default() -> Self {
        Self {
            kind: None,
            headers: BTreeMap::new(),
            certificates: None,
            capacity: 64,
            retry: RetryTimes::default(),
            timeout_ms: 10_000,
        }
    }
}

/// When a payload is sent again.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RetryTimes {
    /// The first pause.
    pub first_ms: u64,
    /// The longest pause.
    pub most_ms: u64,
    /// The time from the first attempt after which a payload is dropped.
    pub give_up_ms: u64,
}

impl Default for RetryTimes {
    fn default() -> Self {
        Self { first_ms: 1000, most_ms: 30_000, give_up_ms: 120_000 }
    }
}

impl RetryTimes {
    pub(super) fn give_up(&self) -> Duration {
        Duration::from_millis(self.give_up_ms)
    }
}

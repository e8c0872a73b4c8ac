//! When recordings start, and where the control socket is by which they are started from outside.

mod condition;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use self::condition::{Condition, Share, StartSignal, Trigger};

/// When the recordings of a process start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StartMode {
    /// At once.
    On,
    /// On request: the process is armed.
    Off,
    /// When one of these conditions is met: the process is armed until then.
    When(Vec<Condition>),
}

impl StartMode {
    /// Reads the setting; the error is what is allowed.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        match text {
            "on" => Ok(Self::On),
            "off" => Ok(Self::Off),
            _ if !text.contains(['>', ':']) => {
                Err(format!("on, off or conditions are allowed, such as {}", condition::FORMS))
            }
            _ => text.split(',').map(Condition::parse).collect::<Result<_, _>>().map(Self::When),
        }
    }

    /// Returns the conditions.
    pub fn conditions(&self) -> &[Condition] {
        match self {
            Self::When(conditions) => conditions,
            Self::On | Self::Off => &[],
        }
    }
}

/// Why a recording started, if not with its program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum StartReason {
    /// A request from outside.
    Request {
        /// Who asked: `cpu-prof record (pid 71)`.
        by: String,
    },
    /// A condition that came true.
    Condition {
        /// The condition, as in the setting.
        reason: String,
        /// What was measured: `612 ms`.
        observed: String,
    },
}

/// Folder of the control socket of an armed process.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum SocketFolder {
    /// The first of the usual folders that can be used.
    #[default]
    Usual,
    /// This folder, an absolute path.
    Given(PathBuf),
    /// None: the process has no socket.
    Forbidden,
}

impl SocketFolder {
    /// Reads the setting; the error is what is allowed.
    pub(super) fn parse(value: PathBuf) -> Result<Self, String> {
        match value {
            off if off.as_os_str() == "off" => Ok(Self::Forbidden),
            folder if folder.is_absolute() => Ok(Self::Given(folder)),
            _ => Err("the absolute path of a folder, or off, is allowed".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_is_on_or_off() {
        assert_eq!(StartMode::parse("on"), Ok(StartMode::On));
        assert_eq!(StartMode::parse("off"), Ok(StartMode::Off));
        let allowed = StartMode::parse("OFF").unwrap_err();
        assert!(allowed.starts_with("on, off or conditions are allowed"), "{allowed}");
    }

    #[test]
    fn conditions_are_a_list() {
        let start = StartMode::parse("stall>500ms,rss>1.5G").unwrap();
        let texts: Vec<_> = start.conditions().iter().map(|each| each.text.as_str()).collect();
        assert_eq!(texts, ["stall>500ms", "rss>1.5G"]);
        for text in ["stall>500ms,", "stall>500ms, rss>1.5G", "stall>500ms,off"] {
            assert!(StartMode::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_socket_folder_is_absolute_or_forbidden() {
        let folder = std::env::temp_dir();
        assert_eq!(SocketFolder::parse(folder.clone()), Ok(SocketFolder::Given(folder)));
        assert_eq!(SocketFolder::parse("off".into()), Ok(SocketFolder::Forbidden));
        assert!(SocketFolder::parse("sockets".into()).is_err());
    }
}

//! When recordings start, and where the control socket is by which they are started from outside.

use std::path::PathBuf;

use serde::Serialize;

/// When the recordings of a process start.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum StartMode {
    /// At once.
    #[default]
    On,
    /// On request: the process is armed.
    Off,
}

impl StartMode {
    /// Reads the setting; the error is what is allowed.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        match text {
            "on" => Ok(Self::On),
            "off" => Ok(Self::Off),
            _ => Err("on or off is allowed".into()),
        }
    }
}

/// Why a recording started, if not with its program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
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
        assert!(StartMode::parse("OFF").is_err_and(|allowed| allowed.contains("on or off")));
    }

    #[test]
    fn a_socket_folder_is_absolute_or_forbidden() {
        let folder = std::env::temp_dir();
        assert_eq!(SocketFolder::parse(folder.clone()), Ok(SocketFolder::Given(folder)));
        assert_eq!(SocketFolder::parse("off".into()), Ok(SocketFolder::Forbidden));
        assert!(SocketFolder::parse("sockets".into()).is_err());
    }
}

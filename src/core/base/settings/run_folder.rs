//! The folder of a `cpu-prof run`, which its processes find in `NODE_OPTIONS`.
//!
//! The preload's path begins with the folder, and climbs out of the folder to the package:
//! `--require /tmp/cpu-prof-run-x1/../../home/me/node_modules/@org/cpu-prof/index.js`. Node resolves
//! the path without looking at the folder, so a process that starts when the run is over, and the
//! folder is gone, starts as usual. Tools that filter the environment pass `NODE_OPTIONS` on.
//!
//! On Windows, no path climbs from one drive to another. For a package on `D:` and a run on `C:`, the
//! preload's path is `D:/pkg/C$/Users/me/AppData/Local/Temp/cpu-prof-run-x1/../…/index.js`.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::node_options::split;
use crate::base::path_text::{is_drive, is_windows, with_slashes};
use crate::base::system::{files, regular_file};

/// Start of the name of a run's folder.
const NAME: &str = "cpu-prof-run-";

/// The file in the folder that lasts as long as the run.
const FILE: &str = "run.json";

/// Size of the largest file that is read, bytes. The command in it can be megabytes long.
const MOST_BYTES: u64 = 16 << 20;

/// The run that a process belongs to.
#[derive(Debug, PartialEq, Eq)]
pub enum Run {
    /// The process is not part of a run.
    None,
    /// The run has ended before the process started.
    Over,
    /// The run records the process.
    Active(RunSettings),
}

/// The settings of a run.
#[derive(Debug, PartialEq, Eq, Deserialize)]
pub struct RunSettings {
    /// Id of the run, which a run within a run shares.
    #[serde(default)]
    id: Option<String>,
    /// Variables, which take precedence over those of the environment.
    variables: HashMap<String, String>,
}

impl Run {
    /// Finds the run in the text of `NODE_OPTIONS`.
    pub fn find(node_options: &str) -> Self {
        let Some(folder) = folder(node_options) else { return Self::None };
        let settings = read(&folder, FILE);
        match settings.and_then(|json| serde_json::from_slice(&json).ok()) {
            Some(settings) => Self::Active(settings),
            None => Self::Over,
        }
    }

    /// Returns the id of the run that records the process.
    pub fn id(&self) -> Option<&str> {
        match self {
            Self::Active(settings) => settings.id.as_deref(),
            Self::None | Self::Over => None,
        }
    }

    /// Returns the run's value of a variable.
    pub fn variable(&self, name: &str) -> Option<OsString> {
        match self {
            Self::Active(settings) => settings.variables.get(name).map(OsString::from),
            Self::None | Self::Over => None,
        }
    }
}

/// Reads a file in a run's folder; none if another user can have made the file or the folder. The
/// folder's name is free again when the run has ended.
pub fn read(folder: &Path, file: &str) -> Option<Vec<u8>> {
    if !files::is_own_folder(folder) {
        return None;
    }
    // A folder that is replaced now does not matter: the file itself must belong to the user.
    regular_file::read_own(&folder.join(file), MOST_BYTES).ok()
}

/// Returns the folder of the innermost run in the text of `NODE_OPTIONS`.
pub fn folder(node_options: &str) -> Option<PathBuf> {
    split(node_options).iter().find_map(|arg| {
        // The option's name can stand before the path: `--require=/tmp/…`.
        let value = arg.split_once('=').map(|(_, value)| value);
        let on_windows =
            [Some(arg.as_str()), value].into_iter().flatten().find(|text| is_windows(text));
        let path = match on_windows {
            Some(path) => with_slashes(path),
            None => Cow::Borrowed(&arg[arg.find('/')?..]),
        };
        let (folder, _) = path.split_once("/../")?;
        let (_, name) = folder.rsplit_once('/')?;
        let folder = if on_windows.is_some() { on_its_drive(folder) } else { folder.into() };
        name.starts_with(NAME).then(|| PathBuf::from(folder))
    })
}

/// Returns the folder on another drive that hangs below a folder of this drive: `C:/Users/me` for
/// `D:/pkg/C$/Users/me`.
fn on_its_drive(folder: &str) -> String {
    let (mut start, mut found) = (0, None);
    for part in folder.split('/') {
        if let [drive, b'$'] = part.as_bytes()
            && drive.is_ascii_alphabetic()
        {
            let drive = char::from(drive.to_ascii_uppercase());
            found = Some(format!("{drive}:{}", &folder[start + part.len()..]));
        }
        start += part.len() + 1;
    }
    found.filter(|_| is_drive(folder)).unwrap_or_else(|| folder.to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn the_folder_of_the_innermost_run_is_found() {
        for (node_options, expected) in [
            ("--require /tmp/cpu-prof-run-a/../../p/index.js", Some("/tmp/cpu-prof-run-a")),
            ("--no-warnings --require=/t/cpu-prof-run-a/../../p/i.js", Some("/t/cpu-prof-run-a")),
            (
                r#"-r "/my tmp/cpu-prof-run-b/../../p/index.js" -r /tmp/cpu-prof-run-a/../../p/i.js"#,
                Some("/my tmp/cpu-prof-run-b"),
            ),
            ("--require /p/index.js", None),
            ("--require /a/../p/index.js", None),
            ("--require ../cpu-prof-run/../p/index.js", None),
            ("", None),
        ] {
            assert_eq!(folder(node_options).as_deref(), expected.map(Path::new), "{node_options}");
        }
    }

    #[test]
    fn the_folder_of_a_run_on_windows_is_found() {
        for (node_options, expected) in [
            (
                "--require C:/Temp/cpu-prof-run-a/../../repo/index.js",
                Some("C:/Temp/cpu-prof-run-a"),
            ),
            (r"-r C:\Temp\cpu-prof-run-a\..\..\repo\index.js", Some("C:/Temp/cpu-prof-run-a")),
            (
                r#""--require=c:\\My Temp\\cpu-prof-run-a\\..\\..\\repo\\index.js""#,
                Some("C:/My Temp/cpu-prof-run-a"),
            ),
            (
                "--require D:/pkg/C$/Users/me/Temp/cpu-prof-run-a/../../../../../../index.js",
                Some("C:/Users/me/Temp/cpu-prof-run-a"),
            ),
            (
                "--require=d:/c$/Temp/cpu-prof-run-a/../../../index.js",
                Some("C:/Temp/cpu-prof-run-a"),
            ),
            (
                "--require //server/C$/Temp/cpu-prof-run-a/../../index.js",
                Some("//server/C$/Temp/cpu-prof-run-a"),
            ),
            // A folder of POSIX can have this name.
            ("--require /pkg/C$/cpu-prof-run-a/../../i.js", Some("/pkg/C$/cpu-prof-run-a")),
            ("--require C:/repo/index.js", None),
            ("--require C:/other/../repo/index.js", None),
        ] {
            assert_eq!(folder(node_options).as_deref(), expected.map(Path::new), "{node_options}");
        }
    }

    #[test]
    fn a_run_without_its_file_is_over() {
        let dir = tempfile::Builder::new().prefix(NAME).tempdir().unwrap();
        let node_options = format!("--require {}/../../p/index.js", dir.path().display());
        assert_eq!(Run::find(&node_options), Run::Over);
        let settings = r#"{"id":"r1","pid":1,"variables":{"CPU_PROF_DIR":"/x"}}"#;
        fs::write(dir.path().join(FILE), settings).unwrap();
        let run = Run::find(&node_options);
        assert_eq!(run.id(), Some("r1"));
        assert_eq!(run.variable("CPU_PROF_DIR"), Some("/x".into()));
        assert_eq!(run.variable("CPU_PROF_NAME"), None);
        assert_eq!(Run::find("--require /p/index.js"), Run::None);
        fs::set_permissions(dir.path(), Permissions::from_mode(0o777)).unwrap();
        assert_eq!(Run::find(&node_options), Run::Over);
    }
}

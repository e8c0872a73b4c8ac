//! The names that files cannot have on Windows.

/// Names of devices, in every folder, and with any ending.
const DEVICES: [&str; 6] = ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"];
/// Names of devices before a digit.
const PORTS: [&str; 2] = ["COM", "LPT"];

/// Returns whether the name of a file or folder is that of a device: `NUL`, `nul.txt`, `Com1`.
pub(crate) fn is_reserved(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end_matches(' ');
    let is = |device: &str| stem.eq_ignore_ascii_case(device);
    // Windows takes `¹`, `²` and `³` for digits.
    let is_digit = |c: char| c.is_ascii_digit() || matches!(c, '¹' | '²' | '³');
    let port = stem.strip_suffix(is_digit);
    DEVICES.iter().any(|device| is(device))
        || port.is_some_and(|port| PORTS.iter().any(|name| port.eq_ignore_ascii_case(name)))
}

/// Returns whether a character can be part of a name.
pub(crate) fn is_allowed(c: char) -> bool {
    c >= ' ' && !matches!(c, '<' | '>' | ':' | '"' | '/' | '\\' | '|' | '?' | '*')
}

/// Checks that Windows keeps the parts of a path with backslashes, behind its drive, as they are. An
/// error says what is wrong, as the end of a sentence.
pub(crate) fn check(path: &str) -> Result<(), String> {
    let forbidden = path.chars().find(|c| *c != '\\' && !is_allowed(*c));
    match forbidden {
        Some(c) if c < ' ' => return Err("it contains a control character".into()),
        Some(c) => return Err(format!("it contains '{c}', which no file name on Windows has")),
        None => {}
    }
    let (folders, _) = path.rsplit_once('\\').unwrap_or_default();
    let is_cut = |part: &str| part.ends_with(['.', ' ']) && !matches!(part, "." | "..");
    match folders.split('\\').any(is_cut) {
        true => {
            Err("a folder in it ends with a dot or a space, which Windows leaves out".to_owned())
        }
        false => Ok(()),
    }
}

/// Returns a path with backslashes whose parts are not the names of devices: `_nul` for `nul`.
pub(crate) fn without_devices(path: &str) -> String {
    let part = |part| if is_reserved(part) { format!("_{part}") } else { part.to_owned() };
    path.split('\\').map(part).collect::<Vec<_>>().join("\\")
}

/// Returns the path that [`without_devices`] has changed.
pub(crate) fn with_devices(path: &str) -> String {
    let is_changed = |part: &str| part.strip_prefix('_').is_some_and(is_reserved);
    let part = |part| if is_changed(part) { &part[1..] } else { part };
    path.split('\\').map(part).collect::<Vec<_>>().join("\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_have_no_files() {
        for name in
            ["CON", "con", "nul.trace.json", "Aux.x", "COM1", "lpt9.a", "prn ", "COM¹", "com0"]
        {
            assert!(is_reserved(name), "{name}");
        }
        for name in ["console", "COM", "COM10", "xcon", "", ".nul", "a.con", "_con", "lpt"] {
            assert!(!is_reserved(name), "{name}");
        }
    }
}

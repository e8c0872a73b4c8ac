//! The names of files that Windows cannot have.

/// Names of devices, in every folder, and with any ending.
const DEVICES: [&str; 6] = ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"];
/// Names of devices before a digit.
const PORTS: [&str; 2] = ["COM", "LPT"];

/// Returns whether the name of a file or folder is that of a device: `NUL`, `nul.txt`, `Com1`.
pub(crate) fn is_reserved(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end_matches(' ');
    let is = |device: &&str| stem.eq_ignore_ascii_case(device);
    // Windows takes `¹`, `²` and `³` for digits.
    let is_digit = |c: char| c.is_ascii_digit() || matches!(c, '¹' | '²' | '³');
    let port = stem.strip_suffix(is_digit);
    DEVICES.iter().any(|device| is(&device))
        || port.is_some_and(|port| PORTS.iter().any(|name| port.eq_ignore_ascii_case(name)))
}

/// Returns whether a character can be part of a name.
pub(crate) fn is_allowed(c: char) -> bool {
    c >= ' ' && !matches!(c, '<' | '>' | ':' | '"' | '/' | '\\' | '|' | '?' | '*')
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

//! The settings of a process that sends its own profiles.

use std::ffi::OsString;
use std::time::Duration;

use super::given_value::GivenValue;
use super::values::Formats;
use crate::base::error::Error;

/// Beginning of the names of all variables about the server.
pub const PREFIX: &str = "CPU_PROF_PUSH";

/// Address of the server, which can have a password.
pub(super) const ADDRESS: &str = "CPU_PROF_PUSH";
/// Length of a window.
pub(super) const EVERY: &str = "CPU_PROF_PUSH_EVERY";

const USUAL_WINDOW: Duration = Duration::from_secs(10);

/// Returns the length of a window of a process that sends its profiles; none of a process that sends none. What
/// else the variables have is read when the first window is complete.
pub(super) fn window(
    env: impl Fn(&str) -> Option<OsString>,
    formats: Formats,
) -> Result<Option<Duration>, Error> {
    let given = |name| GivenValue { name, value: env(name).filter(|value| !value.is_empty()) };
    let Some(address) = given(ADDRESS).value else { return Ok(None) };
    let address = address.to_string_lossy();
    let wrong = |allowed: &str| {
        Err(Error::Setting { name: ADDRESS, value: "…".into(), allowed: allowed.into() })
    };
    if !["http://", "https://"].iter().any(|scheme| address.trim().starts_with(scheme)) {
        return wrong("an address such as https://pyroscope.example.org is allowed");
    }
    if !formats.trace {
        return wrong("it needs the format trace, which is written while the program runs");
    }
    given(EVERY).time(USUAL_WINDOW).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: Formats = Formats { trace: true, cpuprofile: false };

    fn read(pairs: &[(&str, &str)], formats: Formats) -> Result<Option<Duration>, Error> {
        let find = |name: &str| pairs.iter().find(|(known, _)| *known == name);
        window(|name| find(name).map(|(_, value)| value.into()), formats)
    }

    #[test]
    fn an_address_makes_a_process_send() {
        assert_eq!(read(&[(EVERY, "1s")], TRACE).unwrap(), None);
        assert_eq!(read(&[(ADDRESS, "")], TRACE).unwrap(), None);
        let address = (ADDRESS, "https://u:SECRET@h/");
        assert_eq!(read(&[address], TRACE).unwrap(), Some(USUAL_WINDOW));
        let one = Some(Duration::from_secs(1));
        assert_eq!(read(&[address, (EVERY, "1s")], TRACE).unwrap(), one);
    }

    #[test]
    fn what_is_wrong_stops_the_program_and_shows_no_secret() {
        let both = Formats { trace: false, cpuprofile: true };
        for (pairs, formats) in [
            (vec![(ADDRESS, "SECRET@h")], TRACE),
            (vec![(ADDRESS, "ftp://u:SECRET@h")], TRACE),
            (vec![(ADDRESS, "https://u:SECRET@h")], both),
            (vec![(ADDRESS, "https://u:SECRET@h"), (EVERY, "10")], TRACE),
        ] {
            let error = read(&pairs, formats).unwrap_err();
            assert!(error.is_wrong_setting());
            assert!(!error.to_string().contains("SECRET"), "{error}");
        }
    }
}

//! The settings of a process that sends its own profiles.

use std::ffi::OsString;
use std::ops::RangeInclusive;
use std::time::Duration;

use super::given_value::GivenValue;
use super::values::Formats;
use crate::base::error::Error;

/// Beginning of the names of all variables about the server.
pub const PREFIX: &str = "CPU_PROF_PUSH";

/// Address of the server, which can have a password.
pub(super) const ADDRESS: &str = "CPU_PROF_PUSH";
/// Length of a slice.
pub(super) const EVERY: &str = "CPU_PROF_PUSH_EVERY";

const USUAL_SLICE: &str = "10s";
/// A slice is complete with a write of the trace, which comes twice a second at most.
const SLICES: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_secs(24 * 3600);

/// Returns the length of a slice of a process that sends its profiles; none of a process that sends none. What
/// else the variables have is read when the first slice is complete.
pub(super) fn slice(
    env: impl Fn(&str) -> Option<OsString>,
    formats: Formats,
) -> Result<Option<Duration>, Error> {
    let Some(address) = GivenValue::of_variable(ADDRESS, &env, None).value else { return Ok(None) };
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
    let every = GivenValue::of_variable(EVERY, &env, Some(USUAL_SLICE));
    every.length(&SLICES, "10s or 1m").map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: Formats = Formats { trace: true, cpuprofile: false };

    fn read(pairs: &[(&str, &str)], formats: Formats) -> Result<Option<Duration>, Error> {
        let find = |name: &str| pairs.iter().find(|(known, _)| *known == name);
        slice(|name| find(name).map(|(_, value)| value.into()), formats)
    }

    #[test]
    fn an_address_makes_a_process_send() {
        assert_eq!(read(&[(EVERY, "1s")], TRACE).unwrap(), None);
        assert_eq!(read(&[(ADDRESS, "")], TRACE).unwrap(), None);
        let address = (ADDRESS, "https://u:SECRET@h/");
        let slice = |pairs: &[(&str, &str)]| read(pairs, TRACE).unwrap();
        assert_eq!(slice(&[address]), Some(Duration::from_secs(10)));
        assert_eq!(slice(&[address, (EVERY, "1.5s")]), Some(Duration::from_millis(1500)));
        assert_eq!(slice(&[address, (EVERY, "1d")]), Some(Duration::from_secs(86_400)));
        for every in ["999ms", "25h", "+10s"] {
            let line = read(&[address, (EVERY, every)], TRACE).unwrap_err().line();
            let start =
                format!("cpu-prof: {EVERY}={every} is not valid: a time such as 10s or 1m ");
            assert!(
                line.starts_with(&start) && line.ends_with("from 1s to 1d, is allowed"),
                "{line}"
            );
        }
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

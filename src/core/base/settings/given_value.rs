//! The check of one setting's value.

use std::ffi::OsString;
use std::time::Duration;

use super::amount;
use super::name_pattern::NamePattern;
use super::start::{SocketFolder, StartMode};
use super::values::{Categories, Formats};
use crate::base::error::Error;

/// The value of a setting before it is checked.
pub(super) struct GivenValue {
    /// Name of the option or variable, as the user knows it.
    pub name: &'static str,
    /// Value as it was written; none for a setting that is not given.
    pub value: Option<OsString>,
}

impl GivenValue {
    fn text(&self) -> Option<String> {
        self.value.as_ref().map(|value| value.to_string_lossy().into_owned())
    }

    /// Returns the text without spaces around; none for an empty label.
    pub(super) fn label(&self) -> Option<String> {
        self.text().map(|label| label.trim().to_owned()).filter(|label| !label.is_empty())
    }

    fn wrong(&self, allowed: String) -> Error {
        Error::Setting { name: self.name, value: self.text().unwrap_or_default(), allowed }
    }

    /// Returns the pattern of names.
    pub(super) fn name_pattern(&self) -> Result<NamePattern, Error> {
        let name = self.text().unwrap_or_else(|| NamePattern::DEFAULT.to_owned());
        NamePattern::parse(&name).map_err(|allowed| self.wrong(allowed))
    }

    /// Returns when recordings start, at once by default.
    pub(super) fn start_mode(&self) -> Result<StartMode, Error> {
        let Some(text) = self.text() else { return Ok(StartMode::default()) };
        StartMode::parse(&text).map_err(|allowed| self.wrong(allowed))
    }

    /// Returns the folder of the control socket.
    pub(super) fn socket_folder(&self) -> Result<SocketFolder, Error> {
        let Some(value) = &self.value else { return Ok(SocketFolder::default()) };
        SocketFolder::parse(value.into()).map_err(|allowed| self.wrong(allowed))
    }

    /// Returns the formats, of which a trace is the default.
    pub(super) fn formats(&self) -> Result<Formats, Error> {
        let mut formats = Formats { trace: false, cpuprofile: false };
        for word in self.text().as_deref().unwrap_or("trace").split(',') {
            match word {
                "trace" => formats.trace = true,
                "cpuprofile" => formats.cpuprofile = true,
                _ => {
                    return Err(
                        self.wrong("trace, cpuprofile or trace,cpuprofile is allowed".into())
                    );
                }
            }
        }
        Ok(formats)
    }

    /// Returns the kinds of events.
    pub(super) fn categories(&self) -> Result<Categories, Error> {
        let Some(text) = self.text() else { return Ok(Categories::CHEAP) };
        Categories::parse(&text).ok_or_else(|| {
            let words = Categories::WORDS;
            self.wrong(format!("a list such as cpu,gc is allowed, of {words}; cpu is always in it, and +http adds to the default"))
        })
    }

    /// Returns a size, bytes.
    pub(super) fn size(&self, formats: Formats) -> Result<Option<u64>, Error> {
        /// A segment is a quarter of the limit, and needs room for the names and some call paths.
        const MIN: u64 = 64 << 10;
        let Some(text) = self.limit_of_trace(formats)? else { return Ok(None) };
        match amount::bytes(&text) {
            Some(bytes) if bytes >= MIN => Ok(Some(bytes)),
            _ => Err(self.wrong("a size such as 200M is allowed (K, M or G), from 64K".into())),
        }
    }

    /// Returns a time.
    pub(super) fn duration(&self, formats: Formats) -> Result<Option<Duration>, Error> {
        let Some(text) = self.limit_of_trace(formats)? else { return Ok(None) };
        match amount::duration(&text) {
            Some(duration) if !duration.is_zero() => Ok(Some(duration)),
            _ => Err(self.wrong("a time such as 10m is allowed (s, m or h), from 1s".into())),
        }
    }

    /// Returns a time of a day at most.
    pub(super) fn time(&self, default: Duration) -> Result<Duration, Error> {
        const MIN: Duration = Duration::from_secs(1);
        const MAX: Duration = Duration::from_secs(24 * 3600);
        let Some(text) = self.text() else { return Ok(default) };
        amount::duration(&text).filter(|time| (MIN..=MAX).contains(time)).ok_or_else(|| {
            self.wrong("a time such as 30s is allowed (s, m or h), from 1s to 24h".into())
        })
    }

    /// Returns the text of a limit of the history, which only a trace can have.
    fn limit_of_trace(&self, formats: Formats) -> Result<Option<String>, Error> {
        match self.text() {
            Some(_) if formats.cpuprofile => Err(self.wrong(
                "it needs the format trace alone, because a .cpuprofile is kept in memory until the \
                 end"
                    .into(),
            )),
            text => Ok(text),
        }
    }

    /// Returns a whole number within bounds.
    pub(super) fn number(&self, (min, max): (u32, u32), unit: &str) -> Result<Option<u32>, Error> {
        let Some(text) = self.text() else { return Ok(None) };
        match amount::whole_number(&text) {
            Some(number) if (min..=max).contains(&number) => Ok(Some(number)),
            _ => {
                Err(self.wrong(format!("a whole number of {unit} from {min} to {max} is allowed")))
            }
        }
    }

    /// Returns the choice with the setting's word. The first choice is the default.
    pub(super) fn choice<T: Copy>(&self, choices: &[(&str, T)]) -> Result<T, Error> {
        let text = self.text();
        let wanted = text.as_deref().unwrap_or(choices[0].0);
        if let Some((_, choice)) = choices.iter().find(|(word, _)| *word == wanted) {
            return Ok(*choice);
        }
        let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
        Err(self.wrong(match words.as_slice() {
            [rest @ .., last] if !rest.is_empty() => {
                format!("{} or {last} is allowed", rest.join(", "))
            }
            _ => format!("only {} is allowed", words.concat()),
        }))
    }
}

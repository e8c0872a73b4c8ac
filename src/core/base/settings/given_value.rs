//! The check of one setting's value.

use std::ffi::OsString;
use std::ops::RangeInclusive;
use std::time::Duration;

use super::amount;
use super::categories::Categories;
use super::length;
use super::name_pattern::NamePattern;
use super::start::{SocketFolder, StartMode};
use super::values::Formats;
use crate::base::error::Error;

/// The value of a setting before it is checked.
pub(super) struct GivenValue {
    /// Name of the option or variable, as the user knows it.
    pub name: &'static str,
    /// Value as it was written; none for a setting that is not given.
    pub value: Option<OsString>,
    /// Value that is read where none is given; none for a setting that can do without.
    pub default: Option<&'static str>,
}

impl GivenValue {
    /// Returns the value of a variable. An empty variable counts as unset: that is how a shell removes a
    /// setting.
    pub(super) fn of_variable(
        name: &'static str,
        env: impl Fn(&str) -> Option<OsString>,
        default: Option<&'static str>,
    ) -> Self {
        Self { name, value: env(name).filter(|value| !value.is_empty()), default }
    }

    /// Returns the value as text, or else the default.
    fn text(&self) -> Option<String> {
        let given = self.value.as_ref().map(|value| value.to_string_lossy().into_owned());
        given.or_else(|| self.default.map(str::to_owned))
    }

    /// Returns the text of a setting that has a default.
    fn some_text(&self) -> String {
        self.text().unwrap_or_default()
    }

    /// Returns the text without spaces around; none for an empty label.
    pub(super) fn label(&self) -> Option<String> {
        self.text().map(|label| label.trim().to_owned()).filter(|label| !label.is_empty())
    }

    fn wrong(&self, allowed: String) -> Error {
        Error::Setting { name: self.name, value: self.some_text(), allowed }
    }

    /// Returns the pattern of names.
    pub(super) fn name_pattern(&self) -> Result<NamePattern, Error> {
        NamePattern::parse(&self.some_text()).map_err(|allowed| self.wrong(allowed))
    }

    /// Returns when recordings start.
    pub(super) fn start_mode(&self) -> Result<StartMode, Error> {
        StartMode::parse(&self.some_text()).map_err(|allowed| self.wrong(allowed))
    }

    /// Returns the folder of the control socket.
    pub(super) fn socket_folder(&self) -> Result<SocketFolder, Error> {
        let Some(value) = &self.value else { return Ok(SocketFolder::default()) };
        SocketFolder::parse(value.into()).map_err(|allowed| self.wrong(allowed))
    }

    /// Returns the formats.
    pub(super) fn formats(&self) -> Result<Formats, Error> {
        let mut formats = Formats { trace: false, cpuprofile: false };
        for word in self.some_text().split(',') {
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
        Categories::parse(&self.some_text()).ok_or_else(|| {
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

    /// Returns the length of time that a recording keeps, if it is limited.
    pub(super) fn history_length(&self, formats: Formats) -> Result<Option<Duration>, Error> {
        /// One write has half a second or more.
        const MIN: Duration = Duration::from_secs(1);
        let given = self.limit_of_trace(formats)?;
        given.map(|_| self.length(&(MIN..=length::MAX), "10m or 30s")).transpose()
    }

    /// Returns a length of time within bounds. `examples` are for the message.
    pub(super) fn length(
        &self,
        allowed: &RangeInclusive<Duration>,
        examples: &str,
    ) -> Result<Duration, Error> {
        length::within(&self.some_text(), allowed, examples)
            .map_err(|allowed| self.wrong(format!("{allowed}, is allowed")))
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
    pub(super) fn number(&self, (min, max): (u32, u32), unit: &str) -> Result<u32, Error> {
        amount::whole_number(&self.some_text())
            .filter(|number| (min..=max).contains(number))
            .ok_or_else(|| {
                self.wrong(format!("a whole number of {unit} from {min} to {max} is allowed"))
            })
    }

    /// Returns a whole number within bounds, if it is given.
    pub(super) fn given_number(
        &self,
        bounds: (u32, u32),
        unit: &str,
    ) -> Result<Option<u32>, Error> {
        self.text().map(|_| self.number(bounds, unit)).transpose()
    }

    /// Returns the choice with the setting's word.
    pub(super) fn choice<T: Copy>(&self, choices: &[(&str, T)]) -> Result<T, Error> {
        let wanted = self.some_text();
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

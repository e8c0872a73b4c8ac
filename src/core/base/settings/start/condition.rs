//! A condition under which an armed process is recorded, such as `stall>500ms`.

use std::ops::RangeInclusive;
use std::time::Duration;

use crate::base::settings::{amount, length};
use crate::base::system::IS_WINDOWS;

/// The forms of a condition, for messages.
pub(super) const FORMS: &str = "stall>500ms, cpu>90%/10s, elu>0.9/10s, rss>1.5G or signal:SIGUSR2";

/// A condition under which an armed process is recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// Text, as the user wrote it.
    pub text: String,
    /// What is observed.
    pub trigger: Trigger,
}

/// What a condition observes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trigger {
    /// The main thread's event loop has stood still for longer.
    Stall(Duration),
    /// The process has used more CPU time.
    Cpu(Share),
    /// The main thread's event loop was busy for more of the time.
    Utilization(Share),
    /// The process has more resident memory, bytes.
    Memory(u64),
    /// The process has got this signal.
    Signal(StartSignal),
}

/// A share of a time that slides along.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// Share, thousandths. More than 1000 for several cores.
    pub thousandths: u32,
    /// Length of the time.
    pub period: Duration,
}

/// A signal that starts a recording. Node and V8 have no use for these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartSignal {
    /// SIGUSR2
    Usr2,
    /// SIGQUIT
    Quit,
    /// SIGURG
    Urg,
}

impl Condition {
    /// Reads a condition. The error is what is wrong, as the end of a sentence.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let trigger = if let Some(limit) = text.strip_prefix("stall>") {
            stall(limit).map(Trigger::Stall)
        } else if let Some(limit) = text.strip_prefix("cpu>") {
            cpu(limit).map(Trigger::Cpu)
        } else if let Some(limit) = text.strip_prefix("elu>") {
            utilization(limit).map(Trigger::Utilization)
        } else if let Some(limit) = text.strip_prefix("rss>") {
            memory(limit).map(Trigger::Memory)
        } else if let Some(name) = text.strip_prefix("signal:") {
            signal(name).map(Trigger::Signal)
        } else {
            Err(format!("{text:?} is not a condition, such as {FORMS}"))
        };
        Ok(Self { text: text.to_owned(), trigger: trigger? })
    }
}

fn stall(limit: &str) -> Result<Duration, String> {
    const LIMITS: RangeInclusive<Duration> = Duration::from_millis(100)..=Duration::from_secs(3600);
    length::within(limit, &LIMITS, "500ms or 2s")
        .map_err(|allowed| format!("stall> takes {allowed}"))
}

fn cpu(limit: &str) -> Result<Share, String> {
    const MAX: u32 = 100_000;
    share(limit, |amount| Some(thousandths(amount.strip_suffix('%')?)? / 100), MAX).ok_or_else(
        || {
            "cpu> takes a percentage of one core and a time such as 90%/10s, from 1% to 10000% and \
             from 1s to 1h"
                .to_owned()
        },
    )
}

fn utilization(limit: &str) -> Result<Share, String> {
    const MAX: u32 = 999;
    share(limit, thousandths, MAX).ok_or_else(|| {
        "elu> takes a share and a time such as 0.9/10s, from 0.01 to 0.999 and from 1s to 1h"
            .to_owned()
    })
}

/// Returns the share and its time, if both are within bounds.
fn share(limit: &str, amount: impl Fn(&str) -> Option<u64>, max: u32) -> Option<Share> {
    const MIN: u32 = 10;
    const PERIODS: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_secs(3600);
    let (amount_text, period) = limit.split_once('/')?;
    let thousandths = u32::try_from(amount(amount_text)?).ok()?;
    let period = length::parse(period).filter(|period| PERIODS.contains(period))?;
    (MIN..=max).contains(&thousandths).then_some(Share { thousandths, period })
}

fn memory(limit: &str) -> Result<u64, String> {
    const MIN: u64 = 1 << 20;
    let units = [('K', 1_u64 << 10), ('M', 1 << 20), ('G', 1 << 30)];
    let bytes = units.iter().find_map(|(unit, bytes)| {
        Some(thousandths(limit.strip_suffix(*unit)?)?.checked_mul(*bytes)? / 1000)
    });
    bytes
        .filter(|bytes| *bytes >= MIN)
        .ok_or_else(|| "rss> takes a size such as 1.5G (K, M or G), from 1M".to_owned())
}

fn signal(name: &str) -> Result<StartSignal, String> {
    if IS_WINDOWS {
        return Err("signal: is not available on Windows, which has no such signals".to_owned());
    }
    match name {
        "SIGUSR2" => Ok(StartSignal::Usr2),
        "SIGQUIT" => Ok(StartSignal::Quit),
        "SIGURG" => Ok(StartSignal::Urg),
        _ => {
            Err("signal: takes SIGUSR2, SIGQUIT or SIGURG, because Node, V8 or the system use the \
                  others"
                .to_owned())
        }
    }
}

/// Returns the thousandths of a decimal number with three decimals at most.
fn thousandths(text: &str) -> Option<u64> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let digits: u64 = amount::whole_number(decimals)?;
    let scale = match decimals.len() {
        1 => 100,
        2 => 10,
        3 => 1,
        _ => return None,
    };
    amount::whole_number::<u64>(whole)?.checked_mul(1000)?.checked_add(digits * scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    use proptest::prelude::*;

    fn trigger(text: &str) -> Trigger {
        let condition = Condition::parse(text).unwrap();
        assert_eq!(condition.text, text);
        condition.trigger
    }

    #[test]
    fn every_form() {
        let share = |thousandths, s| Share { thousandths, period: Duration::from_secs(s) };
        assert_eq!(trigger("stall>500ms"), Trigger::Stall(Duration::from_millis(500)));
        assert_eq!(trigger("stall>2s"), Trigger::Stall(Duration::from_secs(2)));
        assert_eq!(trigger("stall>0.5s"), Trigger::Stall(Duration::from_millis(500)));
        assert_eq!(trigger("cpu>90%/10s"), Trigger::Cpu(share(900, 10)));
        assert_eq!(trigger("cpu>12.5%/1m"), Trigger::Cpu(share(125, 60)));
        assert_eq!(trigger("cpu>250%/1s"), Trigger::Cpu(share(2500, 1)));
        assert_eq!(trigger("elu>0.9/10s"), Trigger::Utilization(share(900, 10)));
        assert_eq!(trigger("elu>0.9/10000ms"), Trigger::Utilization(share(900, 10)));
        assert_eq!(trigger("elu>0.955/1h"), Trigger::Utilization(share(955, 3600)));
        assert_eq!(trigger("rss>1.5G"), Trigger::Memory(3 << 29));
        assert_eq!(trigger("rss>200M"), Trigger::Memory(200 << 20));
        assert_eq!(trigger("signal:SIGUSR2"), Trigger::Signal(StartSignal::Usr2));
    }

    #[test]
    fn a_wrong_condition_is_told_what_is_allowed() {
        for (text, allowed) in [
            ("stall", "is not a condition"),
            ("", "is not a condition"),
            ("stall>", "500ms"),
            ("stall>500", "500ms"),
            ("stall>99ms", "from 100ms"),
            ("stall>2h", "to 1h"),
            ("stall> 500ms", "500ms"),
            ("stall>+500ms", "500ms"),
            ("stall>0.05s", "from 100ms to 1h"),
            ("stall>1e3ms", "500ms"),
            ("cpu>90%/999ms", "from 1s"),
            ("stall>99999999999999999999ms", "500ms"),
            ("cpu>90/10s", "90%/10s"),
            ("cpu>90%", "90%/10s"),
            ("cpu>0%/10s", "from 1%"),
            ("cpu>10001%/10s", "10000%"),
            ("cpu>90%/0s", "from 1s"),
            ("cpu>90%/2h", "to 1h"),
            ("elu>1/10s", "0.999"),
            ("elu>0.9999/10s", "0.999"),
            ("elu>90%/10s", "0.9/10s"),
            ("elu>.9/10s", "0.9/10s"),
            ("rss>1.5", "1.5G"),
            ("rss>1K", "from 1M"),
            ("rss>99999999999999999999G", "1.5G"),
            ("rss>18446744073709551G", "1.5G"),
            ("signal:SIGUSR1", "SIGUSR2, SIGQUIT or SIGURG"),
            ("signal:SIGKILL", "SIGUSR2, SIGQUIT or SIGURG"),
            ("signal:", "SIGUSR2, SIGQUIT or SIGURG"),
            ("signal:sigusr2", "SIGUSR2, SIGQUIT or SIGURG"),
        ] {
            let message = Condition::parse(text).unwrap_err();
            assert!(message.contains(allowed), "{text}: {message}");
        }
    }

    #[test]
    fn a_size_has_the_digits_that_were_written() {
        assert_eq!(trigger("rss>1.001G"), Trigger::Memory((1001 << 30) / 1000));
        assert_eq!(trigger("rss>1.01G"), Trigger::Memory((1010 << 30) / 1000));
        assert!(Condition::parse("rss>1.0001G").is_err());
        assert!(Condition::parse("rss>1.G").is_err());
    }

    proptest! {
        #[test]
        fn any_text_is_a_condition_in_bounds_or_an_error(
            text in "(stall>|cpu>|elu>|rss>|signal:)?[0-9.]{0,20}(ms|s|m|h|%|/|[KMG]|SIGUSR[12]){0,3}[0-9.]{0,4}(s|m)?|\\PC{0,12}",
        ) {
            match Condition::parse(&text).map(|condition| condition.trigger) {
                Ok(Trigger::Stall(time)) => prop_assert!(time.as_millis() >= 100),
                Ok(Trigger::Cpu(share) | Trigger::Utilization(share)) => {
                    prop_assert!(share.thousandths >= 10 && share.period.as_secs() >= 1);
                }
                Ok(Trigger::Memory(bytes)) => prop_assert!(bytes >= 1 << 20),
                Ok(Trigger::Signal(signal)) => prop_assert_eq!(signal, StartSignal::Usr2),
                Err(message) => prop_assert!(!message.contains(char::is_control)),
            }
        }
    }
}

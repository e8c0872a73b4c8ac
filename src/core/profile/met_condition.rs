//! A condition of the user's that was met while a process ran: why a recording exists.

use serde::{Deserialize, Serialize};

use crate::base::settings::start::StartReason;

/// A condition that was met.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MetCondition {
    /// The condition, as in the setting: `stall>500ms`.
    pub reason: String,
    /// What was measured, with its unit: `612 ms`.
    pub observed: String,
    /// Whether the process was recorded already, and the files around the time were kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_kept: bool,
}

impl MetCondition {
    /// Returns the condition that started the recording of a thread, if one did. The recordings of workers
    /// are parts of that of the main thread.
    pub fn of_start(start: Option<&StartReason>, tid: i64) -> Option<Self> {
        let Some(StartReason::Condition { reason, observed }) = start.filter(|_| tid == 0) else {
            return None;
        };
        let (reason, observed) = (reason.clone(), observed.clone());
        Some(Self { reason, observed, is_kept: false }).filter(Self::is_short)
    }

    /// Returns whether the texts are as short as those of our conditions.
    pub fn is_short(&self) -> bool {
        const MAX_BYTES: usize = 64;
        [&self.reason, &self.observed].iter().all(|text| text.len() <= MAX_BYTES)
    }

    /// Returns what happened as a sentence.
    pub fn sentence(&self) -> String {
        let Self { reason, observed, is_kept } = self;
        let verb = if *is_kept { "Kept" } else { "Recorded" };
        let what = match reason.split(['>', ':']).next() {
            Some("stall") => format!("the event loop had stood still for {observed}"),
            Some("cpu") => format!("the process had used {observed} of a core"),
            Some("elu") => format!("the event loop had been busy for {observed} of the time"),
            Some("rss") => format!("the process had {observed} of resident memory"),
            Some("signal") => format!("the process had got {observed}"),
            _ => format!("of {observed}"),
        };
        format!("{verb} because {what} ({reason}).")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_condition_has_its_sentence() {
        let sentence = |reason: &str, observed: &str| {
            let (reason, observed) = (reason.to_owned(), observed.to_owned());
            MetCondition { reason, observed, is_kept: false }.sentence()
        };
        for (reason, observed, expected) in [
            (
                "stall>500ms",
                "612 ms",
                "Recorded because the event loop had stood still for 612 ms (stall>500ms).",
            ),
            (
                "cpu>90%/10s",
                "97%",
                "Recorded because the process had used 97% of a core (cpu>90%/10s).",
            ),
            (
                "elu>0.9/10s",
                "0.95",
                "Recorded because the event loop had been busy for 0.95 of the time (elu>0.9/10s).",
            ),
            (
                "rss>1.5G",
                "1600 MiB",
                "Recorded because the process had 1600 MiB of resident memory (rss>1.5G).",
            ),
            (
                "signal:SIGUSR2",
                "SIGUSR2",
                "Recorded because the process had got SIGUSR2 (signal:SIGUSR2).",
            ),
        ] {
            assert_eq!(sentence(reason, observed), expected);
        }
        let (reason, observed) = ("stall>1s".into(), "1001 ms".into());
        let kept = MetCondition { reason, observed, is_kept: true };
        assert!(kept.sentence().starts_with("Kept because the event loop "));
    }
}

//! Sends the recordings of the process in which they are made, slice by slice, while they grow.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::names::ProfileNames;
use super::reader::{PushReader, PushStep, SliceBegin, SliceOptions};
use cpu_prof_remote::push::environment::PushEnvironment;
use cpu_prof_remote::push::options::PushOptions;
use cpu_prof_remote::push::sender::Sender;
use cpu_prof_tools::read::selection::Selection;

/// The least time between two messages about what is not sent.
const TOLD_AGAIN: Duration = Duration::from_secs(3600);

/// Reads and sends.
pub(crate) struct Pusher {
    sender: Sender,
    options: SliceOptions,
    /// Reads the recordings that are sent now.
    reader: Option<PushReader>,
    /// Recordings that have been sent to their ends.
    done: HashSet<PathBuf>,
    losses: Losses,
}

/// What comes after a step.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct PusherStep {
    /// Time to the next step.
    pub wait: Duration,
    /// What the user has to know.
    pub message: Option<String>,
}

/// What is told of profiles that are not sent.
#[derive(Debug, Default)]
struct Losses {
    /// Count of the profiles that were told.
    told: u64,
    /// When they were told.
    at: Option<Instant>,
}

impl Pusher {
    /// Returns a pusher to the server of the environment; none if no server is named. The error is for the
    /// user, and has no secret.
    pub(crate) fn open(
        environment: PushEnvironment,
        slice: Duration,
    ) -> Result<Option<Self>, String> {
        let mut options = PushOptions::default();
        environment.complete(&mut options);
        let PushEnvironment { url, service, tags, .. } = environment;
        let Some(url) = url else { return Ok(None) };
        let sender = Sender::open(&url, &options)?;
        let options = SliceOptions {
            kind: sender.kind(),
            names: ProfileNames { service, tags }.with_host(),
            slice_ms: slice.as_millis() as i64,
            begin: SliceBegin::Start,
        };
        let losses = Losses::default();
        Ok(Some(Self { sender, options, reader: None, done: HashSet::new(), losses }))
    }

    /// Sends the slices that are complete. `files` are the recordings of the process, those that have ended
    /// before now not all among them.
    pub(crate) fn step(&mut self, files: Vec<PathBuf>) -> PusherStep {
        self.done.retain(|path| files.contains(path));
        let is_wanted = |path: &PathBuf| !self.done.contains(path) && path.exists();
        let files: Vec<PathBuf> = files.into_iter().filter(is_wanted).collect();
        let wait = self.send(files);
        let counts = self.sender.counts();
        let lost = counts.dropped + counts.refused;
        let message = self.losses.message(lost, counts.sent, counts.failure);
        PusherStep { wait, message }
    }

    /// Sends the slices of files. Returns the time to the next.
    fn send(&mut self, files: Vec<PathBuf>) -> Duration {
        let slice = Duration::from_millis(self.options.slice_ms.max(1) as u64);
        if files.is_empty() {
            self.reader = None;
            return slice;
        }
        let options = &self.options;
        let reader = self.reader.get_or_insert_with(|| {
            PushReader::new(Vec::new(), options.clone(), Selection::default())
        });
        reader.follow(files.clone());
        loop {
            match reader.next() {
                Ok(PushStep::Slice(profiles)) => {
                    for profile in profiles {
                        // The newest slices count.
                        self.sender.offer(&profile.meta, profile.body, false);
                    }
                }
                Ok(PushStep::Wait(ms)) => return Duration::from_millis(ms.max(1) as u64),
                Ok(PushStep::End) => {
                    self.done.extend(files);
                    self.reader = None;
                    return slice;
                }
                // What cannot be encoded is left out, and the next slice goes on.
                Err(_) => return slice,
            }
        }
    }
}

impl Losses {
    /// Returns what is told of the profiles that were lost so far, if it is time.
    fn message(&mut self, lost: u64, sent: u64, failure: Option<String>) -> Option<String> {
        if lost <= self.told || self.at.is_some_and(|at| at.elapsed() < TOLD_AGAIN) {
            return None;
        }
        (self.told, self.at) = (lost, Some(Instant::now()));
        let why = failure.unwrap_or_else(|| "the server does not take them".into());
        Some(format!("{lost} profiles were not sent, {sent} were: {why}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_told_once_an_hour() {
        let mut losses = Losses::default();
        assert_eq!(losses.message(0, 9, None), None);
        let message = losses.message(2, 9, Some("h answered 500".into())).unwrap();
        assert_eq!(message, "2 profiles were not sent, 9 were: h answered 500");
        assert_eq!(losses.message(3, 9, None), None);
        losses.at = Instant::now().checked_sub(TOLD_AGAIN);
        assert!(losses.message(2, 9, None).is_none(), "nothing more was lost");
        assert!(losses.message(3, 9, None).is_some());
    }
}

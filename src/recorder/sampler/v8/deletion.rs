//! The profiles of one thread that were read and wait for their deletion.
//!
//! A thread that waits in its event loop when a window is taken deletes the profiles itself. A busy
//! thread would lose milliseconds to that, so another thread deletes its profiles.

use parking_lot::Mutex;

use super::raw_profile::V8Profile;

/// The most profiles that a thread deletes in one go: the loop should soon serve its events.
const AT_ONCE: usize = 4;

/// The waiting profiles.
#[derive(Default)]
pub(crate) struct DeletionQueue {
    state: Mutex<QueueState>,
}

#[derive(Default)]
struct QueueState {
    profiles: Vec<V8Profile>,
    /// Time of the newest sample that was read: CLOCK_MONOTONIC, microseconds.
    newest_us: i64,
}

impl DeletionQueue {
    /// Adds a profile that was read. `newest_us` is the time of the profile's last sample.
    pub(crate) fn push(&self, profile: V8Profile, newest_us: Option<i64>) {
        let mut state = self.state.lock();
        state.profiles.push(profile);
        state.newest_us = newest_us.unwrap_or(i64::MIN).max(state.newest_us);
    }

    /// Deletes the profiles on another thread than theirs, as far as that is safe.
    pub(crate) fn delete_elsewhere(&self) {
        while self.delete_one() {}
    }

    /// Deletes some profiles on the thread that they belong to, as far as that is safe.
    pub(crate) fn delete_here(&self) {
        for _ in 0..AT_ONCE {
            if !self.delete_one() {
                break;
            }
        }
    }

    /// Returns the profiles that are left.
    pub(crate) fn take(&self) -> Vec<V8Profile> {
        std::mem::take(&mut self.state.lock().profiles)
    }

    /// Deletes one profile if that is safe. The queue is not locked meanwhile: a collection that is
    /// about to begin waits for one deletion at most.
    fn delete_one(&self) -> bool {
        let (profile, newest_us) = {
            let mut state = self.state.lock();
            (state.profiles.pop(), state.newest_us)
        };
        let Some(profile) = profile else { return false };
        match profile.delete_if_safe(newest_us) {
            Ok(()) => true,
            Err(profile) => {
                self.state.lock().profiles.push(profile);
                false
            }
        }
    }
}

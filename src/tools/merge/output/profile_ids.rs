//! Ids of profiles: an id stands for one profile in the whole trace.

use rustc_hash::FxHashSet;

use cpu_prof_core::format::trace::write::thread::profile_id;

/// The ids that profiles of the trace have, with their quotes.
#[derive(Debug, Default)]
pub struct ProfileIds(FxHashSet<Vec<u8>>);

impl ProfileIds {
    /// Returns the id of a recorded thread, with quotes.
    pub fn recorded(&mut self, pid: u32, tid: u32) -> String {
        let id = quoted(pid, tid);
        self.0.insert(id.clone().into_bytes());
        id
    }

    /// Returns whether an id was free, and takes the id.
    pub fn take(&mut self, id: &[u8]) -> bool {
        self.0.insert(id.to_owned())
    }

    /// Returns a free id for a profile of a thread, with quotes.
    pub fn free(&mut self, pid: u32, tid: u32) -> String {
        let mut number = u64::from(tid);
        loop {
            let id = quoted(pid, number as u32);
            if self.take(id.as_bytes()) {
                return id;
            }
            number += 1_000_000;
        }
    }
}

fn quoted(pid: u32, tid: u32) -> String {
    format!("\"{}\"", profile_id(pid, tid))
}

//! The id of a run, which comes from its recordings: in whatever files they are, they make one run.

use std::hash::Hasher;

use super::output::lake_file::new_hasher;
use cpu_prof_core::base::cold_sort::ColdSort;
use cpu_prof_session::model::{Identity, Process, Session, Thread};

/// Returns the id: 16 hexadecimal digits.
///
/// A thread counts with its process and its first start, and not with each of its recordings: a merged trace
/// has the recordings of a thread in one profile.
pub(super) fn run_id(session: &Session) -> String {
    let threads = session
        .processes
        .iter()
        .flat_map(|process| process.threads.iter().map(move |thread| identity_of(process, thread)));
    let mut threads: Vec<String> = threads.collect();
    threads.cold_sort_by(Ord::cmp);
    threads.dedup();
    let mut hasher = new_hasher();
    for thread in threads {
        hasher.write(&(thread.len() as u64).to_le_bytes());
        hasher.write(thread.as_bytes());
    }
    hex(hasher.finish())
}

/// Returns 16 hexadecimal digits.
pub(super) fn hex(number: u64) -> String {
    format!("{number:016x}")
}

/// Returns what no other thread of any machine has, and what all files of the thread tell.
fn identity_of(process: &Process, thread: &Thread) -> String {
    let recorded = || thread.profiles.iter().map(|profile| profile.recorded_us);
    let start_us = recorded().map(|(start_us, _)| start_us).min().unwrap_or(0);
    match &process.identity {
        Some(Identity { key: Some(key), .. }) => {
            format!("key {key} {} {} {start_us}", process.pid, thread.id)
        }
        Some(Identity { boot, process_start_ms, .. }) => {
            format!("boot {boot} {process_start_ms} {} {} {start_us}", process.pid, thread.id)
        }
        // The name of a file of another tool may tell the pid and the thread: files are renamed.
        None => {
            let end_us = recorded().map(|(_, end_us)| end_us).max().unwrap_or(0);
            format!("time {start_us} {end_us}")
        }
    }
}

//! The pids of one trace of another tool, and those in the output.

use rustc_hash::FxHashMap;

use crate::merge::inputs::foreign_pid::ForeignPid;
use crate::merge::inputs::taken_pids::TakenPids;

/// The pids of one trace.
#[derive(Debug, Default)]
pub(super) struct ForeignPids {
    pids: FxHashMap<ForeignPid, u32>,
    /// Pids that changed: those of the trace, and those in the output.
    pub renumbered: Vec<(ForeignPid, u32)>,
}

impl ForeignPids {
    /// Gives a process a pid that the output has already.
    pub(super) fn set(&mut self, foreign: ForeignPid, pid: u32) {
        self.pids.insert(foreign, pid);
    }

    /// Returns the pid in the output: the same if it is free there.
    pub(super) fn pid(&mut self, foreign: ForeignPid, taken: &mut TakenPids) -> u32 {
        if let Some(pid) = self.pids.get(&foreign) {
            return *pid;
        }
        let number = foreign.as_number();
        let pid = match number {
            Some(number) => taken.take(number),
            None => taken.take_free(),
        };
        if number != Some(pid) {
            self.renumbered.push((foreign.clone(), pid));
        }
        self.pids.insert(foreign, pid);
        pid
    }

    /// Returns the trace's own id of a process.
    pub(super) fn foreign(&self, pid: u32) -> Option<&ForeignPid> {
        self.pids.iter().find(|(_, number)| **number == pid).map(|(foreign, _)| foreign)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_process_has_one_pid_in_the_output() {
        let mut taken = TakenPids::default();
        let mut pids = |list: &[i64]| -> Vec<u32> {
            let mut trace = ForeignPids::default();
            list.iter().map(|own| trace.pid(ForeignPid::Number(*own), &mut taken)).collect()
        };
        assert_eq!(pids(&[0, 5, 0]), [0, 5, 0]);
        assert_eq!(pids(&[0, -1, 0, -1, 6]), [10_000_000, 10_000_001, 10_000_000, 10_000_001, 6]);
    }
}

//! A session as the tools look at it.

use super::launchers::launchers;
use crate::analysis::frame_index::FrameIndex;
use crate::read::ancestry::parents;
use cpu_prof_session::model::thread_profile::ThreadProfile;
use cpu_prof_session::model::{Process, Session};

/// A session with what all parts of a result ask of it: what its frames mean, and which process started which.
pub struct SessionView<'a> {
    pub session: &'a Session,
    /// The functions of the session's frames.
    pub index: FrameIndex,
    /// Index of the recorded process above each process.
    pub parents: Vec<Option<usize>>,
    /// Whether each process is a launcher, whose work the tables do not share out.
    pub launchers: Vec<bool>,
}

impl<'a> SessionView<'a> {
    /// Returns the view of a session.
    pub fn of(session: &'a Session) -> Self {
        Self::with_parents(session, parents(session))
    }

    /// Returns the view of a session whose processes run under those with the indices `parents`.
    pub(crate) fn with_parents(session: &'a Session, parents: Vec<Option<usize>>) -> Self {
        let launchers = launchers(session, &parents);
        Self { session, index: FrameIndex::of(&session.frames), parents, launchers }
    }

    /// Returns all processes but launchers, each with its index.
    pub fn shown(&self) -> impl Iterator<Item = (usize, &'a Process)> {
        let processes = self.session.processes.iter().enumerate();
        processes.filter(|(number, _)| !self.launchers[*number])
    }

    /// Returns the profiles of all processes but launchers.
    pub fn shown_profiles(&self) -> impl Iterator<Item = &'a ThreadProfile> {
        self.shown().flat_map(|(_, process)| &process.threads).flat_map(|thread| &thread.profiles)
    }
}

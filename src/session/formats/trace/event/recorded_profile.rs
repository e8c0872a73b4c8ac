//! Tells which profile of a file is the recording that the file's header announces.

use super::head::{EventHead, Member};
use cpu_prof_core::format::trace::event_names::PROFILE_EVENTS;
use cpu_prof_core::format::trace::ours::recorded_thread;

/// Events before the profile. Only names come before the profile of a recording.
const EVENTS_BEFORE_PROFILE: usize = 16;

/// The profile of a file that can be the recording of one thread.
#[derive(Debug, Clone, Default)]
pub enum RecordedProfile {
    /// No header has announced one so far.
    #[default]
    Unannounced,
    /// The profile of this process and thread has not begun.
    Expected {
        /// Process id in the header.
        pid: u32,
        /// Thread id in the header.
        tid: u32,
        /// Count of the events so far.
        events: usize,
    },
    /// The profile, by its process, thread and id. All others in the file are damage.
    Begun {
        /// Process, thread and id, as they are written.
        key: Box<[u8]>,
    },
    /// The file does not hold what its header announces: it is read as that of another tool.
    Missing,
}

impl RecordedProfile {
    /// Reads a member of the file's object. The header stands before the events.
    pub fn member(&mut self, key: &str, value: &[u8]) {
        if key == "metadata" && matches!(self, Self::Unannounced | Self::Expected { events: 0, .. })
        {
            *self = match recorded_thread(value) {
                Some((pid, tid)) => Self::Expected { pid, tid, events: 0 },
                None => Self::Unannounced,
            };
        }
    }

    /// Returns whether the profile has begun.
    pub fn has_begun(&self) -> bool {
        matches!(self, Self::Begun { .. })
    }

    /// Returns whether the profile was announced, and has not begun.
    pub fn is_expected(&self) -> bool {
        matches!(self, Self::Expected { .. })
    }

    /// Reads the next event. Returns whether the event belongs to the recording: false for an event of
    /// another profile.
    pub fn has(&mut self, head: &EventHead, text: &[u8]) -> bool {
        let name = head.name(text);
        let is_profile = PROFILE_EVENTS.contains(&name);
        match self {
            Self::Unannounced | Self::Missing => *self = Self::Missing,
            Self::Begun { key } => return !is_profile || **key == *key_of(head, text),
            Self::Expected { pid, tid, events } => {
                *events += 1;
                let recorded_pid = head.pid(text);
                let is_ours = recorded_pid == Some((*pid).into()) && head.tid(text) == Some(*tid);
                if name == b"Profile" && is_ours {
                    *self = Self::Begun { key: key_of(head, text).into() };
                } else if is_profile || *events == EVENTS_BEFORE_PROFILE {
                    *self = Self::Missing;
                }
            }
        }
        true
    }
}

fn key_of(head: &EventHead, text: &[u8]) -> Vec<u8> {
    let places = [Member::Pid, Member::Tid, Member::Id].map(|member| head.place(member));
    let texts: Vec<&[u8]> = places.into_iter().flatten().map(|place| &text[place]).collect();
    texts.join(&b' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(profile: &mut RecordedProfile, name: &str, ids: &str) -> bool {
        let text = format!("{{\"name\":\"{name}\",{ids}}}");
        profile.has(&EventHead::of_any(text.as_bytes()).unwrap(), text.as_bytes())
    }

    fn expected(pid: u32, tid: u32) -> RecordedProfile {
        let mut profile = RecordedProfile::default();
        let header = format!(r#"{{"cpu-prof":{{"pid":{pid},"threadId":{tid}}}}}"#);
        profile.member("metadata", header.as_bytes());
        assert!(profile.is_expected());
        profile
    }

    const OWN: &str = r#""pid":7,"tid":1,"id":"0x1""#;

    #[test]
    fn a_recording_has_one_profile() {
        let mut profile = expected(7, 1);
        assert!(has(&mut profile, "process_name", r#""pid":7"#));
        assert!(!profile.has_begun());
        assert!(has(&mut profile, "Profile", OWN));
        assert!(profile.has_begun());
        assert!(has(&mut profile, "ProfileChunk", OWN));
        assert!(has(&mut profile, "thread.flush", r#""pid":8,"tid":9"#));
        for other in [r#""pid":8,"tid":1,"id":"0x1""#, r#""pid":7,"tid":1,"id":"0x2""#] {
            assert!(!has(&mut profile, "ProfileChunk", other));
            assert!(!has(&mut profile, "Profile", other));
        }
    }

    #[test]
    fn a_file_that_does_not_keep_its_promise_is_no_recording() {
        let mut profile = expected(7, 1);
        assert!(has(&mut profile, "ProfileChunk", OWN));
        assert!(matches!(profile, RecordedProfile::Missing));
        assert!(has(&mut profile, "Profile", OWN) && has(&mut profile, "Profile", r#""pid":8"#));
        let mut profile = expected(7, 0);
        assert!(has(&mut profile, "Profile", OWN));
        assert!(matches!(profile, RecordedProfile::Missing));
        let mut profile = expected(7, 1);
        (0..20).for_each(|_| assert!(has(&mut profile, "a", OWN)));
        assert!(matches!(profile, RecordedProfile::Missing));
    }

    #[test]
    fn only_a_header_before_the_events_counts() {
        let header = br#"{"cpu-prof":{"pid":7,"threadId":1}}"#;
        let mut profile = RecordedProfile::default();
        profile.member("other", header);
        profile.member("metadata", b"{}");
        assert!(!profile.is_expected());
        assert!(has(&mut profile, "a", OWN));
        profile.member("metadata", header);
        assert!(!profile.is_expected());
    }
}

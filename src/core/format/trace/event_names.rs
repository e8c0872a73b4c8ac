//! Names of events that a reader knows.

/// The events of a profile, the first of which announces it.
pub const PROFILE_EVENTS: [&[u8]; 2] = [b"Profile", b"ProfileChunk"];

/// The event of a whole profile, which older tools write.
pub const WHOLE_PROFILE: &[u8] = b"CpuProfile";

/// Events that name frames.
pub const FRAMES: [&[u8]; 2] = [b"TracingStartedInBrowser", b"FrameCommittedInBrowser"];

/// Our events with the counters of a thread; the first begins a recording.
pub const COUNTERS: [&[u8]; 3] = [b"thread.start", b"thread.flush", b"trace.end"];

/// The category of our spans of processes, which tell again when the processes ran.
pub const PROCESSES: &str = "cpu-prof.processes";

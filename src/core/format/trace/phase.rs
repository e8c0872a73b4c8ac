//! The phases of events, and the fields that each needs: the document "Trace Event Format".

/// What events of a phase are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PhaseKind {
    /// Start or end of a call on a thread.
    Begin,
    End,
    /// A call with its duration.
    Complete,
    /// A moment.
    Instant,
    /// Numbers.
    Counter,
    /// Start, step or end of work that is on no thread.
    AsyncBegin,
    AsyncStep,
    AsyncEnd,
    /// Start, step or end of an arrow.
    FlowStart,
    FlowStep,
    FlowEnd,
    /// Creation, snapshot or deletion of an object.
    ObjectNew,
    ObjectSnapshot,
    ObjectDelete,
    /// A name, or another fact about a process or thread.
    Metadata,
    /// A sample of a profile.
    Sample,
    /// A dump of memory.
    MemoryDump,
    /// A mark, a clock, a context, or a link of ids.
    Mark,
    ClockSync,
    Context,
    LinkedIds,
}

impl PhaseKind {
    /// Returns the kind of a phase; none for an unknown phase.
    pub fn of(phase: u8) -> Option<Self> {
        Some(match phase {
            b'B' => Self::Begin,
            b'E' => Self::End,
            b'X' => Self::Complete,
            b'i' | b'I' => Self::Instant,
            b'C' => Self::Counter,
            b'b' | b'S' => Self::AsyncBegin,
            b'n' | b'T' | b'p' => Self::AsyncStep,
            b'e' | b'F' => Self::AsyncEnd,
            b's' => Self::FlowStart,
            b't' => Self::FlowStep,
            b'f' => Self::FlowEnd,
            b'N' => Self::ObjectNew,
            b'O' => Self::ObjectSnapshot,
            b'D' => Self::ObjectDelete,
            b'M' => Self::Metadata,
            b'P' => Self::Sample,
            b'V' | b'v' => Self::MemoryDump,
            b'R' => Self::Mark,
            b'c' => Self::ClockSync,
            b'(' | b')' => Self::Context,
            b'=' => Self::LinkedIds,
            _ => return None,
        })
    }

    /// Returns whether events of the phase need an id.
    pub fn needs_id(self) -> bool {
        matches!(
            self,
            Self::AsyncBegin
                | Self::AsyncStep
                | Self::AsyncEnd
                | Self::FlowStart
                | Self::FlowStep
                | Self::FlowEnd
                | Self::ObjectNew
                | Self::ObjectSnapshot
                | Self::ObjectDelete
                | Self::MemoryDump
                | Self::Context
                | Self::LinkedIds
        )
    }

    /// Returns whether events of the phase need a name: an end closes the last start.
    pub(crate) fn needs_name(self) -> bool {
        !matches!(self, Self::End | Self::FlowStep | Self::FlowEnd)
    }
}

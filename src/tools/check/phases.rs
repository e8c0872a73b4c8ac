//! The phases of events, and the fields that each needs: the document "Trace Event Format".

/// What events of a phase are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PhaseKind {
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
    pub(super) fn of(phase: &str) -> Option<Self> {
        Some(match phase {
            "B" => Self::Begin,
            "E" => Self::End,
            "X" => Self::Complete,
            "i" | "I" => Self::Instant,
            "C" => Self::Counter,
            "b" | "S" => Self::AsyncBegin,
            "n" | "T" | "p" => Self::AsyncStep,
            "e" | "F" => Self::AsyncEnd,
            "s" => Self::FlowStart,
            "t" => Self::FlowStep,
            "f" => Self::FlowEnd,
            "N" => Self::ObjectNew,
            "O" => Self::ObjectSnapshot,
            "D" => Self::ObjectDelete,
            "M" => Self::Metadata,
            "P" => Self::Sample,
            "V" | "v" => Self::MemoryDump,
            "R" => Self::Mark,
            "c" => Self::ClockSync,
            "(" | ")" => Self::Context,
            "=" => Self::LinkedIds,
            _ => return None,
        })
    }

    /// Returns whether events of the phase need an id.
    pub(super) fn needs_id(self) -> bool {
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
    pub(super) fn needs_name(self) -> bool {
        !matches!(self, Self::End | Self::FlowStep | Self::FlowEnd)
    }
}

//! The things that are compared: functions, files, packages, labels, owners, processes and totals.

use serde::Serialize;

use cpu_prof_core::base::numbering::FxIndexSet;

/// All items of all runs, with their numbers.
pub(super) type Items = FxIndexSet<ComparedItem>;

/// A thing that has values in each run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct ComparedItem {
    /// Sort of item.
    pub kind: ItemKind,
    /// Name: `renderTable`, `lodash`, `route=/users`, `rule no-cycle`, `eslint src`; for a file its path.
    pub name: String,
    /// Path of a function's file, as on every machine.
    pub file: String,
    /// Line of a function, from 1; 0 for none.
    pub line: i32,
    /// Column of a function, from 1; 0 for none.
    pub column: i32,
    /// Package of a function or a file.
    pub package: String,
    /// Sort of owner; empty for others.
    pub owner: &'static str,
}

/// A sort of item.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum ItemKind {
    /// The whole run.
    Total,
    /// All processes with one command.
    Process,
    /// Rules, plugins, tests, test files, packages, own code.
    Owner,
    /// A label, with its key.
    Label,
    /// A package.
    Package,
    /// A file.
    File,
    /// A function.
    #[default]
    Function,
}

impl ItemKind {
    /// Returns the kind's name in JSON.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Total => "total",
            Self::Process => "process",
            Self::Owner => "owner",
            Self::Label => "label",
            Self::Package => "package",
            Self::File => "file",
            Self::Function => "function",
        }
    }
}

/// A value of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Measure {
    /// Time from the first start to the last end.
    Wall,
    /// Time of work: in JavaScript, in native code and in collections.
    Work,
    /// CPU time by the system's count.
    Cpu,
    /// Time of collections.
    Gc,
    /// Time of waiting in the event loop.
    Idle,
    /// Time of waiting for a core.
    Waiting,
    /// Time of being blocked in calls.
    Blocked,
    /// The largest resident memory of a process.
    Memory,
    /// Count of processes.
    Processes,
    /// Time of a function, file, package or owner.
    #[serde(rename = "self")]
    SelfTime,
    /// The same with all that was called.
    #[serde(rename = "total")]
    TotalTime,
    /// Time from start to end of processes.
    Duration,
}

impl Measure {
    /// Returns the unit's name in JSON.
    pub(super) fn unit(self) -> &'static str {
        match self {
            Self::Memory => "bytes",
            Self::Processes => "count",
            _ => "ms",
        }
    }

    /// Returns whether the values are times that samples tell.
    pub(super) fn is_sampled(self) -> bool {
        matches!(self, Self::SelfTime | Self::TotalTime)
    }

    /// Returns whether the values are times in which nothing was done.
    pub(super) fn is_waiting(self) -> bool {
        matches!(self, Self::Idle | Self::Waiting | Self::Blocked)
    }
}

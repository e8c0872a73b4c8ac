//! The turns of an event loop.

/// When an event loop turns next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextTurn {
    /// Nothing keeps the loop alive.
    Never,
    /// Something is being closed, or is due.
    AtOnce,
    /// The loop waits for an event or a timer.
    Later,
}

//! How far the times of a file are moved, so that files of different clocks or runs stand together.

/// A distance that is added to all times of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TimeShift {
    /// Distance, microseconds.
    pub us: i64,
    /// Whether 0 is a time: the file's times count from 0. In other files, 0 stands for no time.
    pub has_zero: bool,
}

impl TimeShift {
    /// Returns whether times stay.
    pub fn is_none(self) -> bool {
        self.us == 0
    }

    /// Returns a time after the move, microseconds.
    pub fn moved(self, us: i64) -> i64 {
        if us == 0 && !self.has_zero { 0 } else { us.saturating_add(self.us) }
    }
}

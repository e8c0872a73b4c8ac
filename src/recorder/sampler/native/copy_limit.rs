//! How much of each stack is copied.

use super::unwinder::CopiedBytes;

/// How much of each stack is copied: what most stacks need.
#[derive(Debug)]
pub(super) struct CopyLimit {
    /// The most that is ever copied, bytes.
    most: usize,
    /// Count of stacks since the last change, and of those that were cut.
    seen: u32,
    short: u32,
    /// The most that a stack needed, bytes.
    used_bytes: usize,
}

impl CopyLimit {
    /// Returns the state before the first stack. No more than `most` bytes are ever copied.
    pub(super) fn up_to(most: usize) -> Self {
        Self { most, seen: 0, short: 0, used_bytes: 0 }
    }

    /// Counts a stack. Returns the next limit, if it changes, bytes.
    pub(super) fn next(&mut self, limit: usize, copied: &CopiedBytes) -> Option<usize> {
        /// One stack in so many may be cut.
        const MAX_SHORT: u32 = 64;
        /// Stacks before the limit becomes less.
        const STACKS: u32 = 512;
        /// Less than the first would save little, and the thread that reads stacks would see later that more is
        /// needed.
        const LEAST: usize = 16 << 10;
        self.seen += 1;
        self.used_bytes = self.used_bytes.max(copied.used);
        // A stack that was copied before the last change says nothing about the limit of now.
        self.short += u32::from(copied.is_short && copied.all >= limit);
        let next = match () {
            () if self.short > 1 && self.short * MAX_SHORT > self.seen => limit * 2,
            () if self.seen < STACKS => return None,
            () if self.used_bytes * 4 < limit => limit / 2,
            () => limit,
        };
        *self = Self::up_to(self.most);
        let next = next.clamp(LEAST, self.most);
        (next != limit).then_some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_follows_the_stacks() {
        let mut limit = CopyLimit::up_to(256 << 10);
        let mut bytes = 16 << 10;
        let mut after = |count: usize, used: usize, is_short: &dyn Fn(usize) -> bool| {
            for index in 0..count {
                let copied = CopiedBytes { all: bytes, used, is_short: is_short(index) };
                bytes = limit.next(bytes, &copied).unwrap_or(bytes);
            }
            bytes
        };
        assert_eq!(after(2048, 9000, &|_| false), 16 << 10);
        assert_eq!(after(1, 9000, &|_| true), 16 << 10);
        assert_eq!(after(1, 9000, &|_| true), 32 << 10);
        assert_eq!(after(640, 9000, &|index| index % 128 == 127), 32 << 10);
        assert_eq!(after(640, 9000, &|_| true), 256 << 10);
        assert_eq!(after(6400, 3000, &|_| false), 16 << 10);
        // Stacks that were copied with less than the limit of now.
        let old = CopiedBytes { all: 8 << 10, used: 8 << 10, is_short: true };
        assert!((0..100).all(|_| limit.next(16 << 10, &old).is_none()));
    }
}

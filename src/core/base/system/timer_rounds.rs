//! The time of a timer that starts again at 0 after 49.7 days, as V8 counts it.

/// What was seen of the timer: its rounds, and the upper 8 of its 32 bits.
pub(super) struct TimerRounds(u64);

impl TimerRounds {
    /// Returns the rounds that a number stands for.
    pub(super) fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// Returns the number that stands for the rounds.
    pub(super) fn bits(&self) -> u64 {
        self.0
    }

    /// Returns the rounds when the timer has shown `ms`, and the time of all rounds, milliseconds. A time
    /// a little before the last one is of the same round: threads read the timer side by side.
    pub(super) fn at(&self, ms: u32) -> (Self, u64) {
        let (upper, last) = (u64::from(ms >> 24), self.0 & 0xff);
        let rounds = (self.0 >> 8) + u64::from(upper < last);
        (Self(rounds << 8 | upper), rounds << 32 | u64::from(ms))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_goes_on_when_the_timer_starts_again() {
        const ROUND: u64 = 1 << 32;
        let mut rounds = TimerRounds::from_bits(0);
        for (ms, expected) in [
            (5, 5),
            (4, 4),
            (0xffff_fff0, ROUND - 16),
            (3, ROUND + 3),
            (0x8000_0000, ROUND + 0x8000_0000),
            (0, 2 * ROUND),
        ] {
            let time;
            (rounds, time) = rounds.at(ms);
            assert_eq!(time, expected);
            rounds = TimerRounds::from_bits(rounds.bits());
        }
    }
}

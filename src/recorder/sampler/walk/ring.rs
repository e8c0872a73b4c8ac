//! Samples on their way from the signal handler to the code that names them, both on the sampled thread.
//!
//! A sample has only the frames that differ from the sample before: most of a stack stays. The frames before are
//! forgotten when a collection begins, which moves functions.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use super::frames::RawFrame;

/// The most frames of a stack, as many as V8's profiler keeps.
pub(super) const MAX_FRAMES: usize = 255;
/// Words of a sample before its frames.
const HEAD: usize = 2;
/// Words of a frame.
const FRAME: usize = 4;

/// The kind of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SampleKind {
    /// In JavaScript: the innermost frame is where the thread is.
    JavaScript = 0,
    /// In native code below JavaScript, or in no JavaScript.
    Native = 1,
    /// Waiting for events.
    Idle = 2,
    /// In a collection, whose stack is not read.
    Collection = 3,
    /// The program counters that V8's own code finds for the sample before.
    Compared = 4,
}

impl SampleKind {
    fn of(number: u64) -> Self {
        match number {
            0 => Self::JavaScript,
            2 => Self::Idle,
            3 => Self::Collection,
            4 => Self::Compared,
            _ => Self::Native,
        }
    }
}

/// A sample in the ring.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RawSample<'a> {
    pub kind: SampleKind,
    /// CLOCK_MONOTONIC, microseconds.
    pub time_us: i64,
    /// Count of the outermost frames that are those of the sample before.
    pub kept: usize,
    /// The other frames, the innermost first.
    pub frames: &'a [RawFrame],
}

/// The ring of one thread. Its own signal handler adds, and may interrupt what takes.
pub(super) struct SampleRing {
    words: Box<[AtomicU64]>,
    /// Count of the words that were added, and of those that were taken. Both only grow.
    added: AtomicUsize,
    taken: AtomicUsize,
    /// Frames of the last sample, the outermost first, and their count.
    last: Box<[[AtomicU64; FRAME]]>,
    last_count: AtomicUsize,
    /// Count of samples for which there was no room.
    lost: AtomicUsize,
}

impl SampleRing {
    /// Returns a ring with room for so many words. The system gives the memory page by page.
    pub(super) fn new(words: usize) -> Self {
        Self {
            words: zeros(words.next_power_of_two()),
            added: AtomicUsize::new(0),
            taken: AtomicUsize::new(0),
            last: (0..MAX_FRAMES).map(|_| [const { AtomicU64::new(0) }; FRAME]).collect(),
            last_count: AtomicUsize::new(0),
            lost: AtomicUsize::new(0),
        }
    }

    /// Adds a sample with all its frames, the innermost first. Called in the signal handler only. Returns whether there
    /// was room.
    pub(super) fn add(&self, kind: SampleKind, time_us: i64, frames: &[RawFrame]) -> bool {
        let is_stack = kind != SampleKind::Compared && !frames.is_empty();
        let before = self.last.get(..self.last_count.load(Ordering::Relaxed)).unwrap_or_default();
        let is_same = |(new, old): &(&RawFrame, &[AtomicU64; FRAME])| {
            new.words()
                .into_iter()
                .zip(old.iter())
                .all(|(new, old)| new == old.load(Ordering::Relaxed))
        };
        let kept = match is_stack {
            true => frames.iter().rev().zip(before).take_while(is_same).count(),
            false => 0,
        };
        let new = frames.get(..frames.len() - kept).unwrap_or_default();
        let added = self.added.load(Ordering::Relaxed);
        let used = added.wrapping_sub(self.taken.load(Ordering::Relaxed));
        if used + HEAD + FRAME * new.len() > self.words.len() {
            self.lost.fetch_add(1, Ordering::Relaxed);
            return false;
        }
        let mask = self.words.len() - 1;
        let mut at = added;
        let mut put = |word: u64| {
            if let Some(place) = self.words.get(at & mask) {
                place.store(word, Ordering::Relaxed);
            }
            at = at.wrapping_add(1);
        };
        put(time_us as u64);
        put(kind as u64 | (kept as u64) << 16 | (new.len() as u64) << 32);
        new.iter().flat_map(|frame| frame.words()).for_each(&mut put);
        if is_stack {
            let places = self.last.get(kept..).unwrap_or_default();
            for (place, frame) in places.iter().zip(new.iter().rev()) {
                for (place, word) in place.iter().zip(frame.words()) {
                    place.store(word, Ordering::Relaxed);
                }
            }
            self.last_count.store(frames.len(), Ordering::Relaxed);
        }
        self.added.store(at, Ordering::Release);
        true
    }

    /// Lets the next sample have all its frames.
    pub(super) fn forget_last(&self) {
        self.last_count.store(0, Ordering::Relaxed);
    }

    /// Returns how many samples were lost since the last call.
    pub(super) fn take_lost(&self) -> usize {
        self.lost.swap(0, Ordering::Relaxed)
    }

    /// Takes all samples, in their order. The handler may add more meanwhile. `frames` is memory to use again.
    pub(super) fn take(&self, frames: &mut Vec<RawFrame>, mut each: impl FnMut(RawSample<'_>)) {
        let added = self.added.load(Ordering::Acquire);
        let mut taken = self.taken.load(Ordering::Relaxed);
        let mask = self.words.len() - 1;
        while taken != added {
            let word = |index: usize| {
                let place = self.words.get(taken.wrapping_add(index) & mask);
                place.map_or(0, |place| place.load(Ordering::Relaxed))
            };
            let head = word(1);
            let (kept, new) = ((head >> 16 & 0xffff) as usize, (head >> 32) as usize);
            frames.clear();
            frames.extend((0..new.min(MAX_FRAMES)).map(|frame| {
                let at = HEAD + FRAME * frame;
                RawFrame {
                    function: word(at),
                    program: word(at + 1),
                    bytecode: word(at + 2),
                    offset: word(at + 3),
                }
            }));
            each(RawSample {
                kind: SampleKind::of(head & 0xff),
                time_us: word(0) as i64,
                kept,
                frames,
            });
            taken = taken.wrapping_add(HEAD + FRAME * new);
            self.taken.store(taken, Ordering::Release);
        }
    }
}

/// Returns zeros, whose memory is not touched.
fn zeros(count: usize) -> Box<[AtomicU64]> {
    let zeros = Box::into_raw(vec![0_u64; count].into_boxed_slice());
    // SAFETY: an atomic number has the size, the alignment and the bits of a number.
    unsafe { Box::from_raw(zeros as *mut [AtomicU64]) }
}

impl RawFrame {
    fn words(&self) -> [u64; FRAME] {
        [self.function, self.program, self.bytecode, self.offset]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(functions: &[u64]) -> Vec<RawFrame> {
        functions
            .iter()
            .map(|function| RawFrame { function: *function, ..RawFrame::default() })
            .collect()
    }

    /// Returns kind, count of kept frames, and the functions of the others of each sample.
    fn taken(ring: &SampleRing) -> Vec<(SampleKind, usize, Vec<u64>)> {
        let mut samples = Vec::new();
        ring.take(&mut Vec::new(), |sample| {
            let functions = sample.frames.iter().map(|frame| frame.function).collect();
            samples.push((sample.kind, sample.kept, functions));
        });
        samples
    }

    #[test]
    fn a_sample_has_only_the_frames_that_the_one_before_had_not() {
        use SampleKind::{Collection, Compared, JavaScript, Native};
        let ring = SampleRing::new(1000);
        assert!(ring.add(JavaScript, 1, &frames(&[3, 2, 1])));
        assert!(ring.add(Compared, 2, &frames(&[8, 9])));
        assert!(ring.add(Collection, 3, &[]));
        assert!(ring.add(JavaScript, 4, &frames(&[5, 4, 2, 1])));
        assert!(ring.add(Native, 5, &frames(&[2, 1])));
        assert_eq!(
            taken(&ring),
            [
                (JavaScript, 0, vec![3, 2, 1]),
                (Compared, 0, vec![8, 9]),
                (Collection, 0, vec![]),
                (JavaScript, 2, vec![5, 4]),
                (Native, 2, vec![]),
            ]
        );
        ring.forget_last();
        assert!(ring.add(JavaScript, 6, &frames(&[2, 1])));
        assert_eq!(taken(&ring), [(JavaScript, 0, vec![2, 1])]);
    }

    #[test]
    fn a_full_ring_loses_samples_and_counts_them() {
        let ring = SampleRing::new(64);
        let all = (0..20)
            .filter(|time| ring.add(SampleKind::JavaScript, *time, &frames(&[*time as u64, 7])));
        let all = all.count();
        assert!((9..=10).contains(&all), "{all}");
        assert_eq!(ring.take_lost(), 20 - all);
        assert_eq!((taken(&ring).len(), ring.take_lost()), (all, 0));
        assert!(ring.add(SampleKind::JavaScript, 1, &frames(&[1, 7])));
    }
}

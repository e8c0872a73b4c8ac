//! The samples of a profile in little memory: of each, the differences from the one before.

use cpu_prof_core::profile::position::SourcePosition;

/// A sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProfileSample {
    /// Time, microseconds.
    pub time_us: i64,
    /// Index into `ThreadProfile::nodes`; `NONE` where nothing was recorded until the next
    /// sample.
    pub node: u32,
    /// Position in the function.
    pub position: SourcePosition,
}

/// Samples, one after the other. Most take a third of the memory of a [`ProfileSample`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SampleList {
    /// Four numbers of each sample, in seven bits a byte.
    bytes: Vec<u8>,
    /// Count of the samples.
    len: usize,
    last: Option<ProfileSample>,
}

/// Samples from a list.
#[derive(Debug, Clone)]
pub struct Samples<'a> {
    bytes: &'a [u8],
    left: usize,
    last: ProfileSample,
}

/// What the first sample differs from.
const ZERO: ProfileSample =
    ProfileSample { time_us: 0, node: 0, position: SourcePosition { line: 0, column: 0 } };

impl SampleList {
    /// Returns the samples.
    pub fn iter(&self) -> Samples<'_> {
        Samples { bytes: &self.bytes, left: self.len, last: ZERO }
    }

    /// Returns the count of the samples.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there is no sample.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the first sample.
    pub fn first(&self) -> Option<ProfileSample> {
        self.iter().next()
    }

    /// Adds a sample.
    pub fn push(&mut self, sample: ProfileSample) {
        let last = self.last.replace(sample).unwrap_or(ZERO);
        let (to, from) = (sample.position, last.position);
        self.number(sample.time_us.wrapping_sub(last.time_us));
        self.number(difference(sample.node, last.node));
        self.number(difference(to.line, from.line));
        self.number(difference(to.column, from.column));
        self.len += 1;
    }

    /// Removes the last sample, if it is such.
    pub fn pop_if(&mut self, is_such: impl FnOnce(ProfileSample) -> bool) {
        if !self.last.is_some_and(is_such) {
            return;
        }
        let mut before = self.iter();
        before.left -= 1;
        let last = before.by_ref().last();
        let kept = self.bytes.len() - before.bytes.len();
        self.bytes.truncate(kept);
        (self.len, self.last) = (self.len - 1, last);
    }

    /// Takes no more memory than the samples need.
    pub fn fit(&mut self) {
        fit(&mut self.bytes);
    }

    /// Changes all samples.
    pub fn change(&mut self, change: impl FnMut(ProfileSample) -> ProfileSample) {
        *self = self.iter().map(change).collect();
    }

    /// Adds a number: small ones, also below zero, take little room.
    fn number(&mut self, number: i64) {
        let mut rest = ((number << 1) ^ (number >> 63)) as u64;
        while rest >= 0x80 {
            self.bytes.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        self.bytes.push(rest as u8);
    }
}

/// Copies a list that has grown: many profiles are kept at once, and the lists of the next grow in the memory
/// that this gives back. The ends alone, which `shrink_to_fit` gives back, are too small for these.
pub fn fit<T: Copy>(list: &mut Vec<T>) {
    *list = list.to_vec();
}

fn difference(to: u32, from: u32) -> i64 {
    i64::from(to) - i64::from(from)
}

impl Samples<'_> {
    fn number(&mut self) -> i64 {
        let (mut number, mut shift) = (0_u64, 0);
        while let Some((byte, rest)) = self.bytes.split_first() {
            self.bytes = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if *byte < 0x80 {
                break;
            }
            shift += 7;
        }
        (number >> 1) as i64 ^ -((number & 1) as i64)
    }

    fn sum(&mut self, from: u32) -> u32 {
        (i64::from(from) + self.number()) as u32
    }
}

impl Iterator for Samples<'_> {
    type Item = ProfileSample;

    fn next(&mut self) -> Option<ProfileSample> {
        self.left = self.left.checked_sub(1)?;
        let ProfileSample { time_us, node, position } = self.last;
        self.last = ProfileSample {
            time_us: time_us.wrapping_add(self.number()),
            node: self.sum(node),
            position: SourcePosition {
                line: self.sum(position.line),
                column: self.sum(position.column),
            },
        };
        Some(self.last)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<'a> IntoIterator for &'a SampleList {
    type Item = ProfileSample;
    type IntoIter = Samples<'a>;

    fn into_iter(self) -> Samples<'a> {
        self.iter()
    }
}

impl FromIterator<ProfileSample> for SampleList {
    fn from_iter<T: IntoIterator<Item = ProfileSample>>(samples: T) -> Self {
        let mut list = Self::default();
        samples.into_iter().for_each(|sample| list.push(sample));
        list
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn samples() -> impl Strategy<Value = Vec<ProfileSample>> {
        let sample = (any::<i64>(), any::<u32>(), any::<u32>(), 0_u32..200).prop_map(
            |(time_us, node, line, column)| ProfileSample {
                time_us,
                node,
                position: SourcePosition { line, column },
            },
        );
        prop::collection::vec(sample, 0..9)
    }

    proptest! {
        #[test]
        fn samples_come_out_as_they_went_in(samples in samples(), more in samples()) {
            let mut list: SampleList = samples.iter().copied().collect();
            prop_assert_eq!(list.len(), samples.len());
            prop_assert_eq!(list.first(), samples.first().copied());
            prop_assert_eq!(list.iter().collect::<Vec<_>>(), samples.clone());
            list.pop_if(|_| false);
            list.pop_if(|last| Some(last) == samples.last().copied());
            let kept = &samples[..samples.len().saturating_sub(1)];
            prop_assert_eq!(&list, &kept.iter().copied().collect::<SampleList>());
            more.iter().for_each(|sample| list.push(*sample));
            let all: Vec<_> = kept.iter().chain(&more).copied().collect();
            prop_assert_eq!(list.iter().collect::<Vec<_>>(), all);
        }
    }

    #[test]
    fn samples_take_little_room() {
        let sample = |number: u32| ProfileSample {
            time_us: 1_700_000_000_000_000 + i64::from(number) * 1000,
            node: number % 50,
            position: SourcePosition { line: number % 30, column: 1 },
        };
        let list: SampleList = (0..1000).map(sample).collect();
        assert!(list.bytes.len() < 6000);
    }
}

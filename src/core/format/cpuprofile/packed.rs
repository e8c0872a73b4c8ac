//! Samples in few bytes: about four each.

/// Pairs of numbers. A number is written in groups of seven bits, the lowest first; the top bit of
/// a byte is set if more groups follow.
#[derive(Debug, Default)]
pub(super) struct PackedSamples {
    bytes: Vec<u8>,
}

impl PackedSamples {
    /// Appends a sample: microseconds since the last sample, and the id of a node.
    pub(super) fn push(&mut self, delta_us: u64, node: u32) {
        self.number(delta_us);
        self.number(node.into());
    }

    /// Returns the samples in the order in which they were appended.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, u32)> {
        let mut bytes = self.bytes.iter();
        std::iter::from_fn(move || {
            let delta_us = take(&mut bytes)?;
            Some((delta_us, u32::try_from(take(&mut bytes)?).ok()?))
        })
    }

    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }
}

/// Takes one number off the bytes.
fn take(bytes: &mut std::slice::Iter<'_, u8>) -> Option<u64> {
    let (mut number, mut shift) = (0, 0);
    loop {
        let byte = *bytes.next()?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
        shift += 7;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_typical_sample_takes_four_bytes() {
        let mut packed = PackedSamples::default();
        packed.push(1042, 4000);
        assert_eq!(packed.bytes.len(), 4);
        packed.push(1042, 127);
        assert_eq!(packed.bytes.len(), 4 + 3);
    }

    proptest! {
        #[test]
        fn any_samples_come_back(
            samples in prop::collection::vec(
                (0_u32..64, any::<u64>(), 0_u32..32, any::<u32>())
                    .prop_map(|(shift, delta, less, node)| (delta >> shift, node >> less)),
                0..50,
            ),
        ) {
            let mut packed = PackedSamples::default();
            for (delta, node) in &samples {
                packed.push(*delta, *node);
            }
            prop_assert_eq!(packed.iter().collect::<Vec<_>>(), samples);
        }
    }
}

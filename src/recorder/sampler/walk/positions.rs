//! V8's tables of positions: which instruction, or byte of bytecode, is of which place in the text.

/// The encoding of the first number of an entry in a table of positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PositionEncoding {
    /// As a number with a sign: less than 0 for positions that are no statements.
    Signed,
    /// Shifted by two bits, of which one says whether the position is a statement.
    Shifted,
}

/// A position as V8 packs it: an offset in the text, and the function that is inlined there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SourceOffset(u64);

impl SourceOffset {
    /// Returns a packed position.
    pub(super) fn of(packed: u64) -> Self {
        Self(packed)
    }

    /// Returns the offset in the text of the script; none if that is not known.
    pub(super) fn offset(self) -> Option<u32> {
        ((self.0 >> 1) as u32 & 0x3fff_ffff).checked_sub(1)
    }

    /// Returns the index of the inlined function; none for the code's own.
    pub(super) fn inlined(self) -> Option<usize> {
        ((self.0 >> 31) as usize & 0xffff).checked_sub(1)
    }
}

/// An entry of a table: an offset in code, and the position from there on.
pub(super) type PositionEntry = (i32, SourceOffset);

/// The offset of what enters a function: it is before all bytecode.
pub(super) const ENTRY: i32 = -1;

/// Returns the entries of a table, in the order of their code; none if it is no such table.
pub(super) fn decode(bytes: &[u8], encoding: PositionEncoding) -> Option<Vec<PositionEntry>> {
    let mut rest = bytes.iter().copied();
    // The first number counts from the entry.
    let (mut code, mut packed) = (i64::from(ENTRY), 0_i64);
    let mut entries = Vec::with_capacity(bytes.len() / 3);
    while rest.len() > 0 {
        let first = number(&mut rest)?;
        code = code.checked_add(match encoding {
            PositionEncoding::Signed => {
                let delta = signed(first);
                if delta < 0 { !delta } else { delta }
            }
            PositionEncoding::Shifted => (first >> 2) as i64,
        })?;
        packed = packed.checked_add(signed(number(&mut rest)?))?;
        entries.push((i32::try_from(code).ok()?, SourceOffset::of(packed as u64)));
    }
    Some(entries)
}

/// Returns the next number: seven bits a byte, the lowest first.
pub(super) fn number(bytes: &mut impl Iterator<Item = u8>) -> Option<u64> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let byte = bytes.next()?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// Returns a number whose lowest bit is its sign.
fn signed(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn encode(entries: &[(i32, u64)], encoding: PositionEncoding) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut put = |mut number: u64| {
            loop {
                let byte = (number & 0x7f) as u8;
                number >>= 7;
                bytes.push(if number == 0 { byte } else { byte | 0x80 });
                if number == 0 {
                    break;
                }
            }
        };
        let zigzag = |number: i64| ((number << 1) ^ (number >> 63)) as u64;
        let (mut code, mut packed) = (i64::from(ENTRY), 0_i64);
        for (index, (at, position)) in entries.iter().enumerate() {
            let delta = i64::from(*at) - code;
            put(match encoding {
                PositionEncoding::Signed if index % 2 == 0 => zigzag(delta),
                PositionEncoding::Signed => zigzag(!delta),
                PositionEncoding::Shifted => (delta as u64) << 2 | (index as u64 & 1),
            });
            put(zigzag(*position as i64 - packed));
            (code, packed) = ((*at).into(), *position as i64);
        }
        bytes
    }

    proptest! {
        #[test]
        fn tables_of_both_encodings_are_read(
            deltas in proptest::collection::vec((0_i32..5000, 0_u64..1 << 46), 0..40),
        ) {
            let mut code = ENTRY;
            let entries: Vec<(i32, u64)> =
                deltas.into_iter().map(|(delta, at)| { code += delta; (code, at) }).collect();
            for encoding in [PositionEncoding::Signed, PositionEncoding::Shifted] {
                let bytes = encode(&entries, encoding);
                let read = decode(&bytes, encoding).unwrap();
                let read: Vec<_> = read.into_iter().map(|(code, at)| (code, at.0)).collect();
                prop_assert_eq!(&read, &entries);
            }
        }

        #[test]
        fn any_bytes_are_no_panic(bytes in proptest::collection::vec(any::<u8>(), 0..99)) {
            let _ = decode(&bytes, PositionEncoding::Signed);
            let _ = decode(&bytes, PositionEncoding::Shifted);
        }
    }

    #[test]
    fn a_position_has_an_offset_and_an_inlined_function() {
        let at = SourceOffset::of(0);
        assert_eq!((at.offset(), at.inlined()), (None, None));
        let at = SourceOffset::of(8 << 1 | 3 << 31);
        assert_eq!((at.offset(), at.inlined()), (Some(7), Some(2)));
    }
}

//! The fields of a message in the encoding of protobuf, one after the other, without copies.

use prost::encoding::{WireType, decode_key, decode_varint};

/// The value of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WireValue<'a> {
    Number(u64),
    /// A message, a text, or a list of numbers.
    Bytes(&'a [u8]),
    /// A number of a fixed length, which pprof does not have.
    Fixed,
}

/// Reads the fields of a message. After an error there is no other field.
pub(super) struct WireFields<'a> {
    rest: &'a [u8],
}

impl<'a> WireFields<'a> {
    pub(super) fn of(message: &'a [u8]) -> Self {
        Self { rest: message }
    }

    fn field(&mut self) -> Option<(u32, WireValue<'a>)> {
        let (tag, wire_type) = decode_key(&mut self.rest).ok()?;
        let value = match wire_type {
            WireType::Varint => WireValue::Number(decode_varint(&mut self.rest).ok()?),
            WireType::LengthDelimited => {
                let length = usize::try_from(decode_varint(&mut self.rest).ok()?).ok()?;
                WireValue::Bytes(self.take(length)?)
            }
            WireType::SixtyFourBit => self.take(8).map(|_| WireValue::Fixed)?,
            WireType::ThirtyTwoBit => self.take(4).map(|_| WireValue::Fixed)?,
            WireType::StartGroup | WireType::EndGroup => return None,
        };
        Some((tag, value))
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }
}

impl<'a> Iterator for WireFields<'a> {
    /// The number of a field and its value; none where the bytes are no field.
    type Item = Option<(u32, WireValue<'a>)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_none() {
            self.rest = &[];
        }
        Some(field)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_until_the_first_damage() {
        let all: Vec<_> = WireFields::of(b"\x0a\x02ab\x60\x96\x01\x3d\0\0\0\0").collect();
        let expected = [
            Some((1, WireValue::Bytes(b"ab"))),
            Some((12, WireValue::Number(150))),
            Some((7, WireValue::Fixed)),
        ];
        assert_eq!(all, expected);
        for damaged in
            [&b"\x0a\x05ab"[..], b"\x0b", b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", b"\0\0"]
        {
            assert_eq!(WireFields::of(damaged).last(), Some(None), "{damaged:?}");
        }
    }
}

//! Tells whether bytes are pprof: by the structure of the message, because the format prescribes neither an
//! order of its fields nor a mark at its start. Go's runtime begins with a time or with the type of the period,
//! others with a sample type, a sample or a text.

use std::io::{self, BufReader, Read};

use prost::encoding::{WireType, decode_varint};

use super::message::field;
use super::wire::{WireFields, WireValue};

/// Count of sound fields after which a file with a profile's parts is read no further.
const ENOUGH_FIELDS: u32 = 32;
/// The longest field whose contents are looked at, bytes: samples and functions are far shorter.
const MAX_LOOKED_AT: u64 = 1 << 16;

/// How many bytes are read at once.
const BUFFER: usize = 4096;

/// What the fields so far tell.
#[derive(Default)]
struct ProfileParts {
    fields: u32,
    has_type: bool,
    has_sample: bool,
    has_text: bool,
}

impl ProfileParts {
    /// Returns whether these are the parts of a profile.
    fn is_enough(&self) -> bool {
        self.has_type || self.has_sample && self.has_text
    }
}

/// Returns whether an uncompressed file is pprof, whole or cut off. Reads the start of a text, and a few fields
/// of most profiles.
pub fn is_pprof(file: impl Read) -> bool {
    let mut file = BufReader::with_capacity(BUFFER, file);
    let mut found = ProfileParts::default();
    while found.fields < ENOUGH_FIELDS || !found.is_enough() {
        match next_field(&mut file, &mut found) {
            Ok(ReadField::Sound) => found.fields += 1,
            Ok(ReadField::Unsound) => return false,
            // A file that is cut off is recognized by the rest, so that the error names the damage.
            Ok(ReadField::None) | Err(_) => break,
        }
    }
    found.is_enough()
}

/// What was read.
enum ReadField {
    /// A field that a profile can have.
    Sound,
    /// What no profile has.
    Unsound,
    /// The end of the file.
    None,
}

fn next_field<R: Read>(file: &mut BufReader<R>, found: &mut ProfileParts) -> io::Result<ReadField> {
    let Some(key) = read_varint(file)? else { return Ok(ReadField::None) };
    let (Ok(tag), Ok(wire_type)) = (u32::try_from(key >> 3), WireType::try_from(key & 7)) else {
        return Ok(ReadField::Unsound);
    };
    if tag == 0 || !is_known_as(tag, wire_type) {
        return Ok(ReadField::Unsound);
    }
    let length = match wire_type {
        WireType::Varint => {
            return Ok(read_varint(file)?.map_or(ReadField::None, |_| ReadField::Sound));
        }
        WireType::SixtyFourBit => 8,
        WireType::ThirtyTwoBit => 4,
        WireType::LengthDelimited => match read_varint(file)? {
            Some(length) => length,
            None => return Ok(ReadField::None),
        },
        WireType::StartGroup | WireType::EndGroup => return Ok(ReadField::Unsound),
    };
    if !is_message(tag) || length > MAX_LOOKED_AT {
        let skipped = io::copy(&mut file.by_ref().take(length), &mut io::sink())?;
        let is_whole = skipped == length;
        found.has_text |= tag == field::STRING && is_whole;
        return Ok(if is_whole { ReadField::Sound } else { ReadField::None });
    }
    let mut contents = Vec::new();
    file.by_ref().take(length).read_to_end(&mut contents)?;
    if (contents.len() as u64) < length {
        return Ok(ReadField::None);
    }
    if !is_sound_message(tag, &contents) {
        return Ok(ReadField::Unsound);
    }
    found.has_type |= tag == field::SAMPLE_TYPE && !contents.is_empty();
    found.has_sample |= tag == field::SAMPLE && !contents.is_empty();
    Ok(ReadField::Sound)
}

/// Returns whether a field of a profile can have this wire type. Fields that a later version adds can have any.
fn is_known_as(tag: u32, wire_type: WireType) -> bool {
    use field::{COMMENT, DOCUMENTATION, DROPPED_FRAMES, KEPT_FRAMES, STRING, TIME_NANOS};
    match tag {
        COMMENT => matches!(wire_type, WireType::Varint | WireType::LengthDelimited),
        DROPPED_FRAMES | KEPT_FRAMES => wire_type == WireType::Varint,
        field::PERIOD_TYPE | ..=STRING => wire_type == WireType::LengthDelimited,
        TIME_NANOS..=DOCUMENTATION => wire_type == WireType::Varint,
        _ => true,
    }
}

/// Returns whether a field is a message whose contents are known.
fn is_message(tag: u32) -> bool {
    use field::{FUNCTION, LOCATION, MAPPING, PERIOD_TYPE, SAMPLE, SAMPLE_TYPE};
    matches!(tag, SAMPLE_TYPE | SAMPLE | MAPPING | LOCATION | FUNCTION | PERIOD_TYPE)
}

/// Returns whether the contents of a field are those of the message that a profile has there.
fn is_sound_message(tag: u32, contents: &[u8]) -> bool {
    let is_number = |value: WireValue<'_>| matches!(value, WireValue::Number(_));
    WireFields::of(contents).all(|inner| {
        let Some((inner_tag, value)) = inner else { return false };
        match (tag, inner_tag) {
            // A list of numbers is packed or not.
            (field::SAMPLE, 1 | 2) => match value {
                WireValue::Bytes(list) => is_packed(list),
                value => is_number(value),
            },
            (field::SAMPLE, 3) => match value {
                WireValue::Bytes(label) => is_label(label),
                _ => false,
            },
            (field::LOCATION, 4) => matches!(value, WireValue::Bytes(_)),
            (field::MAPPING, 1..=10) => is_number(value),
            (field::LOCATION | field::FUNCTION, 1..=5) => is_number(value),
            // Nothing was ever added to a type, and other formats begin with a small message too.
            (field::SAMPLE_TYPE | field::PERIOD_TYPE, 1 | 2) => is_number(value),
            (field::SAMPLE_TYPE | field::PERIOD_TYPE, _) => false,
            _ => true,
        }
    })
}

fn is_label(label: &[u8]) -> bool {
    WireFields::of(label).all(|inner| match inner {
        Some((1..=4, value)) => matches!(value, WireValue::Number(_)),
        Some(_) => true,
        None => false,
    })
}

fn is_packed(mut list: &[u8]) -> bool {
    while !list.is_empty() {
        if decode_varint(&mut list).is_err() {
            return false;
        }
    }
    true
}

/// Reads a number; none at the end of the file. A number that is too long has an impossible value.
fn read_varint<R: Read>(file: &mut BufReader<R>) -> io::Result<Option<u64>> {
    let mut value: u64 = 0;
    for shift in (0..64).step_by(7) {
        let Some(byte) = file.by_ref().bytes().next().transpose()? else { return Ok(None) };
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(Some(value));
        }
    }
    Ok(Some(u64::MAX))
}

#[cfg(test)]
mod tests;

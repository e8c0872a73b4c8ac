//! Reads a label set from V8's memory: from the map that Node keeps for the asynchronous context.
//!
//! Node 24 has an `AsyncContextFrame` for each context, a `Map` from storages to values, in a field of the
//! isolate. Our storage's value is a small number, the id of a label set, which V8 writes into the map's
//! table itself. So nothing beyond the table is read.
//!
//! The layout is the same in Node 22 to 26. Each read checks what it can, and `proof.js` checks the whole
//! before the first read in a signal handler.

use super::super::symbols::Isolate;

/// Offset of a map's table in the map, bytes.
const TABLE: u64 = 24;
/// Offsets in a table, bytes: its length, the counts of its entries, of its deleted entries and of its
/// buckets, and the first bucket.
const LENGTH: u64 = 8;
const ENTRIES: u64 = 16;
const DELETED: u64 = 24;
const BUCKETS: u64 = 32;
const FIRST_BUCKET: u64 = 40;
/// Words of an entry: key, value, and the number of the next entry of the bucket.
const ENTRY_WORDS: u64 = 3;
/// The most entries of a bucket that are looked at. More in one bucket are not to be expected.
const MAX_STEPS: u32 = 64;

/// Where and how the current frame of an isolate is found. May be used on the isolate's thread only.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FrameReader {
    /// Isolate that has the field.
    pub isolate: *mut Isolate,
    /// Address of the field with the current frame.
    pub slot: *const u64,
    /// Address of the field with the storage, which V8 keeps up to date.
    pub key: *const u64,
    /// Hash of the storage.
    pub hash: u32,
    /// V8's number of the type of a map.
    pub map_type: u16,
    /// Offset of the type's number in the description of an object, bytes.
    pub type_offset: u64,
}

/// Returns whether a word is a strong pointer to an object of V8.
pub(super) fn is_object(word: u64) -> bool {
    word & 3 == 1
}

/// Returns the small number that a word is; none if the word is a pointer.
fn small_number(word: u64) -> Option<i32> {
    (word as u32 == 0).then_some((word >> 32) as i32)
}

impl FrameReader {
    /// Returns the storage's value in the current frame; none if there is none, or if anything is not as
    /// expected. May be called in a signal handler.
    ///
    /// # Safety
    /// Must be called on the isolate's thread, while the isolate is alive, outside of collections.
    pub(super) unsafe fn read(&self) -> Option<i32> {
        // SAFETY: the caller promises a live isolate, and that no object moves. Objects are followed only
        // where a word says that it points to one, and tables only as far as their length.
        unsafe {
            let frame = self.slot.read_volatile();
            if !is_object(frame) || self.type_of(frame)? != self.map_type {
                return None;
            }
            let table = object_at(frame, TABLE)?;
            let count = |offset| u64::try_from(small_number(word(table, offset))?).ok();
            let (length, buckets) = (count(LENGTH)?, count(BUCKETS)?);
            let entries = count(ENTRIES)? + count(DELETED)?;
            let is_sound = buckets.is_power_of_two()
                && entries <= 2 * buckets
                && 3 + buckets + ENTRY_WORDS * entries <= length;
            if !is_sound {
                return None;
            }
            let key = self.key.read_volatile();
            let first = FIRST_BUCKET + 8 * (u64::from(self.hash) & (buckets - 1));
            let mut entry = small_number(word(table, first))?;
            for _ in 0..MAX_STEPS {
                // The end of a bucket is a negative number.
                let number = u64::try_from(entry).ok().filter(|number| *number < entries)?;
                let at = FIRST_BUCKET + 8 * (buckets + ENTRY_WORDS * number);
                if word(table, at) == key {
                    return small_number(word(table, at + 8));
                }
                entry = small_number(word(table, at + 16))?;
            }
            None
        }
    }

    /// Returns the number of an object's type.
    ///
    /// # Safety
    /// `object` is a pointer to an object of V8.
    unsafe fn type_of(&self, object: u64) -> Option<u16> {
        // SAFETY: the first word of an object points to its description, which has the type.
        unsafe {
            let description = object_at(object, 0)?;
            Some(((description - 1 + self.type_offset) as *const u16).read_volatile())
        }
    }
}

/// Returns a word of an object.
///
/// # Safety
/// `object` is a pointer to an object of V8 that has the word.
unsafe fn word(object: u64, offset: u64) -> u64 {
    // SAFETY: the caller promises the word. A pointer to an object is one more than its address.
    unsafe { ((object - 1 + offset) as *const u64).read_volatile() }
}

/// Returns a word of an object that is a pointer to another.
///
/// # Safety
/// As for [`word`].
unsafe fn object_at(object: u64, offset: u64) -> Option<u64> {
    // SAFETY: the caller promises the word.
    let word = unsafe { word(object, offset) };
    is_object(word).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAP_TYPE: u16 = 1050;
    const KEY: u64 = 0x7001;

    fn small(number: i32) -> u64 {
        (number as u32 as u64) << 32
    }

    fn pointer(words: &[u64]) -> u64 {
        words.as_ptr() as u64 + 1
    }

    /// Reads from a table with two buckets, whose words `change` has changed.
    fn read(hash: u32, change: impl Fn(&mut Vec<u64>)) -> Option<i32> {
        // Entries: 0 (another key) is followed by 1 (ours) in bucket 1.
        let mut table = vec![0, small(2 + 3 + 2 + 12), small(2), small(0), small(2)];
        table.extend([small(-1), small(0)]);
        table.extend([0x6001, 0x5001, small(1), KEY, small(-7), small(-1)]);
        table.extend([0; 6]);
        change(&mut table);
        let description = [0, u64::from(MAP_TYPE) << 32, 0];
        let frame = [pointer(&description), 0, 0, pointer(&table)];
        let (slot, key) = (pointer(&frame), KEY);
        let reader = FrameReader {
            isolate: std::ptr::null_mut(),
            slot: &raw const slot,
            key: &raw const key,
            hash,
            map_type: MAP_TYPE,
            type_offset: 12,
        };
        // SAFETY: all words that are read are in the vectors above.
        unsafe { reader.read() }
    }

    #[test]
    fn a_value_is_found_in_the_bucket_of_its_hash() {
        assert_eq!(read(1, |_| {}), Some(-7));
        assert_eq!(read(3, |_| {}), Some(-7));
        assert_eq!(read(2, |_| {}), None);
        assert_eq!(read(1, |table| table[11] = 0x4001), None);
    }

    #[test]
    fn what_is_not_a_table_has_no_value() {
        for (index, word) in [
            (1, small(3)),
            (1, 0x4001),
            (2, small(-1)),
            (2, small(40)),
            (3, small(3)),
            (4, small(0)),
            (4, small(3)),
            (4, small(1 << 20)),
            (6, small(9)),
            (6, 0x4001),
            (9, small(9)),
        ] {
            assert_eq!(read(1, |table| table[index] = word), None, "{index} {word:x}");
        }
    }

    #[test]
    fn a_circle_ends() {
        assert_eq!(read(1, |table| table[9] = small(0)), None);
    }
}

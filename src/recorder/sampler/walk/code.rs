//! The code of a function that V8 has compiled, by an address in it: which functions are inlined there, at which
//! positions of their scripts.
//!
//! Compiled code begins at a multiple of some bytes, behind a word that leads to its `Code`, which says where the code
//! begins and ends: both must agree with the address. All is read so that nothing can fault, and once for each piece of
//! code until a collection moves or frees code.

use std::collections::BTreeMap;

use super::frames::{is_object, is_small_number};
use super::layout::{CodeLayout, TIER_BITS};
use super::objects::HeapObjects;
use super::positions::{self, PositionEntry, SourceOffset};

/// What code begins at a multiple of, on each machine.
const ALIGNMENT: u64 = 32;
/// The most bytes of code in front of an address that are looked through.
const MAX_BACK: u64 = 1 << 20;
/// Bytes in front of the code in which the word that leads to its `Code` stands.
const HEAD: u64 = 128;
/// The longest table that is read, bytes.
const MAX_TABLE: u64 = 1 << 22;

/// A tier of compiled code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tier {
    Baseline,
    Optimized,
    /// Code that is of no function.
    Other,
}

/// A function that is inlined in code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Inlined {
    /// Where it is called.
    call: SourceOffset,
    /// Its `SharedFunctionInfo`; 0 if that is not known.
    shared: u64,
}

/// A piece of compiled code.
#[derive(Debug)]
pub(super) struct CompiledCode {
    start: u64,
    end: u64,
    pub tier: Tier,
    /// The `Code`.
    object: u64,
    /// `SharedFunctionInfo` of optimized code; 0 if that is not known.
    pub shared: u64,
    /// By the offsets of instructions, in their order.
    positions: Vec<PositionEntry>,
    inlined: Vec<Inlined>,
}

/// A function at a place in code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PlaceInCode {
    /// `SharedFunctionInfo` of an inlined function; 0 for the code's own function.
    pub shared: u64,
    /// Offset in the text of the script; none if that is not known.
    pub offset: Option<u32>,
}

/// The code that was looked up.
#[derive(Debug, Default)]
pub(super) struct CodeTable {
    codes: BTreeMap<u64, CompiledCode>,
    /// Words that stand in front of code at a distance: what `Code` is found by. The first look learns them.
    heads: Vec<(u64, u64)>,
}

impl CodeTable {
    /// Forgets all code, because a collection moves or frees it.
    pub(super) fn clear(&mut self) {
        self.codes.clear();
        self.heads.clear();
    }

    /// Returns the code around an address; none if there is none that is certain. Compiled code is not below `first`.
    pub(super) fn find(
        &mut self,
        objects: HeapObjects<'_>,
        address: u64,
        first: u64,
    ) -> Option<&CompiledCode> {
        let start = match self.codes.range(..=address).next_back() {
            Some((start, code)) if address < code.end => *start,
            _ => {
                let code = self.search(objects, address, first)?;
                let start = code.start;
                self.codes.insert(start, code);
                start
            }
        };
        self.codes.get(&start)
    }

    fn search(
        &mut self,
        objects: HeapObjects<'_>,
        address: u64,
        first: u64,
    ) -> Option<CompiledCode> {
        let lowest = first.max(address.saturating_sub(MAX_BACK));
        let HeapObjects { layout, memory } = objects;
        let mut start = address / ALIGNMENT * ALIGNMENT;
        while start >= lowest + HEAD {
            let known = self
                .heads
                .iter()
                .any(|(distance, word)| memory.word(start - distance) == Some(*word));
            if known || self.heads.is_empty() {
                let code = (8..=HEAD).step_by(8).find_map(|distance| {
                    let word = memory.word(start - distance).filter(|word| is_object(*word))?;
                    let object = match layout.code.is_inline {
                        // `Code` itself stands in front of its instructions: the word is its map.
                        true => start - distance + 1,
                        false => word,
                    };
                    let code = read_code(objects, object, start)?;
                    Some((distance, code))
                });
                if let Some((distance, code)) = code {
                    // The word in front is the map of the object that the code is in.
                    let map_at = if layout.code.is_inline { distance } else { distance + 8 };
                    if let Some(map) = memory.word(start - map_at)
                        && !self.heads.contains(&(map_at, map))
                    {
                        self.heads.push((map_at, map));
                    }
                    return (address < code.end).then_some(code);
                }
            }
            start -= ALIGNMENT;
        }
        None
    }
}

/// Reads what is needed of a `Code` whose instructions begin at an address; none if it is no such object.
fn read_code(objects: HeapObjects<'_>, object: u64, start: u64) -> Option<CompiledCode> {
    let HeapObjects { layout, memory } = objects;
    let CodeLayout { kind, start: start_at, size, flags, baseline, data, positions, .. } =
        layout.code;
    if objects.kind(object)? != kind {
        return None;
    }
    let at = object - 1;
    let begins = match layout.code.is_inline {
        true => at + start_at,
        false => memory.word(at + start_at)?,
    };
    if begins != start {
        return None;
    }
    let bytes = memory.word(at + size)? as u32;
    let tier_number = memory.word(at + flags)? as u32 & TIER_BITS;
    let tier = match tier_number.cmp(&baseline) {
        std::cmp::Ordering::Less => Tier::Other,
        std::cmp::Ordering::Equal => Tier::Baseline,
        std::cmp::Ordering::Greater => Tier::Optimized,
    };
    let mut code = CompiledCode {
        start,
        end: start + u64::from(bytes),
        tier,
        object,
        shared: 0,
        positions: Vec::new(),
        inlined: Vec::new(),
    };
    let (data, table) = (memory.word(at + data)?, memory.word(at + positions)?);
    match tier {
        Tier::Optimized => {
            read_optimized(objects, &mut code, data, table);
        }
        Tier::Baseline => {
            code.positions = read_baseline(objects, bytes, data, table).unwrap_or_default();
        }
        Tier::Other => {}
    }
    Some(code)
}

/// Reads the positions of optimized code, and what is inlined in it. Leaves both empty if one is not as expected.
fn read_optimized(
    objects: HeapObjects<'_>,
    code: &mut CompiledCode,
    data: u64,
    table: u64,
) -> Option<()> {
    let HeapObjects { layout, memory } = objects;
    let entry = |index: u64| memory.word(data - 1 + objects.first_element() + 8 * index);
    let mut bytes = objects.bytes(table, MAX_TABLE)?;
    let positions = positions::decode(&bytes, layout.code.encoding)?;
    let length = (code.end - code.start) as i64;
    if positions.last().is_some_and(|(offset, _)| i64::from(*offset) > length) {
        return None;
    }
    code.shared = objects.shared_of(entry(layout.code.shared)?).unwrap_or(0);
    bytes = objects.bytes(entry(layout.code.inlining)?, MAX_TABLE)?;
    let literals = entry(layout.code.literals)?;
    let literal_count = objects.length(literals)?;
    let mut inlined = Vec::with_capacity(bytes.len() / INLINED_BYTES);
    for bytes in bytes.chunks_exact(INLINED_BYTES) {
        let call = SourceOffset::of(u64::from_le_bytes(bytes[..8].try_into().ok()?));
        let literal = i32::from_le_bytes(bytes[8..12].try_into().ok()?);
        let shared = match u64::try_from(literal) {
            Ok(index) if index < literal_count => {
                let literal = memory.word(literals - 1 + objects.first_element() + 8 * index)?;
                // A literal can be a weak pointer.
                let literal = literal & !2;
                if objects.is_of_script(literal) { literal } else { 0 }
            }
            _ => 0,
        };
        inlined.push(Inlined { call, shared });
    }
    let count = inlined.len();
    let is_known = |at: &SourceOffset| at.inlined().is_none_or(|index| index < count);
    if !positions.iter().all(|(_, at)| is_known(at))
        || !inlined.iter().all(|each| is_known(&each.call))
    {
        return None;
    }
    (code.positions, code.inlined) = (positions, inlined);
    Some(())
}

/// Reads the positions of `size` bytes of baseline code; none if one of its tables is not as expected.
fn read_baseline(
    objects: HeapObjects<'_>,
    size: u32,
    data: u64,
    table: u64,
) -> Option<Vec<PositionEntry>> {
    let HeapObjects { layout, memory } = objects;
    let bytecode = match objects.kind(data)? {
        kind if kind == layout.bytecode.holder => memory.word(data - 1 + 8)?,
        _ => data,
    };
    let positions = bytecode_positions(objects, bytecode)?;
    let bytes =
        memory.bytes(bytecode - 1 + layout.bytecode.first, bytecode_length(objects, bytecode)?)?;
    let instructions = objects.bytes(table, MAX_TABLE)?;
    layout.bytecode.bytecodes.baseline_positions(&bytes, &positions, &instructions, size)
}

/// Bytes of an entry in the table of what is inlined: the position of the call, and the index of a literal.
const INLINED_BYTES: usize = 16;

impl CompiledCode {
    /// Returns whether a function runs this code if it runs baseline code.
    pub(super) fn is_baseline_of(&self, objects: HeapObjects<'_>, shared: u64) -> bool {
        let HeapObjects { layout, memory } = objects;
        is_object(shared) && memory.word(shared - 1 + layout.shared_code) == Some(self.object)
    }

    /// Returns the functions that are at an address, the innermost first. The last one is the code's own function.
    pub(super) fn places(&self, address: u64) -> Vec<PlaceInCode> {
        let offset = (address - self.start) as i32;
        // As V8 does: the instruction before the next one has taken the time.
        let after = self.positions.partition_point(|(at, _)| *at < offset);
        let mut places = Vec::new();
        let mut at =
            after.checked_sub(1).and_then(|index| self.positions.get(index)).map(|(_, at)| *at);
        // What is inlined in each other ends, unless the table is not what it seems.
        while let Some(position) = at.filter(|_| places.len() < MAX_INLINED) {
            let inlined = position.inlined().and_then(|index| self.inlined.get(index));
            let shared = inlined.map_or(0, |inlined| inlined.shared);
            places.push(PlaceInCode { shared, offset: position.offset() });
            at = inlined.map(|inlined| inlined.call);
        }
        if places.is_empty() {
            places.push(PlaceInCode { shared: 0, offset: None });
        }
        places
    }
}

/// The most functions that are inlined in each other.
const MAX_INLINED: usize = 64;

/// Returns the text position of bytecode at an offset.
pub(super) fn bytecode_positions(
    objects: HeapObjects<'_>,
    bytecode: u64,
) -> Option<Vec<PositionEntry>> {
    let HeapObjects { layout, memory } = objects;
    if objects.kind(bytecode)? != layout.bytecode.kind {
        return None;
    }
    let length = bytecode_length(objects, bytecode)?;
    let table = objects.bytes(memory.word(bytecode - 1 + layout.bytecode.positions)?, MAX_TABLE)?;
    let positions = positions::decode(&table, layout.code.encoding)?;
    let is_within = positions.last().is_none_or(|(offset, _)| i64::from(*offset) < length as i64);
    is_within.then_some(positions)
}

/// Returns the length of bytecode.
fn bytecode_length(objects: HeapObjects<'_>, bytecode: u64) -> Option<u64> {
    let HeapObjects { layout, memory } = objects;
    let length = memory.word(bytecode - 1 + layout.bytecode.length)?;
    (is_small_number(length) && length >> 32 <= MAX_TABLE).then_some(length >> 32)
}

//! Objects of V8's heap, read so that nothing can fault.

use super::frames::{is_object, is_small_number};
use super::layout::Layout;
use super::memory::HeapMemory;
use cpu_prof_core::base::system::checked_memory::read_each;

/// Reads objects by a layout.
#[derive(Clone, Copy)]
pub(super) struct HeapObjects<'a> {
    pub layout: &'a Layout,
    pub memory: &'a HeapMemory,
}

impl HeapObjects<'_> {
    /// Returns the type of an object; none if it cannot be read.
    pub(super) fn kind(&self, object: u64) -> Option<u16> {
        let map = is_object(object)
            .then(|| self.memory.word(object - 1))?
            .filter(|map| is_object(*map))?;
        self.kind_of_map(map)
    }

    fn kind_of_map(&self, map: u64) -> Option<u16> {
        let word = self.memory.word(map - 1 + self.layout.map_type / 8 * 8)?;
        Some((word >> (self.layout.map_type % 8 * 8)) as u16)
    }

    /// Returns where the first element of an array is.
    pub(super) fn first_element(&self) -> u64 {
        16
    }

    /// Returns the count of elements of an array.
    pub(super) fn length(&self, array: u64) -> Option<u64> {
        let length = is_object(array).then(|| self.memory.word(array - 1 + 8))??;
        is_small_number(length).then_some(length >> 32)
    }

    /// Returns the bytes of an array of bytes that is not too long.
    pub(super) fn bytes(&self, array: u64, most: u64) -> Option<Vec<u8>> {
        let length = self.length(array).filter(|length| *length <= most)?;
        self.memory.bytes(array - 1 + self.first_element(), length)
    }

    /// Returns the `SharedFunctionInfo` that an object is, or has.
    pub(super) fn shared_of(&self, object: u64) -> Option<u64> {
        if self.is_of_script(object) {
            return Some(object);
        }
        // Code keeps it in a wrapper, which has nothing else.
        let inner = self.memory.word(object - 1 + 8)?;
        self.is_of_script(inner).then_some(inner)
    }

    /// Returns whether an object is the `SharedFunctionInfo` of a function in a script.
    pub(super) fn is_of_script(&self, object: u64) -> bool {
        let script = || self.memory.word(object - 1 + self.layout.shared_script);
        self.kind(object) == Some(self.layout.shared_type)
            && script().and_then(|script| self.kind(script)) == Some(self.layout.script_type)
    }

    /// Returns the `SharedFunctionInfo` of each pointer that is one to a function; none for others.
    pub(super) fn shared_of_functions(&self, functions: &[u64]) -> Vec<Option<u64>> {
        let shared_at = self.layout.function_shared / 8;
        let addresses: Vec<u64> = functions
            .iter()
            .map(|function| if is_object(*function) { function - 1 } else { 0 })
            .collect();
        let heads = read_each::<MAX_HEAD>(&addresses);
        let maps_and_shared: Vec<(u64, u64)> = heads
            .iter()
            .map(|head| {
                head.map_or((0, 0), |words| (words[0], words[shared_at as usize % MAX_HEAD]))
            })
            .collect();
        let types = self.types_of(maps_and_shared.iter().map(|(map, _)| *map));
        let shared_maps = read_each::<1>(
            &maps_and_shared.iter().map(|(_, shared)| shared.wrapping_sub(1)).collect::<Vec<_>>(),
        );
        let shared_types = self.types_of(shared_maps.iter().map(|map| map.map_or(0, |[map]| map)));
        types
            .into_iter()
            .zip(shared_types)
            .zip(maps_and_shared)
            .map(|((kind, shared_kind), (_, shared))| {
                let is_function =
                    kind.is_some_and(|kind| self.layout.function_types.contains(&kind));
                (is_function && shared_kind == Some(self.layout.shared_type)).then_some(shared)
            })
            .collect()
    }

    fn types_of(&self, maps: impl Iterator<Item = u64>) -> Vec<Option<u16>> {
        let at = self.layout.map_type / 8 * 8;
        let addresses: Vec<u64> =
            maps.map(|map| if is_object(map) { map - 1 + at } else { 0 }).collect();
        let shift = self.layout.map_type % 8 * 8;
        read_each::<1>(&addresses)
            .into_iter()
            .map(|word| word.map(|[word]| (word >> shift) as u16))
            .collect()
    }
}

/// Words of a function that are read: the map, and all up to the `SharedFunctionInfo`.
const MAX_HEAD: usize = 8;

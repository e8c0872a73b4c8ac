//! A pprof file without its samples, which are read one by one.

use prost::Message;
use prost::encoding::decode_varint;
use rustc_hash::FxHashMap;

use super::comments;
use super::message::{
    PprofFunction, PprofLabel, PprofLine, PprofLocation, PprofMapping, PprofSample, PprofValueType,
    field,
};
use super::values::SampleType;
use super::wire::{WireFields, WireValue};
use crate::formats::stack_tables::sample_labels;
use cpu_prof_core::profile::frame::{MAX_NAME, short_name};
use cpu_prof_core::profile::package::package_of;

/// The most texts, functions and locations each: a byte of the file can take forty in memory.
const MAX_ITEMS: usize = if cfg!(test) { 1 << 10 } else { 1 << 22 };

/// Returns the fields of the samples.
pub(super) fn samples(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    WireFields::of(bytes).flatten().filter_map(|field| match field {
        (field::SAMPLE, WireValue::Bytes(sample)) => Some(sample),
        _ => None,
    })
}

pub(super) fn decode<T: Message + Default>(bytes: &[u8]) -> Result<T, String> {
    T::decode(bytes).map_err(|error| damaged(&error.to_string()))
}

pub(super) fn damaged(reason: &str) -> String {
    format!("the pprof file is cut off or damaged: {reason}")
}

/// A place of code.
pub(super) struct FileLocation {
    pub address: u64,
    /// Id of the mapping.
    pub mapping: u64,
    /// Functions, those that were inlined before their callers.
    pub lines: Box<[PprofLine]>,
}

/// A file without its samples.
#[derive(Default)]
pub(super) struct FileTables<'a> {
    pub types: Vec<PprofValueType>,
    pub strings: Vec<&'a [u8]>,
    pub functions: FxHashMap<u64, PprofFunction>,
    pub locations: FxHashMap<u64, FileLocation>,
    /// Mappings by their ids.
    modules: FxHashMap<u64, PprofMapping>,
    pub time_nanos: i64,
    pub duration_nanos: i64,
    pub period_type: PprofValueType,
    pub period: i64,
    pub default_type: i64,
    pub comments: Vec<String>,
}

impl<'a> FileTables<'a> {
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, String> {
        let mut all = Self::default();
        let mut comments = Vec::new();
        for field in WireFields::of(bytes) {
            let (tag, value) = field.ok_or_else(|| damaged("a field is not complete"))?;
            // Numbers of protobuf that are below 0 have all 64 bits.
            match (tag, value) {
                (field::SAMPLE_TYPE, WireValue::Bytes(bytes)) => all.types.push(decode(bytes)?),
                (field::STRING, WireValue::Bytes(text)) => all.strings.push(text),
                (field::FUNCTION, WireValue::Bytes(bytes)) => {
                    let function: PprofFunction = decode(bytes)?;
                    all.functions.insert(function.id, function);
                }
                (field::LOCATION, WireValue::Bytes(bytes)) => {
                    let PprofLocation { id, address, mapping, lines } = decode(bytes)?;
                    let lines = lines.into();
                    all.locations.insert(id, FileLocation { address, mapping, lines });
                }
                (field::MAPPING, WireValue::Bytes(bytes)) => {
                    let mapping: PprofMapping = decode(bytes)?;
                    all.modules.insert(mapping.id, mapping);
                }
                (field::PERIOD_TYPE, WireValue::Bytes(bytes)) => all.period_type = decode(bytes)?,
                (field::TIME_NANOS, WireValue::Number(nanos)) => all.time_nanos = nanos as i64,
                (field::DURATION_NANOS, WireValue::Number(us)) => all.duration_nanos = us as i64,
                (field::PERIOD, WireValue::Number(period)) => all.period = period as i64,
                (field::DEFAULT_SAMPLE_TYPE, WireValue::Number(text)) => {
                    all.default_type = text as i64;
                }
                (field::COMMENT, WireValue::Number(text)) => comments.push(text as i64),
                (field::COMMENT, WireValue::Bytes(list)) => add_packed(list, &mut comments)?,
                _ => {}
            }
            let tables = [all.strings.len(), all.functions.len(), all.locations.len()];
            let lists = [all.types.len(), all.modules.len(), comments.len()];
            if tables.into_iter().chain(lists).any(|count| count > MAX_ITEMS) {
                let most = MAX_ITEMS;
                return Err(format!("the pprof file has more than {most} functions or texts"));
            }
        }
        for comment in comments {
            all.comments.push(all.string(comment)?);
        }
        Ok(all)
    }

    /// Returns whether this project wrote the file.
    pub(super) fn is_ours(&self) -> bool {
        self.comments.first().is_some_and(|comment| comments::is_ours(comment))
    }

    /// Returns a text, cut as names are: thousands of functions can have the same text of a gigabyte.
    pub(super) fn string(&self, index: i64) -> Result<String, String> {
        match self.bytes(index) {
            Some(text) => {
                // A character that is cut has 4 bytes at most.
                let start = &text[..text.len().min(MAX_NAME + 4)];
                Ok(short_name(&String::from_utf8_lossy(start)).into_owned())
            }
            None if index == 0 => Ok(String::new()),
            None => Err(damaged(&format!("it has no text {index}"))),
        }
    }

    /// Returns a text as it is in the file.
    pub(super) fn bytes(&self, index: i64) -> Option<&'a [u8]> {
        usize::try_from(index).ok().and_then(|index| self.strings.get(index)).copied()
    }

    /// Returns the text of the path of a mapping; 0 if it is not known.
    pub(super) fn module(&self, mapping: u64) -> i64 {
        self.modules.get(&mapping).map_or(0, |mapping| mapping.file)
    }

    /// Returns an address as it counts in the file of its mapping.
    pub(super) fn address_in_module(&self, location: &FileLocation) -> u64 {
        let mapping = self.modules.get(&location.mapping).copied().unwrap_or_default();
        let within = location.address.checked_sub(mapping.start);
        within.map_or(location.address, |within| within.saturating_add(mapping.offset))
    }

    pub(super) fn sample_type(&self, of: &PprofValueType) -> Result<SampleType, String> {
        Ok((self.string(of.name)?, self.string(of.unit)?))
    }

    pub(super) fn function(&self, id: u64) -> Result<&PprofFunction, String> {
        self.functions.get(&id).ok_or_else(|| damaged(&format!("it has no function {id}")))
    }

    pub(super) fn location(&self, id: u64) -> Result<&FileLocation, String> {
        self.locations.get(&id).ok_or_else(|| damaged(&format!("it has no location {id}")))
    }

    /// Returns the packages of the functions that were on top, by their ids: in files of ours, labels tell
    /// what a path does not.
    pub(super) fn packages(&self, bytes: &[u8]) -> Result<FxHashMap<u64, String>, String> {
        let mut packages = FxHashMap::default();
        for sample in samples(bytes) {
            let PprofSample { locations, labels, .. } = decode(sample)?;
            let Some(first) = locations.first() else { continue };
            let Some(line) = self.location(*first)?.lines.first() else { continue };
            if packages.contains_key(&line.function) {
                continue;
            }
            let file = self.string(self.function(line.function)?.file)?;
            for PprofLabel { key, text, .. } in labels {
                if self.string(key)? == sample_labels::PACKAGE {
                    let package = self.string(text)?;
                    if package != package_of(&file) {
                        packages.insert(line.function, package);
                    }
                }
            }
        }
        Ok(packages)
    }
}

/// Adds the numbers of a list in the short form.
fn add_packed(mut list: &[u8], numbers: &mut Vec<i64>) -> Result<(), String> {
    while !list.is_empty() {
        let number = decode_varint(&mut list);
        numbers.push(number.map_err(|error| damaged(&error.to_string()))? as i64);
    }
    Ok(())
}

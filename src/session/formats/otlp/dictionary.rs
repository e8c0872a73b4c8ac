//! Fills the dictionary with what samples use: no entry is there twice, or for nothing.

use std::iter::once;

use rustc_hash::FxHashMap;

use super::attributes::{self, FRAME_TYPE, NATIVE, V8, key_of_label, text};
use super::message::{
    OtlpAttribute, OtlpDictionary, OtlpFunction, OtlpLine, OtlpLink, OtlpLocation, OtlpMapping,
    OtlpStack, OtlpValue, OtlpValueType,
};
use crate::formats::stack_tables::{MAPPED_FILE, StackLabel, StackLabelValue, StackTables};
use cpu_prof_core::base::numbering::FxIndexSet;

/// The index of the only mapping.
const MAPPING: i32 = 1;

/// The entries that are used so far, in the order of their indices, which begin at 1.
pub(super) struct DictionaryBuilder<'a> {
    tables: &'a StackTables<'a>,
    /// Texts but the empty one.
    strings: FxIndexSet<String>,
    attributes: FxIndexSet<OtlpAttribute>,
    /// Indices of functions of the tables.
    functions: FxIndexSet<u32>,
    /// Indices of locations of the tables.
    locations: FxIndexSet<u32>,
    /// Indices of stacks of the tables.
    stacks: FxIndexSet<u32>,
    /// Attributes by the indices of lists of labels.
    by_labels: FxHashMap<u32, Vec<i32>>,
}

impl<'a> DictionaryBuilder<'a> {
    pub(super) fn new(tables: &'a StackTables<'a>) -> Self {
        Self {
            tables,
            strings: FxIndexSet::default(),
            attributes: FxIndexSet::default(),
            functions: FxIndexSet::default(),
            locations: FxIndexSet::default(),
            stacks: FxIndexSet::default(),
            by_labels: FxHashMap::default(),
        }
    }

    /// Returns the index of a text.
    fn string(&mut self, text: &str) -> i32 {
        if text.is_empty() {
            return 0;
        }
        let known = self.strings.get_index_of(text);
        index(known.unwrap_or_else(|| self.strings.insert_full(text.to_owned()).0))
    }

    pub(super) fn value_type(&mut self, (name, unit): (&str, &str)) -> OtlpValueType {
        OtlpValueType { name_index: self.string(name), unit_index: self.string(unit) }
    }

    /// Returns the index of a stack of the tables.
    pub(super) fn stack(&mut self, stack: u32) -> i32 {
        index(self.stacks.insert_full(stack).0)
    }

    /// Returns the indices of the attributes for a list of labels.
    pub(super) fn attributes(&mut self, labels: u32) -> Vec<i32> {
        if let Some(known) = self.by_labels.get(&labels) {
            return known.clone();
        }
        let tables = self.tables;
        let list = tables.labels[labels as usize].iter();
        let attributes: Vec<i32> = list.map(|label| self.label(tables, *label)).collect();
        self.by_labels.insert(labels, attributes.clone());
        attributes
    }

    fn label(&mut self, tables: &StackTables<'_>, StackLabel { key, value }: StackLabel) -> i32 {
        let value = match value {
            StackLabelValue::Text(index) => text(&tables.strings[index as usize]),
            StackLabelValue::Number(number) => attributes::number(number),
        };
        self.attribute(&key_of_label(&tables.strings[key as usize]), value)
    }

    fn attribute(&mut self, key: &str, value: OtlpValue) -> i32 {
        let attribute = OtlpAttribute { key_index: self.string(key), value: Some(value) };
        index(self.attributes.insert_full(attribute).0)
    }

    /// Returns the dictionary.
    pub(super) fn finish(mut self) -> OtlpDictionary {
        let tables = self.tables;
        let mut stacks = vec![OtlpStack::default()];
        for stack in &self.stacks {
            let locations = tables.locations_of(*stack);
            let location_indices =
                locations.map(|location| index(self.locations.insert_full(location).0)).collect();
            stacks.push(OtlpStack { location_indices });
        }
        let mut mappings = vec![OtlpMapping::default()];
        let (mut of_v8, mut of_modules) = (Vec::new(), Vec::new());
        if !self.locations.is_empty() {
            mappings.push(OtlpMapping { file_index: self.string(MAPPED_FILE) });
            // V8 tells all frames but those of native modules, also those of its own code.
            of_v8.push(self.attribute(FRAME_TYPE, text(V8)));
            let is_in_module = |location: &u32| {
                let (function, _) = tables.locations[*location as usize];
                tables.functions[function as usize].module.is_some()
            };
            if self.locations.iter().any(is_in_module) {
                of_modules.push(self.attribute(FRAME_TYPE, text(NATIVE)));
            }
        }
        let mut locations = vec![OtlpLocation::default()];
        for location in &self.locations {
            let (function, line) = tables.locations[*location as usize];
            let is_in_module = tables.functions[function as usize].module.is_some();
            let function_index = index(self.functions.insert_full(function).0);
            locations.push(OtlpLocation {
                mapping_index: MAPPING,
                lines: vec![OtlpLine { function_index, line }],
                attribute_indices: if is_in_module { &of_modules } else { &of_v8 }.clone(),
            });
        }
        let mut functions = vec![OtlpFunction::default()];
        for function in std::mem::take(&mut self.functions) {
            let function = tables.functions[function as usize];
            let mut string = |index: u32| self.string(&tables.strings[index as usize]);
            functions.push(OtlpFunction {
                name_index: string(function.name),
                system_name_index: string(function.system_name),
                file_index: string(function.file),
                line: function.line,
            });
        }
        OtlpDictionary {
            mappings,
            locations,
            functions,
            links: vec![OtlpLink {}],
            strings: once(String::new()).chain(self.strings).collect(),
            attributes: once(OtlpAttribute::default()).chain(self.attributes).collect(),
            stacks,
        }
    }
}

/// Returns the index in a table that has its zero value first.
fn index(number: usize) -> i32 {
    i32::try_from(number + 1).unwrap_or(i32::MAX)
}

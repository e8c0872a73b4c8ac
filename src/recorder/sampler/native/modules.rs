//! The modules whose code is in this process's memory.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gimli::UnwindContext;
use object::{File, Object, ObjectSegment, ObjectSymbol, Symbol};
use rustc_hash::FxHashMap;

use super::unwind_table::{ModuleBytes, UnwindRule, UnwindTable};
use cpu_prof_core::base::native_code::BuildId;
use cpu_prof_core::base::system::code_mapping::{CodeMapping, MappedPart};
use cpu_prof_core::base::system::sampling_signal::read_memory;
use cpu_prof_core::base::system::stopped_thread::{MappedFile, code_mappings};
use cpu_prof_core::format::elf::build_of;
use cpu_prof_core::profile::frame::CallFrame;

/// The first of the script ids that modules have, so that DevTools gives each a colour. A program with as many
/// scripts of its own shares some colours.
const FIRST_SCRIPT_ID: u32 = 99_000;
/// Count of these ids.
const SCRIPT_IDS: u32 = 1000;

/// The most rules that are kept: some megabytes.
const MAX_RULES: usize = 20_000;

/// The most modules: a program can load copies of an addon by other names for ever.
const MAX_MODULES: usize = 2000;

/// What identifies a file of code: its path, device and number.
type FileKey = (String, String, u64);

/// A file of code.
#[derive(Debug)]
pub(super) struct Module {
    path: String,
    build: BuildId,
    script_id: u32,
    /// None if nothing is known of its functions.
    pub table: Option<UnwindTable>,
    /// Names of the functions by their addresses, of the kernel's code: it is in no file that could be read later.
    names: FxHashMap<u64, String>,
    /// Parts with code: place in the file and in the code's own addresses, and length, bytes.
    parts: Vec<(u64, u64, u64)>,
}

/// What is at an address.
#[derive(Debug, Clone, Copy)]
pub(super) enum CodePlace {
    /// A module: number, and address as in its file.
    Module(u32, u64),
    /// Code that the program has made: compiled JavaScript, WebAssembly.
    Made,
}

/// The modules of this process. They stay known when their code is removed.
#[derive(Default)]
pub(super) struct Modules {
    mappings: Vec<CodeMapping>,
    /// When the list was read; none if it never was.
    read_at: Option<Instant>,
    /// Number of the module of each mapping, and the difference between addresses in memory and in the file.
    places: Vec<Option<(u32, u64)>>,
    list: Vec<Module>,
    /// Number of this addon.
    own: Option<u32>,
    numbers: FxHashMap<FileKey, u32>,
    rules: FxHashMap<(u32, u64), Option<Arc<UnwindRule>>>,
    context: Box<UnwindContext<usize>>,
}

impl Modules {
    /// Reads which code is in memory now, if the list is older than that. Returns whether it was read.
    pub(super) fn refresh_after(&mut self, age: Duration) -> bool {
        if self.read_at.is_some_and(|read_at| read_at.elapsed() < age) {
            return false;
        }
        self.refresh();
        self.read_at = Some(Instant::now());
        true
    }

    fn refresh(&mut self) {
        let mappings = code_mappings();
        // A process that has no free descriptors cannot read the list.
        if mappings.is_empty() || mappings == self.mappings {
            return;
        }
        let places = mappings.iter().map(|mapping| self.place(mapping)).collect();
        (self.mappings, self.places) = (mappings, places);
        self.own = match self.find(Self::refresh as *const () as u64) {
            Some(CodePlace::Module(module, _)) => Some(module),
            _ => None,
        };
    }

    /// Returns the module of a mapping, and the difference of addresses.
    fn place(&mut self, mapping: &CodeMapping) -> Option<(u32, u64)> {
        let part = mapping.file.as_ref()?;
        let key = (part.path.clone(), part.device.clone(), part.inode);
        let number = match self.numbers.get(&key) {
            Some(number) => *number,
            None => {
                let number = u32::try_from(self.list.len()).ok()?;
                if self.list.len() >= MAX_MODULES {
                    return None;
                }
                let script_id = FIRST_SCRIPT_ID + number % SCRIPT_IDS;
                self.list.push(Module::read(mapping, part, script_id));
                self.numbers.insert(key, number);
                number
            }
        };
        let module = self.list.get(number as usize)?;
        Some((number, mapping.range.start.wrapping_sub(module.address_of(part.offset)?)))
    }

    /// Returns whether a module is this addon.
    pub(super) fn is_own(&self, module: u32) -> bool {
        self.own == Some(module)
    }

    /// Returns whether the list could not be read so far.
    pub(super) fn is_unknown(&self) -> bool {
        self.mappings.is_empty()
    }

    /// Returns what is at an address; none if there is no code.
    pub(super) fn find(&self, address: u64) -> Option<CodePlace> {
        let after = self.mappings.partition_point(|mapping| mapping.range.start <= address);
        let index = after.checked_sub(1)?;
        let mapping = self.mappings.get(index).filter(|found| found.range.contains(&address))?;
        match (&mapping.file, self.places.get(index)?) {
            (None, _) => Some(CodePlace::Made),
            (Some(_), Some((number, difference))) => {
                Some(CodePlace::Module(*number, address.wrapping_sub(*difference)))
            }
            (Some(_), None) => None,
        }
    }

    /// Returns the module with a number.
    pub(super) fn module(&self, number: u32) -> Option<&Module> {
        self.list.get(number as usize)
    }

    /// Returns whether there is a rule for a place in memory to which a function can return.
    pub(super) fn covers(&mut self, address: u64) -> bool {
        match self.find(address.wrapping_sub(1)) {
            Some(CodePlace::Module(module, address)) => self.rule(module, address).is_some(),
            _ => false,
        }
    }

    /// Returns the rule for a place in a module's code; none if nothing covers it.
    pub(super) fn rule(&mut self, module: u32, address: u64) -> Option<Arc<UnwindRule>> {
        if let Some(known) = self.rules.get(&(module, address)) {
            return known.clone();
        }
        let Self { list, rules, context, .. } = self;
        let table = list.get(module as usize)?.table.as_ref();
        let rule = table.and_then(|table| table.rule(address, context)).map(Arc::new);
        if rules.len() >= MAX_RULES {
            rules.clear();
        }
        rules.insert((module, address), rule.clone());
        rule
    }
}

impl Module {
    fn read(mapping: &CodeMapping, part: &MappedPart, script_id: u32) -> Self {
        let path = part.path.clone();
        let nothing = |path| Self {
            path,
            build: BuildId::default(),
            script_id,
            table: None,
            names: FxHashMap::default(),
            parts: Vec::new(),
        };
        let Some(bytes) = bytes_of(mapping, part) else { return nothing(path) };
        let Ok(file) = File::parse(&*bytes) else { return nothing(path) };
        // The kernel maps whole pages, so a part without code can begin in the page where one with code ends.
        let code = file.segments().filter(|segment| segment.permissions().executable());
        let parts = code.map(|segment| {
            let (offset, length) = segment.file_range();
            (offset, segment.address(), length)
        });
        Self {
            build: build_of(&file),
            table: UnwindTable::of(&file, &bytes),
            names: match bytes {
                ModuleBytes::File(_) => FxHashMap::default(),
                ModuleBytes::Copy(_) => names_of(&file),
            },
            parts: parts.collect(),
            path,
            script_id,
        }
    }

    /// Returns the address of the code's own that a place in the file has, at which a mapping begins.
    fn address_of(&self, offset: u64) -> Option<u64> {
        const LARGEST_PAGE: u64 = 1 << 16;
        let is_within = |(start, _, length): &&(u64, u64, u64)| {
            offset < start.saturating_add(*length) && offset.saturating_add(LARGEST_PAGE) > *start
        };
        let (start, address, _) = self.parts.iter().find(is_within)?;
        Some(address.wrapping_add(offset).wrapping_sub(*start))
    }

    /// Returns the frame of the function at an address. `is_start` tells that the function begins there.
    pub(super) fn frame(&self, address: u64, is_start: bool) -> CallFrame {
        let frame = match is_start {
            true => CallFrame::in_module,
            false => CallFrame::within_module,
        };
        let frame = frame(&self.path, self.build, self.script_id, address);
        match self.names.get(&address) {
            Some(name) => CallFrame { function_name: name.clone(), ..frame },
            None => frame,
        }
    }
}

fn names_of(file: &File<'_>) -> FxHashMap<u64, String> {
    let named = |symbol: &Symbol<'_, '_>| Some((symbol.address(), symbol.name().ok()?.to_owned()));
    file.dynamic_symbols()
        .filter(|symbol| symbol.is_definition())
        .filter_map(|each| named(&each))
        .collect()
}

fn bytes_of(mapping: &CodeMapping, part: &MappedPart) -> Option<ModuleBytes> {
    if part.path.starts_with('/') {
        return MappedFile::of_code(mapping).map(|file| ModuleBytes::File(Arc::new(file)));
    }
    // The kernel's code, a whole file in memory.
    let length = mapping.range.end.checked_sub(mapping.range.start)?;
    let mut bytes = vec![0; usize::try_from(length).ok()?];
    let is_read = read_memory(usize::try_from(mapping.range.start).ok()?, &mut bytes);
    is_read.then(|| ModuleBytes::Copy(bytes.into()))
}

//! The names of native functions, which are recorded as addresses: finds them in the symbols of the modules
//! and of their debug files.

mod debug_files;
mod display_name;
mod elf_file;
mod function_path;
mod function_table;
mod notes;
mod shortened;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;

use self::debug_files::{DebugFiles, ModuleFile};
use self::elf_file::UnreadFile;
use self::function_table::FunctionTable;
use self::notes::SymbolNotes;
use cpu_prof_core::base::native_code::BuildId;
use cpu_prof_core::format::url::file_path;
use cpu_prof_core::profile::frame::CallFrame;

/// Modules that are looked for in one command.
const MODULES: usize = 1000;
/// Modules of which names are read. Each has a file open.
const NAMED_MODULES: usize = 100;
/// Symbols that are kept in one command: 24 bytes each.
const MOST_SYMBOLS: usize = 4_000_000;

/// The time for reading and decoding names. A file can be made of names that take long: 50 ms each.
const MOST_TIME: Duration = Duration::from_secs(20);

/// Names native functions. Each module is opened once.
#[derive(Debug)]
pub struct Symbols {
    files: DebugFiles,
    modules: FxHashMap<(String, BuildId), NativeModule>,
    /// Modules that may still be opened.
    modules_left: usize,
    /// Symbols that may still be kept.
    symbols_left: usize,
    /// The time that reading names has taken.
    time: Duration,
    notes: SymbolNotes,
}

/// A module, and what is known of its functions.
#[derive(Debug, Default)]
struct NativeModule {
    functions: Option<FunctionTable>,
    /// Why functions have no names; none if each should have one.
    lack: Option<Lack>,
}

/// Why functions of a module have no names.
#[derive(Debug, Clone, Copy)]
enum Lack {
    Other,
    Stripped,
    Unread(UnreadFile),
}

impl Default for Symbols {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

impl Symbols {
    /// Looks also in folders of the user, and there first.
    pub fn new(folders: Vec<PathBuf>) -> Self {
        Self::within(folders, None)
    }

    /// Reads files below a folder only, or everywhere.
    pub fn within(folders: Vec<PathBuf>, within: Option<PathBuf>) -> Self {
        Self {
            files: DebugFiles::new(folders, within),
            modules: FxHashMap::default(),
            modules_left: NAMED_MODULES,
            symbols_left: MOST_SYMBOLS,
            time: Duration::ZERO,
            notes: SymbolNotes::default(),
        }
    }

    /// Returns the frame of a native function with its name; none for other frames, and if no name is known. The
    /// functions without a name of which nothing tells where they begin have one frame for all of a module.
    pub fn frame(&mut self, frame: &CallFrame) -> Option<CallFrame> {
        self.named(frame).or_else(|| frame.without_table())
    }

    fn named(&mut self, frame: &CallFrame) -> Option<CallFrame> {
        let (build, address) = (frame.module()?, frame.address()?);
        if !build.is_known() || self.time > MOST_TIME {
            return None;
        }
        let key = (file_path(&frame.url).into_owned(), build);
        if !self.modules.contains_key(&key) {
            if self.modules.len() >= MODULES {
                return None;
            }
            let module = self.open(&key.0, build);
            self.modules.insert(key.clone(), module);
        }
        let module = self.modules.get(&key)?;
        let start = Instant::now();
        let name = module.functions.as_ref().and_then(|functions| functions.name_at(address));
        self.time += start.elapsed();
        if let Some(function_name) = name {
            return Some(CallFrame { function_name, ..frame.clone() });
        }
        let files = match module.lack? {
            Lack::Other => &mut self.notes.other,
            Lack::Stripped => &mut self.notes.stripped,
            Lack::Unread(UnreadFile::Absent) => &mut self.notes.absent,
            Lack::Unread(UnreadFile::Outside) => &mut self.notes.outside,
        };
        files.insert(key.0);
        None
    }

    /// Returns what the user should know, a sentence each.
    pub fn notes(&self) -> Vec<String> {
        self.notes.texts()
    }

    /// Finds the functions of a module. A file with all symbols is better than one with only those for other
    /// files.
    fn open(&mut self, path: &str, build: BuildId) -> NativeModule {
        if self.modules_left == 0 {
            return NativeModule::default();
        }
        let mut some = None;
        for place in 0..self.files.places() {
            let file = self.files.in_folders(place, path, build);
            let table = file.and_then(|file| FunctionTable::read(file, self.symbols_left));
            if let Some(table) = self.whole(table, &mut some) {
                return table;
            }
        }
        let mut lack = Lack::Stripped;
        match self.files.module(path, build) {
            ModuleFile::Same(file) => {
                let table = FunctionTable::read(file, self.symbols_left);
                if let Some(table) = self.whole(table, &mut some) {
                    return table;
                }
            }
            ModuleFile::Other => lack = Lack::Other,
            ModuleFile::Unread(reason) => lack = Lack::Unread(reason),
        }
        let file = self.files.of_system(build);
        let table = file.and_then(|file| FunctionTable::read(file, self.symbols_left));
        if let Some(table) = self.whole(table, &mut some) {
            return table;
        }
        if some.is_some() {
            lack = Lack::Stripped;
        }
        self.count(some.as_ref());
        NativeModule { functions: some, lack: Some(lack) }
    }

    /// Returns a module of which all symbols are known; keeps a table that has some of them.
    fn whole(
        &mut self,
        table: Option<FunctionTable>,
        some: &mut Option<FunctionTable>,
    ) -> Option<NativeModule> {
        let table = table?;
        if table.is_whole {
            self.count(Some(&table));
            return Some(NativeModule { functions: Some(table), lack: None });
        }
        some.get_or_insert(table);
        None
    }

    fn count(&mut self, table: Option<&FunctionTable>) {
        let Some(table) = table else { return };
        self.modules_left = self.modules_left.saturating_sub(1);
        self.symbols_left = self.symbols_left.saturating_sub(table.len());
    }
}

#[cfg(test)]
mod tests;

//! The sources that code was made from: finds each function and line by the source maps of the code. Native
//! functions have their names from the symbols of their modules.

mod allowance;
mod code_text;
mod function_text;
mod generated_file;
pub mod in_session;
mod notes;
mod source_files;
pub mod source_lines;
#[cfg(test)]
mod tests;

use std::io::ErrorKind;
use std::path::PathBuf;

use rustc_hash::FxHashMap;

use self::allowance::Allowance;
use self::generated_file::{FunctionSpot, GeneratedFile};
use self::notes::SourceNotes;
use self::source_files::SourceFiles;
use crate::names::symbols::Symbols;
use cpu_prof_core::base::path_text::is_local_file;
use cpu_prof_core::base::system::IS_WINDOWS;
use cpu_prof_core::format::url::file_path;
use cpu_prof_core::profile::frame::{CallFrame, FrameOrigin};
use cpu_prof_core::profile::package::{is_users, package_folder, package_of};
use cpu_prof_core::profile::position::SourcePosition;
use cpu_prof_session::formats::source_map::decode::MapError;
use cpu_prof_session::formats::source_map::map::SourceSpot;
use cpu_prof_session::model::ScriptKey;

/// Maps that are followed from one file: a bundle of files that another tool has made.
const LEVELS: usize = 8;

/// Languages that Node does not run without a transpiler, or with one that keeps all places.
const TRANSPILED: [&str; 9] =
    [".ts", ".tsx", ".mts", ".cts", ".jsx", ".vue", ".svelte", ".astro", ".mdx"];

/// Finds the sources of frames. Each file is read once.
#[derive(Debug, Default)]
pub struct Originals {
    /// Indices of the files, by the URLs in frames; none for a file without a map and without text to
    /// compare.
    files: FxHashMap<String, Option<usize>>,
    list: Vec<GeneratedFile>,
    /// Maps of scripts that are in no file, as JSON that nobody needed so far.
    maps: FxHashMap<ScriptKey, String>,
    /// Indices of the scripts whose maps were needed; none for a broken map.
    scripts: FxHashMap<ScriptKey, Option<usize>>,
    sources: SourceFiles,
    allowance: Allowance,
    notes: SourceNotes,
    symbols: Symbols,
    /// Whether functions of JavaScript stay as they were recorded.
    only_symbols: bool,
}

/// Where names and sources are looked for.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// The folder below which files are read; none for everywhere.
    pub within: Option<PathBuf>,
    /// Folders of the user with the symbols of native modules.
    pub symbols: Vec<PathBuf>,
}

/// The place of a frame in its source.
#[derive(Debug, Clone)]
pub struct OriginalFrame {
    /// The frame in the source.
    pub frame: CallFrame,
    /// Index of the generated file, and of the source in its map; none for a frame that is not from a
    /// map.
    place: Option<(usize, usize)>,
}

impl OriginalFrame {
    /// Returns a frame of code that is not the text of its file.
    fn transpiled(frame: &CallFrame) -> Self {
        let frame = CallFrame { origin: FrameOrigin::Transpiled, ..frame.clone() };
        Self { frame, place: None }
    }
}

impl Originals {
    /// Looks in some places.
    pub fn new(places: &Places) -> Self {
        Self {
            allowance: Allowance::within(places.within.clone()),
            symbols: Symbols::within(places.symbols.clone(), places.within.clone()),
            ..Self::default()
        }
    }

    /// Sets whether sources are looked for, and not only the names of native functions.
    pub(crate) fn look_for_sources(&mut self, looks: bool) {
        self.only_symbols = !looks;
    }

    /// Returns the frame in its source, or a native function with its name; none for a frame that stays as it
    /// is.
    pub fn frame(&mut self, frame: &CallFrame) -> Option<OriginalFrame> {
        if frame.module().is_some() {
            let frame = self.symbols.frame(frame)?;
            return Some(OriginalFrame { frame, place: None });
        }
        if self.only_symbols {
            return None;
        }
        if frame.origin != FrameOrigin::Executed || frame.line < 0 {
            return None;
        }
        let (index, spot) = self.function(frame)?;
        let known = &mut self.list[index];
        match spot {
            FunctionSpot::Mapped(spot, name) => {
                known.executed += 1;
                let place = self.in_source(index, spot, frame)?;
                let (line, column) = (place.line.unsigned_abs(), place.column.unsigned_abs());
                let function_name = match name.as_str() {
                    "" => self.declared_name(&place.url, line, column).unwrap_or_default(),
                    _ => name,
                };
                let frame = CallFrame { function_name, ..place };
                Some(OriginalFrame { frame, place: Some((index, spot.source)) })
            }
            FunctionSpot::Unmapped => {
                known.executed += 1;
                // A helper that a transpiler has added, in code that is not the text of the file.
                let is_in_memory = known.text.is_none();
                if is_in_memory {
                    return Some(OriginalFrame::transpiled(frame));
                }
                if !frame.function_name.is_empty() {
                    return None;
                }
                let function_name = known.callback_name(frame)?;
                let frame = CallFrame { function_name, ..frame.clone() };
                Some(OriginalFrame { frame, place: None })
            }
            FunctionSpot::Wrapped => None,
            FunctionSpot::OtherText => {
                known.other += 1;
                self.of_other_text(index, frame)
            }
        }
    }

    /// Returns a place of a call in its source; the place itself where no map has it.
    pub(crate) fn call_site(&mut self, site: &CallFrame) -> CallFrame {
        let mapped = (!self.only_symbols).then(|| self.mapped_site(site)).flatten();
        mapped.unwrap_or_else(|| site.clone())
    }

    fn mapped_site(&mut self, site: &CallFrame) -> Option<CallFrame> {
        let (line, column) = (u32::try_from(site.line).ok()?, u32::try_from(site.column).ok()?);
        let index = match self.recorded(site) {
            Some(index) => index,
            None => self.file(&site.url)?,
        };
        let spot = self.list[index].spot(line, column)?;
        self.in_source(index, spot, site)
    }

    /// Returns a frame at a place in a source of a generated file, whose index is given; none if the source has no
    /// name.
    fn in_source(
        &mut self,
        index: usize,
        spot: SourceSpot,
        frame: &CallFrame,
    ) -> Option<CallFrame> {
        let url = self.list[index].url(spot.source, &mut self.sources)?;
        let (url, line, column) = self.follow(url, spot.line, spot.column);
        let place = |number: u32| i32::try_from(number).unwrap_or(i32::MAX);
        Some(CallFrame {
            package: shipping_package(&url, &frame.url),
            url,
            line: place(line),
            column: place(column),
            origin: FrameOrigin::SourceMap,
            compiler: None,
            ..frame.clone()
        })
    }

    /// Returns the code of a frame, and the place of its function there.
    fn function(&mut self, frame: &CallFrame) -> Option<(usize, FunctionSpot)> {
        let recorded = self.recorded(frame);
        // Code that is in a file with its map tells more than the map alone.
        let file = match recorded {
            Some(_) => self.file(&frame.url).filter(|index| self.list[*index].has_own_map),
            None => self.file(&frame.url),
        };
        let spot = file.map(|index| (index, self.list[index].function(frame)));
        match (spot, recorded) {
            (Some((_, FunctionSpot::OtherText)) | None, Some(index)) => {
                Some((index, self.list[index].function(frame)))
            }
            (spot, _) => spot,
        }
    }

    /// Adds the map of a script that is in no file.
    pub(crate) fn add_map(&mut self, script: ScriptKey, json: String) {
        if !self.scripts.contains_key(&script) {
            self.maps.entry(script).or_insert(json);
        }
    }

    /// Returns the index of a script whose map a trace holds.
    fn recorded(&mut self, frame: &CallFrame) -> Option<usize> {
        if self.maps.is_empty() && self.scripts.is_empty() {
            return None;
        }
        let key = ScriptKey { url: frame.url.clone(), script_id: frame.script_id };
        let Some(json) = self.maps.remove(&key) else { return *self.scripts.get(&key)? };
        let path = file_path(&key.url);
        let file = GeneratedFile::of_map(&path, &json, &mut self.allowance);
        if let Err(error @ MapError::TooLarge(_)) = &file {
            self.notes.problem(&path, &format!("its recorded map: {error}"));
        }
        let index = file.ok().map(|file| self.add(file));
        self.scripts.insert(key, index);
        index
    }

    fn add(&mut self, file: GeneratedFile) -> usize {
        self.list.push(file);
        self.list.len() - 1
    }

    /// Returns the name that the text of a source gives to the function at a place.
    fn declared_name(&mut self, url: &str, line: u32, column: u32) -> Option<String> {
        let index = self.file(url)?;
        self.list[index].declared_name(line, column)
    }

    /// Returns the frame of a function that is not in the text of its file.
    fn of_other_text(&mut self, index: usize, frame: &CallFrame) -> Option<OriginalFrame> {
        let file = &self.list[index];
        let path = file_path(&frame.url);
        if file.map.is_some() {
            self.notes.changed.insert(path.into_owned());
            return None;
        }
        let is_transpiled = TRANSPILED.iter().any(|ending| path.ends_with(ending));
        if !is_transpiled && file.executed >= file.other {
            return None;
        }
        self.notes.transpiled.insert(path.into_owned());
        Some(OriginalFrame::transpiled(frame))
    }

    /// Returns the position in the source for a position in a frame; the unknown position if the map
    /// does not tell.
    pub fn position(
        &mut self,
        generated: &CallFrame,
        original: &OriginalFrame,
        position: SourcePosition,
    ) -> SourcePosition {
        let Some((index, source)) = original.place else { return position };
        let file = &mut self.list[index];
        let Some(SourceSpot { line, column, .. }) = file.position(generated, position, source)
        else {
            return SourcePosition::default();
        };
        let Some(url) = file.url(source, &mut self.sources) else {
            return SourcePosition::default();
        };
        let (url, line, column) = self.follow(url, line, column);
        if url != original.frame.url {
            return SourcePosition::default();
        }
        let column = if position.has_column() { column + 1 } else { position.column };
        SourcePosition { line: line + 1, column }
    }

    /// Returns what the user should know, a sentence each.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = self.notes.texts();
        notes.extend(self.sources.note());
        notes.extend(self.symbols.notes());
        notes
    }

    /// Follows the maps of sources that are themselves generated.
    fn follow(&mut self, mut url: String, mut line: u32, mut column: u32) -> (String, u32, u32) {
        for _ in 0..LEVELS {
            let Some(index) = self.file(&url) else { break };
            let file = &mut self.list[index];
            let Some(spot) = file.spot(line, column) else { break };
            let Some(next) = file.url(spot.source, &mut self.sources) else { break };
            if next == url {
                break;
            }
            (url, line, column) = (next, spot.line, spot.column);
        }
        (url, line, column)
    }

    fn file(&mut self, url: &str) -> Option<usize> {
        if let Some(known) = self.files.get(url) {
            return *known;
        }
        let index = self.read(url);
        self.files.insert(url.to_owned(), index);
        index
    }

    fn read(&mut self, url: &str) -> Option<usize> {
        let path = file_path(url);
        if !is_local_file(&path, IS_WINDOWS) {
            return None;
        }
        let text = match self.allowance.read_code(&path) {
            Ok(text) => text,
            Err(error) => {
                if error.kind() == ErrorKind::FileTooLarge {
                    self.notes.problem(&path, &error.to_string());
                }
                return None;
            }
        };
        let (file, problem) = GeneratedFile::of_text(&path, text, &mut self.allowance);
        if let Some(reason) = problem {
            self.notes.problem(&path, &reason);
        }
        // Packages ship the code that runs.
        if file.map.is_none() && package_folder(&path).is_some() {
            return None;
        }
        Some(self.add(file))
    }
}

/// Returns the package that shipped a source by the file that was made from the source; none where the
/// source's own URL tells. A map can name any place on the machine that built the package, or on a server.
fn shipping_package(source: &str, generated: &str) -> Option<Box<str>> {
    let generated = file_path(generated);
    let is_told = !is_users(package_of(&file_path(source)));
    (!is_told && package_folder(&generated).is_some()).then(|| package_of(&generated).into())
}

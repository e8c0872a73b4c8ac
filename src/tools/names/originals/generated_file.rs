//! One file of generated code: its text, its map, and the places of its functions in the sources.

use std::borrow::Cow;
use std::io::ErrorKind;

use rustc_hash::FxHashMap;

use super::allowance::{Allowance, OUTSIDE};
use super::code_text::CodeText;
use super::function_text::{
    callback_name, called_name, declared_name, identifier, is_function, is_head, is_opening,
    name_in_source, word_at_start,
};
use super::source_files::SourceFiles;
use cpu_prof_core::base::path_text::{is_windows, with_slashes};
use cpu_prof_core::format::source_map::data_url::{self, is_data_url};
use cpu_prof_core::format::url::{decoded, file_path};
use cpu_prof_core::profile::frame::CallFrame;
use cpu_prof_core::profile::package::package_folder;
use cpu_prof_core::profile::position::SourcePosition;
use cpu_prof_session::formats::source_map::comment::map_url;
use cpu_prof_session::formats::source_map::decode::MapError;
use cpu_prof_session::formats::source_map::map::{SourceMap, SourceSpot};

/// Tokens before a function among which its name is looked for.
const NAME_TOKENS: usize = 12;

/// A line of code that people or unminified output write has at most so many columns. A longer line
/// has many statements, which only a column tells apart.
const LONG_LINE: u32 = 300;
/// Tokens of a line that are looked at for a line without a column.
const LINE_TOKENS: usize = 10_000;

/// What jest (up to version 29) puts before a module's code, on its first line.
const JEST_WRAPPER: &str =
    r#"({"Object.<anonymous>":function(module,exports,require,__dirname,__filename,jest){"#;

/// A file whose code V8 ran.
#[derive(Debug, Default)]
pub(super) struct GeneratedFile {
    /// Path, absolute and with slashes.
    path: String,
    /// The text; none if V8's code is known not to be that of a file.
    pub text: Option<CodeText>,
    pub map: Option<SourceMap>,
    /// Whether the code itself holds its map.
    pub has_own_map: bool,
    /// URLs of the sources that were asked for.
    urls: FxHashMap<usize, Option<String>>,
    /// Count of the functions that are where V8 says.
    pub executed: usize,
    /// Count of the functions that are elsewhere.
    pub other: usize,
}

/// A place of a function in the code that ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FunctionSpot {
    /// The function is where V8 says, and comes from a source, where it has this name.
    Mapped(SourceSpot, String),
    /// The function is where V8 says, and comes from no source that is known.
    Unmapped,
    /// The function is on the first line, which ran behind a wrapper: columns are not those of the
    /// text.
    Wrapped,
    /// The text is not the code that ran.
    OtherText,
}

impl GeneratedFile {
    /// Returns a file with this text, and reads its map; and why its map cannot be used.
    pub(super) fn of_text(
        path: &str,
        text: String,
        allowance: &mut Allowance,
    ) -> (Self, Option<String>) {
        let (map, problem) = match read_map(path, &text, allowance) {
            Ok(map) => (map, None),
            Err(reason) => (None, Some(reason)),
        };
        let has_own_map = map.is_some() && map_url(&text).is_some_and(is_data_url);
        let (path, text) = (path.to_owned(), Some(CodeText::new(text)));
        (Self { path, text, map, has_own_map, ..Self::default() }, problem)
    }

    /// Returns code that is in no file, with its map. `path` is V8's name of the code.
    pub(super) fn of_map(
        path: &str,
        json: &str,
        allowance: &mut Allowance,
    ) -> Result<Self, MapError> {
        let (path, map) = (path.to_owned(), Some(allowance.decode(json)?));
        Ok(Self { path, map, has_own_map: true, ..Self::default() })
    }

    /// Returns the place of a frame's function.
    pub(super) fn function(&mut self, frame: &CallFrame) -> FunctionSpot {
        let (Ok(line), Ok(column)) = (u32::try_from(frame.line), u32::try_from(frame.column))
        else {
            return FunctionSpot::Unmapped;
        };
        let name = frame.function_name.as_str();
        // V8 gives this place to the code of a module outside of functions.
        let is_top = (line, column) == (0, 0);
        if !is_top
            && let Some(text) = &mut self.text
            && !is_function_at(text, line, column, name)
        {
            let is_wrapped = line == 0 && is_wrapped(text, column, name);
            return if is_wrapped { FunctionSpot::Wrapped } else { FunctionSpot::OtherText };
        }
        let spot = if is_top { self.module() } else { self.head(line, column) };
        match spot {
            Some(spot) => {
                let original = self.name(line, column, name);
                let name = original.unwrap_or_else(|| name_in_source(name).to_owned());
                FunctionSpot::Mapped(spot, name)
            }
            None => FunctionSpot::Unmapped,
        }
    }

    /// Returns the name that the text gives to the function at a place.
    pub(super) fn declared_name(&mut self, line: u32, column: u32) -> Option<String> {
        let (before, after) = self.text.as_mut()?.around(line, column)?;
        if let Some(name) = declared_name(before, after).or_else(|| called_name(after)) {
            return Some(name.to_owned());
        }
        is_function(before, after, "").then(|| callback_name(before)).flatten()
    }

    /// Returns a name for a function without a name, in code that is the text of its file.
    pub(super) fn callback_name(&mut self, frame: &CallFrame) -> Option<String> {
        let (line, column) = (u32::try_from(frame.line).ok()?, u32::try_from(frame.column).ok()?);
        let (before, _) = self.text.as_mut()?.around(line, column)?;
        callback_name(before)
    }

    /// Returns the place of a module's code: the start of the only source. The modules of a bundle
    /// run as one function, which comes from no single source.
    fn module(&self) -> Option<SourceSpot> {
        let map = self.map.as_ref()?;
        (map.sources.len() == 1).then_some(SourceSpot { source: 0, line: 0, column: 0 })
    }

    /// Returns the place of a function's head.
    fn head(&mut self, line: u32, column: u32) -> Option<SourceSpot> {
        let map = self.map.as_ref()?;
        let before = map.tokens_until(line, column).next();
        let Some(text) = &mut self.text else { return before?.original };
        if let Some(token) = before
            && text.between(line, (token.generated.1, column)).is_some_and(is_head)
        {
            return token.original;
        }
        // The code around a module of a bundle has no tokens, the module's code has.
        let after = map.tokens_after(line, column).next()?;
        let is_next = text.between(line, (column, after.generated.1)).is_some_and(is_opening);
        after.original.filter(|_| is_next)
    }

    /// Returns the name that a function has in its source, where the map has the name.
    fn name(&mut self, line: u32, column: u32, v8_name: &str) -> Option<String> {
        let (map, text) = (self.map.as_ref()?, self.text.as_mut()?);
        let name = identifier(v8_name)?;
        let before = map.tokens_until(line, column).take(NAME_TOKENS);
        // The name of a class stands behind the place that V8 gives.
        let mut tokens = before.chain(map.tokens_after(line, column).take(2));
        let token = tokens.find(|token| {
            let (line, column) = token.generated;
            text.around(line, column).is_some_and(|(_, after)| word_at_start(after) == name)
        })?;
        token.name.map(str::to_owned)
    }

    /// Returns the place of a position within a function that comes from `source`; none if the
    /// position has no column and its line has code of several lines.
    pub(super) fn position(
        &self,
        frame: &CallFrame,
        position: SourcePosition,
        source: usize,
    ) -> Option<SourceSpot> {
        let map = self.map.as_ref()?;
        let line = position.line.checked_sub(1)?;
        if position.has_column() {
            let token = map.tokens_until(line, position.column - 1).next()?;
            return token.original.filter(|spot| spot.source == source);
        }
        let start = match u32::try_from(frame.column) {
            Ok(column) if i64::from(line) == i64::from(frame.line) => column,
            _ => 0,
        };
        let at_start = map.tokens_until(line, start).next();
        let tokens = at_start.into_iter().chain(map.tokens_after(line, start)).take(LINE_TOKENS);
        let mut spots =
            tokens.filter_map(|token| token.original).filter(|spot| spot.source == source);
        let first = spots.next()?;
        let last = map.tokens_until(line, u32::MAX).next();
        let is_long = last.is_some_and(|token| token.generated.1 > LONG_LINE);
        let is_certain = !is_long || spots.all(|spot| spot.line == first.line);
        is_certain.then_some(first)
    }

    /// Returns the place that a place in this file comes from.
    pub(super) fn spot(&self, line: u32, column: u32) -> Option<SourceSpot> {
        let map = self.map.as_ref()?;
        let token = map.tokens_until(line, column).next();
        token.or_else(|| map.tokens_after(line, column).next())?.original
    }

    /// Returns the URL of a source; none if the source has no name.
    pub(super) fn url(&mut self, source: usize, files: &mut SourceFiles) -> Option<String> {
        let sources = &self.map.as_ref()?.sources;
        let name = sources.get(source)?;
        let name = &*match is_windows(&self.path) {
            true => Cow::Owned(name.replace('\\', "/")),
            false => Cow::Borrowed(name.as_str()),
        };
        let file_name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        let (of_source, own) = (file_name(name), file_name(&self.path));
        let is_own =
            own == of_source || is_windows(&self.path) && own.eq_ignore_ascii_case(&of_source);
        let is_ours = self.text.is_none() && sources.len() == 1 && is_own;
        // A transpiler of a single file may name the file relative to any folder.
        let name = if is_ours { &self.path } else { name };
        let find = || files.url(name, &self.path);
        self.urls.entry(source).or_insert_with(find).clone()
    }
}

/// Reads the map that code names, or the map beside a file. Returns the reason if the map that the
/// code names cannot be read.
fn read_map(
    path: &str,
    code: &str,
    allowance: &mut Allowance,
) -> Result<Option<SourceMap>, String> {
    // Many packages ship without the maps that their code names.
    let missing = |reason: String| match package_folder(path) {
        Some(_) => Ok(None),
        None => Err(reason),
    };
    let Some(url) = map_url(code) else {
        let name = format!("{path}.map");
        return match allowance.read(&name) {
            Ok(json) => decoded_map(&json, &name, allowance),
            Err(error) if error.kind() == ErrorKind::FileTooLarge => {
                Err(format!("{name}: {error}"))
            }
            Err(_) => Ok(None),
        };
    };
    if is_data_url(url) {
        let name = "the map in its last line";
        let json = data_url::text(url).ok_or_else(|| format!("{name} is damaged"))?;
        return decoded_map(&json, name, allowance);
    }
    if url.contains("://") && !url.starts_with("file:") {
        return missing(format!("its map is at {url}, and is not fetched"));
    }
    let file = match url.starts_with("file:") {
        true => file_path(url).into_owned(),
        // Relative to the file; the URL may be encoded.
        false => {
            let name =
                with_slashes(&decoded(url.split('?').next().unwrap_or_default())).into_owned();
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            let is_absolute = name.starts_with('/') || is_windows(&name);
            if is_absolute { name } else { format!("{folder}/{name}") }
        }
    };
    match allowance.read(&file) {
        Ok(json) => decoded_map(&json, &file, allowance),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            missing(format!("{file} does not exist"))
        }
        Err(error) if error.kind() == OUTSIDE => missing(format!("{file}: {error}")),
        Err(error) => Err(format!("{file}: {error}")),
    }
}

fn decoded_map(
    json: &str,
    name: &str,
    allowance: &mut Allowance,
) -> Result<Option<SourceMap>, String> {
    allowance.decode(json).map(Some).map_err(|error| format!("{name}: {error}"))
}

fn is_function_at(text: &mut CodeText, line: u32, column: u32, name: &str) -> bool {
    text.around(line, column).is_some_and(|(before, after)| is_function(before, after, name))
}

/// Returns whether a function of the first line is the function of jest's wrapper, or stands in the
/// text where the wrapper begins to shift. Code can have several wrappers.
fn is_wrapped(text: &mut CodeText, column: u32, name: &str) -> bool {
    let mut column = column as usize;
    loop {
        if JEST_WRAPPER.find("(module") == Some(column) && name == "Object.<anonymous>" {
            return true;
        }
        let Some(inner) = column.checked_sub(JEST_WRAPPER.len()) else { return false };
        if inner == 0 || is_function_at(text, 0, inner as u32, name) {
            return true;
        }
        column = inner;
    }
}

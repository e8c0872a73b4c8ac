//! Lines of the files of functions, for what V8 does not tell: its built-in functions have no frames.

use rustc_hash::FxHashMap;

use super::allowance::Allowance;
use super::code_text::CodeText;
use super::function_text::is_function;

/// Built-ins that can take long, as a report names them. Others of such weight, as regular expressions, have
/// frames, and so have functions of the program with the name of a method.
const BUILT_INS: [&str; 4] = ["JSON.parse", "JSON.stringify", "structuredClone", ".sort"];

/// A longer line is minified code, where a line says nothing: bytes.
const MAX_LINE: usize = 400;

/// The texts of files, each read once.
#[derive(Debug, Default)]
pub struct SourceLines {
    texts: FxHashMap<String, Option<CodeText>>,
    allowance: Allowance,
}

/// A function and its place, from 1 on.
#[derive(Debug, Clone, Copy)]
pub struct FunctionPlace<'a> {
    pub path: &'a str,
    /// Name by V8; empty for none.
    pub name: &'a str,
    pub line: u32,
    pub column: u32,
}

impl SourceLines {
    /// Returns the built-in that a line of a function calls, by its text. None if the line calls none or
    /// more than one, or if the function is not in the file where V8 saw it: the file has changed.
    pub fn built_in(&mut self, place: FunctionPlace<'_>, line: u32) -> Option<&'static str> {
        let FunctionPlace { path, name, line: start, column } = place;
        if !self.texts.contains_key(path) {
            let text = self.allowance.read_code(path).ok().map(CodeText::new);
            self.texts.insert(path.to_owned(), text);
        }
        let text = self.texts.get_mut(path)?.as_mut()?;
        let (before, after) = text.around(start.checked_sub(1)?, column.checked_sub(1)?)?;
        // The code of a module begins with its file, which tells nothing.
        if (start, column) == (1, 1) || !is_function(before, after, name) {
            return None;
        }
        // What stands before the function on its first line is not of the function.
        let from = if line == start { column - 1 } else { 0 };
        called_built_in(text.line_from(line.checked_sub(1)?, from)?)
    }
}

/// Returns the only built-in that a line calls.
fn called_built_in(line: &str) -> Option<&'static str> {
    let line = line.trim();
    let is_comment = line.starts_with(['*', '/']) && !line.starts_with("/*");
    if line.len() > MAX_LINE || is_comment {
        return None;
    }
    let code = line.split_once(" //").map_or(line, |(code, _)| code);
    if is_seldom(code) {
        return None;
    }
    let mut called = BUILT_INS.into_iter().filter(|name| calls(code, name));
    let first = called.next()?;
    called.next().is_none().then_some(first)
}

/// Returns whether a line has a loop, and may do something else more often than it calls: the time of the line
/// can be that of the loop.
fn is_seldom(code: &str) -> bool {
    let count = |word: &str| code.matches(word).count();
    let loops = count("for (") + count("for(") + count("while (") + count("while(");
    let has_condition = ["if (", "if(", "?", "&&", "||"].iter().any(|word| code.contains(word));
    loops > 1 || (loops == 1 && has_condition)
}

fn calls(code: &str, name: &str) -> bool {
    code.match_indices(name).any(|(at, _)| {
        let is_part = |letter: char| {
            letter.is_alphanumeric() || matches!(letter, '_' | '$' | '.' | '\'' | '"')
        };
        let is_whole = name.starts_with('.') || !code[..at].ends_with(is_part);
        is_whole && code[at + name.len()..].starts_with('(')
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_only_built_in_of_a_line_is_found() {
        for (line, expected) in [
            ("  return JSON.parse(text)", Some("JSON.parse")),
            ("const copy = JSON.parse(JSON.stringify(value))", None),
            ("n += JSON.parse(a).length + JSON.parse(b).length", Some("JSON.parse")),
            ("send(structuredClone(value)) // not JSON.parse(x)", Some("structuredClone")),
            ("return list.sort((a, b) => a - b)", Some(".sort")),
            ("list.sorted(1)", None),
            ("const parse = JSON.parse", None),
            ("my.JSON.parse(x)", None),
            ("print('JSON.parse(x)')", None),
            ("// JSON.parse(x)", None),
            (" * JSON.parse(x)", None),
            ("for (const line of lines) rows.push(JSON.parse(line))", Some("JSON.parse")),
            ("while (n--) { sum += n % 7; if (n === 9) print(JSON.stringify(sum)) }", None),
            ("for (const a of b) { for (const c of a) sum += c; JSON.stringify(a) }", None),
            ("if (isJson) return JSON.parse(text)", Some("JSON.parse")),
            ("", None),
        ] {
            assert_eq!(called_built_in(line), expected, "{line}");
        }
        assert_eq!(called_built_in(&format!("JSON.parse({})", "x".repeat(MAX_LINE))), None);
    }

    #[test]
    fn a_file_that_has_changed_tells_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.js");
        let text = "let x\nfunction load(text) {\n  return JSON.parse(text)\n}\n\
                    load().sort((a, b) => a - b)\n";
        fs::write(&file, text).unwrap();
        let path = file.to_str().unwrap();
        let built_in = |name, line, column, at| {
            let place = FunctionPlace { path, name, line, column };
            SourceLines::default().built_in(place, at)
        };
        assert_eq!(built_in("load", 2, 14, 3), Some("JSON.parse"));
        assert_eq!(built_in("load", 2, 14, 2), None);
        assert_eq!(built_in("load", 2, 14, 99), None);
        // The callback does not call what calls it.
        assert_eq!(built_in("", 5, 13, 5), None);
        assert_eq!(built_in("save", 2, 14, 3), None);
        assert_eq!(built_in("load", 3, 3, 3), None);
        assert_eq!(built_in("load", 0, 0, 3), None);
        assert_eq!(built_in("", 1, 1, 3), None);
    }
}

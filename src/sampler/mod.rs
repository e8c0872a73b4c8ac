//! Where samples come from.

pub mod inspector;
pub mod native_names;
pub mod v8;

/// A source, chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// V8's own functions, by their symbols.
    V8,
    /// `node:inspector`, driven by JavaScript.
    Inspector,
}

impl Source {
    /// The best that this process has.
    pub fn best() -> Self {
        if v8::is_available() { Source::V8 } else { Source::Inspector }
    }

    /// Its name in settings and results.
    pub fn name(self) -> &'static str {
        match self {
            Source::V8 => "v8",
            Source::Inspector => "inspector",
        }
    }
}

/// A profile that is no longer added to.
pub enum RawWindow {
    /// V8's own, to be read in place.
    V8(v8::V8Profile),
    /// As the inspector writes it.
    Inspector(inspector::InspectorProfile),
}

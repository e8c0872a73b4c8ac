//! The kinds of events that are recorded beside the profile, and the words by which the setting names them.

/// Returns the end of a list of words.
macro_rules! listed {
    ($last:literal) => { concat!(" and ", $last) };
    ($word:literal, $($rest:literal),+) => { concat!(", ", $word, listed!($($rest),+)) };
}

/// Returns the word of a category that is recorded by default, as a part of the default.
macro_rules! by_default {
    ($word:literal) => {
        concat!(",", $word)
    };
}

/// Defines the categories by their table.
macro_rules! categories {
    ($($(#[$about:meta])* $name:ident $word:literal $($by_default:ident)?,)*) => {
        /// A kind of events beside the profile.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Category {
            $($(#[$about])* $name,)*
        }

        impl Category {
            /// All categories with their words.
            pub const ALL: &[(Self, &str)] = &[$((Self::$name, $word)),*];
        }

        impl Categories {
            /// The words of the setting, with the profile.
            pub(super) const WORDS: &'static str = concat!("cpu", listed!($($word),*));
            /// The help of the setting.
            pub(super) const HELP: &'static str = concat!(
                "kinds of events, of cpu", listed!($($word),*), "; +http adds to the default"
            );
            /// The kinds whose cost does not show.
            pub(super) const DEFAULT: &'static str = concat!("cpu" $($(, $by_default!($word))?)*);
        }
    };
}

categories! {
    /// Garbage collections.
    Gc "gc" by_default,
    /// Memory at each flush.
    Memory "memory" by_default,
    /// Long tasks of the event loop.
    EventLoop "loop" by_default,
    /// User timings.
    Timings "timings" by_default,
    /// Requests of HTTP: each costs some ten microseconds, so they are not among the defaults.
    Http "http",
    /// How processes and workers end.
    Processes "processes" by_default,
    /// The projects and files that TypeScript's compiler works on: this needs a debugger, so they are not
    /// among the defaults.
    TypeScript "typescript",
    /// Native functions above those of JavaScript: they cost some percent of CPU time in native code, so they are
    /// not among the defaults.
    Native "native",
}

/// The categories that a recording has beside the profile, which always is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Categories(u32);

impl Categories {
    /// None: the profile alone.
    pub(super) const NONE: Self = Self(0);

    /// Returns whether a category is among these.
    pub fn has(self, category: Category) -> bool {
        self.with(category) == self
    }

    /// Returns these and a category.
    pub(super) fn with(self, category: Category) -> Self {
        Self(self.0 | 1 << category as u32)
    }

    /// Reads a list with commas, which is added to the default after a plus sign; none if a word is unknown, or the
    /// profile is not in it.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let words = match text.strip_prefix('+') {
            Some(more) => format!("{},{more}", Self::DEFAULT),
            None => text.to_owned(),
        };
        let (mut categories, mut has_cpu) = (Self::NONE, false);
        for word in words.split(',') {
            match Category::ALL.iter().find(|(_, known)| *known == word) {
                Some((category, _)) => categories = categories.with(*category),
                None if word == "cpu" => has_cpu = true,
                None => return None,
            }
        }
        has_cpu.then_some(categories)
    }
}

//! How an addon was built.

/// The text by which `scripts/inspect.js` finds in the file of an addon how it was built: the build for tests
/// has assertions, and is not optimized as a whole.
pub const BUILD: &str =
    if cfg!(debug_assertions) { "cpu-prof-build:tests" } else { "cpu-prof-build:published" };

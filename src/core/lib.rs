//! What recordings and the tools share: settings, profiles, file formats and files.

#[cfg(test)]
mod architecture;
pub mod base;
pub mod files;
pub mod format;
pub mod profile;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

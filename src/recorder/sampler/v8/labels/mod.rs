//! The labels of work at the moment of each sample, which the signal handler finds.
//!
//! - Nothing of V8 is called, and no handle is made.
//! - Memory of another isolate is never read.
//! - Whatever is not as expected means 'no labels'.

mod frame;
mod label_reader;
mod ring;
mod slot;
mod source;

pub(super) use self::label_reader::LabelReader;
#[cfg(test)]
pub(crate) use self::ring::LabelRecord;
pub(crate) use self::ring::LabelRing;
#[cfg(test)]
pub(super) use self::slot::LabelApi;
pub(crate) use self::slot::SlotSearch;
pub(crate) use self::source::LabelSource;

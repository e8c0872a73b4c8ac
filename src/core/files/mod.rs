//! Files on the disk, whatever their format.

pub mod atomic;
pub mod error;
pub mod exclusive;
pub mod find;
pub mod input;
pub mod own_file;
pub mod spool;
mod target;
pub mod temporary;

//! For systems where native stacks are not read.

use std::io;
use std::ops::{Deref, Range};
use std::time::Duration;

use super::code_mapping::CodeMapping;
use super::registers::{self, CallRegisters};

/// Whether registers can be read on this machine.
pub const IS_AVAILABLE: bool = false;

/// A thread within the handler of a signal: there is none.
#[derive(Debug, Clone, Copy)]
pub struct StoppedThread(std::convert::Infallible);

impl StoppedThread {
    /// Returns the values of the registers.
    pub fn registers(self) -> [u64; registers::COUNT] {
        match self.0 {}
    }

    /// Calls `f`, which sees other registers.
    pub fn while_seen_with(self, _seen: CallRegisters, _f: impl FnOnce()) {
        match self.0 {}
    }
}

/// Returns registers of the calling function: they are not known.
pub fn own_registers() -> [u64; registers::COUNT] {
    [0; registers::COUNT]
}

/// Returns the addresses of the calling thread's stack: they are not known.
pub fn own_stack() -> Option<Range<u64>> {
    None
}

/// Returns the lowest address that can be of the calling thread's stack: it is not known.
pub fn own_stack_start(_end: u64) -> Option<u64> {
    None
}

/// Returns the address after the calling thread's stack: it is not known.
pub fn own_stack_end() -> Option<u64> {
    None
}

/// Returns the parts of this process's memory that can be written: they are not known.
pub fn data_ranges() -> Vec<Range<u64>> {
    Vec::new()
}

/// Returns the parts of this process's memory that hold code: they are not known.
pub fn code_mappings() -> Vec<CodeMapping> {
    Vec::new()
}

/// A bell: there is none.
#[derive(Debug, Clone, Copy)]
pub struct Bell(std::convert::Infallible);

impl Bell {
    /// Returns that there is none.
    pub fn new() -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Rings.
    pub fn ring(self) {
        match self.0 {}
    }

    /// Waits for a ring.
    pub fn wait(self, _limit: Option<Duration>) {
        match self.0 {}
    }
}

/// The bytes of a file of code: there is none.
#[derive(Debug)]
pub struct MappedFile(std::convert::Infallible);

impl MappedFile {
    /// Returns that there is none.
    pub fn of_code(_mapping: &CodeMapping) -> Option<Self> {
        None
    }
}

impl Deref for MappedFile {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self.0 {}
    }
}

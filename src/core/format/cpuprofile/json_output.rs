//! JSON that is written piece by piece.

use std::io::{self, Write};

use serde::Serialize;

use crate::format::ascii_json::encode;

/// The count of bytes that are written at once.
const PIECE_BYTES: usize = 64 << 10;

/// JSON in ASCII, as V8 writes it since Node 22: viewers read it faster.
pub(super) struct JsonOutput<'a, W> {
    out: &'a mut W,
    bytes: Vec<u8>,
}

impl<'a, W: Write> JsonOutput<'a, W> {
    pub(super) fn new(out: &'a mut W) -> Self {
        Self { out, bytes: Vec::with_capacity(2 * PIECE_BYTES) }
    }

    /// Writes text as it is.
    pub(super) fn raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() >= PIECE_BYTES { self.flush() } else { Ok(()) }
    }

    pub(super) fn value(&mut self, value: &impl Serialize) -> io::Result<()> {
        encode(&mut self.bytes, value);
        self.raw(b"")
    }

    pub(super) fn list(
        &mut self,
        values: impl IntoIterator<Item = impl Serialize>,
    ) -> io::Result<()> {
        self.raw(b"[")?;
        for (index, value) in values.into_iter().enumerate() {
            if index > 0 {
                self.raw(b",")?;
            }
            self.value(&value)?;
        }
        self.raw(b"]")
    }

    /// Writes what is left.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(&self.bytes)?;
        self.bytes.clear();
        Ok(())
    }
}

//! A reader for tests, which gives few bytes at a time.

use std::io::{self, Read};

/// Gives so many bytes of a text at a time, so that each item is cut somewhere.
pub struct Pieces<'a>(pub &'a [u8], pub usize);

impl Read for Pieces<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let length = self.1.min(self.0.len()).min(out.len());
        out[..length].copy_from_slice(&self.0[..length]);
        self.0 = &self.0[length..];
        Ok(length)
    }
}

//! Writes the fields of a message.

use std::io::{self, Write};

use prost::Message;
use prost::encoding::{WireType, encode_key, encode_varint, int64};

/// Writes the fields of a message one by one, so that only one of them is in memory.
pub(super) struct FieldWriter<'a> {
    out: &'a mut dyn Write,
    buffer: Vec<u8>,
}

impl<'a> FieldWriter<'a> {
    pub(super) fn new(out: &'a mut dyn Write) -> Self {
        Self { out, buffer: Vec::new() }
    }
}

impl FieldWriter<'_> {
    pub(super) fn message(&mut self, tag: u32, message: &impl Message) -> io::Result<()> {
        self.buffer.clear();
        encode_key(tag, WireType::LengthDelimited, &mut self.buffer);
        encode_varint(message.encoded_len() as u64, &mut self.buffer);
        message.encode_raw(&mut self.buffer);
        self.out.write_all(&self.buffer)
    }

    pub(super) fn bytes(&mut self, tag: u32, bytes: &[u8]) -> io::Result<()> {
        self.buffer.clear();
        encode_key(tag, WireType::LengthDelimited, &mut self.buffer);
        encode_varint(bytes.len() as u64, &mut self.buffer);
        self.buffer.extend_from_slice(bytes);
        self.out.write_all(&self.buffer)
    }

    pub(super) fn number(&mut self, tag: u32, number: i64) -> io::Result<()> {
        self.buffer.clear();
        int64::encode(tag, &number, &mut self.buffer);
        self.out.write_all(&self.buffer)
    }
}

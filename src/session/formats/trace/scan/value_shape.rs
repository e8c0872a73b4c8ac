//! Follows the strings and brackets of a JSON value, piece by piece, to find the value's end.

use std::mem;

use memchr::memchr3;

/// The state between two pieces of a value.
#[derive(Debug, Default)]
pub(super) struct ValueShape {
    depth: usize,
    in_string: bool,
    is_escaped: bool,
    /// Whether the value is a number, `true`, `false` or `null`.
    in_word: bool,
}

/// The result of a piece.
pub(super) enum PieceEnd {
    /// The value goes on.
    More,
    /// The value ends after this count of the piece's bytes.
    End(usize),
    /// The piece has bytes that no JSON value has there.
    Broken,
}

impl ValueShape {
    pub(super) fn follow(&mut self, bytes: &[u8]) -> PieceEnd {
        let mut at = 0;
        while at < bytes.len() {
            if self.in_string {
                if mem::take(&mut self.is_escaped) {
                    at += 1;
                    continue;
                }
                match memchr3(b'"', b'\\', b'\n', &bytes[at..]) {
                    None => return PieceEnd::More,
                    Some(found) => at += found + 1,
                }
                match bytes[at - 1] {
                    b'"' => {
                        self.in_string = false;
                        if self.depth == 0 {
                            return PieceEnd::End(at);
                        }
                    }
                    b'\\' => self.is_escaped = true,
                    // A string has no raw line end: the string was cut, and another text follows.
                    _ => return PieceEnd::Broken,
                }
                continue;
            }
            match CLASSES[bytes[at] as usize] {
                ByteClass::Word => {
                    if self.depth == 0 {
                        self.in_word = true;
                    }
                }
                ByteClass::Quote if self.in_word => return PieceEnd::End(at),
                ByteClass::Quote => self.in_string = true,
                ByteClass::Open => self.depth += 1,
                ByteClass::Close if self.depth == 0 => {
                    return if self.in_word { PieceEnd::End(at) } else { PieceEnd::Broken };
                }
                ByteClass::Close => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return PieceEnd::End(at + 1);
                    }
                }
                ByteClass::Separator if self.depth == 0 => {
                    return if self.in_word { PieceEnd::End(at) } else { PieceEnd::Broken };
                }
                ByteClass::Separator => {}
                ByteClass::Never => return PieceEnd::Broken,
            }
            at += 1;
        }
        PieceEnd::More
    }
}

/// The part that a byte has in JSON, outside of strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ByteClass {
    Word,
    Quote,
    Open,
    Close,
    /// White space and commas.
    Separator,
    /// Bytes that stand nowhere in JSON.
    Never,
}

const CLASSES: [ByteClass; 256] = {
    let mut classes = [ByteClass::Word; 256];
    let mut byte = 0;
    while byte < 0x20 {
        classes[byte] = ByteClass::Never;
        byte += 1;
    }
    classes[b'"' as usize] = ByteClass::Quote;
    classes[b'{' as usize] = ByteClass::Open;
    classes[b'[' as usize] = ByteClass::Open;
    classes[b'}' as usize] = ByteClass::Close;
    classes[b']' as usize] = ByteClass::Close;
    classes[b',' as usize] = ByteClass::Separator;
    classes[b' ' as usize] = ByteClass::Separator;
    classes[b'\t' as usize] = ByteClass::Separator;
    classes[b'\r' as usize] = ByteClass::Separator;
    classes[b'\n' as usize] = ByteClass::Separator;
    classes
};

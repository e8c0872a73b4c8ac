//! Native functions: the module that a function is in, and the name that stands for its address.

use std::fmt;

/// The most bytes of an id.
const MAX_BYTES: usize = 20;

/// What identifies the build of a module: the id that its linker gave it, or else a hash of its code.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BuildId {
    bytes: [u8; MAX_BYTES],
    length: u8,
}

impl BuildId {
    /// Returns an id, of which the first 20 bytes count.
    pub fn new(id: &[u8]) -> Self {
        let id = &id[..id.len().min(MAX_BYTES)];
        let mut bytes = [0; MAX_BYTES];
        bytes[..id.len()].copy_from_slice(id);
        Self { bytes, length: id.len() as u8 }
    }

    /// Reads an id in hexadecimal digits; none if the text is not one.
    pub fn parse(text: &str) -> Option<Self> {
        let is_id = !text.is_empty() && text.len() <= 2 * MAX_BYTES && text.len().is_multiple_of(2);
        if !is_id || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        let byte = |at: usize| u8::from_str_radix(text.get(at..at + 2)?, 16).ok();
        let bytes: Option<Vec<u8>> = (0..text.len()).step_by(2).map(byte).collect();
        Some(Self::new(&bytes?))
    }

    /// Returns whether there is an id.
    pub fn is_known(&self) -> bool {
        self.length > 0
    }
}

impl fmt::Display for BuildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.bytes[..usize::from(self.length)].iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for BuildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What stands between a module and the address of a function.
const FUNCTION: &str = "+0x";
/// What stands between a module and an address in a function whose beginning is not known.
const WITHIN: &str = "~0x";

/// End of the name of functions whose names and beginnings are not known.
const NO_TABLE: &str = " (no table)";

/// Returns the name of a function whose own name is not known yet: `libz.so.1+0x2f40`. `address` counts as in
/// the module's file.
pub fn address_name(module: &str, address: u64) -> String {
    format!("{}{FUNCTION}{address:x}", file_name(module))
}

/// Returns the name of a function of which an address is known, and not the beginning: `libz.so.1~0x2f40`.
pub(crate) fn name_within(module: &str, address: u64) -> String {
    format!("{}{WITHIN}{address:x}", file_name(module))
}

/// Returns the name that all functions of a module have whose names and beginnings are not known:
/// `libz.so.1 (no table)`. None if the function is another.
pub(crate) fn name_without_table(name: &str) -> Option<String> {
    address_of(name).and_then(|_| Some(format!("{}{NO_TABLE}", name.rsplit_once(WITHIN)?.0)))
}

/// Returns whether a native function has a name of its own.
pub fn is_named(name: &str) -> bool {
    address_of(name).is_none() && !name.ends_with(NO_TABLE)
}

fn file_name(module: &str) -> &str {
    module.rsplit('/').next().unwrap_or(module)
}

/// Returns the address that a function's name tells; none if the function has a name of its own.
pub fn address_of(name: &str) -> Option<u64> {
    let (_, digits) = name.rsplit_once(FUNCTION).or_else(|| name.rsplit_once(WITHIN))?;
    u64::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_written_and_read() {
        for text in ["9e93af54c5b6dbc7be9d3b953bd206201fb663be", "00", "0aff"] {
            assert_eq!(BuildId::parse(text).unwrap().to_string(), text);
        }
        for text in ["", "0", "0g", "+1", &"00".repeat(21), "é"] {
            assert_eq!(BuildId::parse(text), None, "{text}");
        }
        assert_eq!(BuildId::new(&[7; 64]).to_string(), "07".repeat(20));
        assert!(!BuildId::default().is_known() && BuildId::new(&[0]).is_known());
    }

    #[test]
    fn an_address_stands_for_a_name() {
        assert_eq!(address_name("/usr/lib/libz.so.1", 0x2f40), "libz.so.1+0x2f40");
        let within = name_within("/usr/lib/libz.so.1", 0x2f40);
        assert_eq!(within, "libz.so.1~0x2f40");
        assert_eq!(name_without_table(&within).unwrap(), "libz.so.1 (no table)");
        assert_eq!(name_without_table("libz.so.1+0x2f40"), None);
        assert_eq!(name_without_table("a~0xg"), None);
        let names = ["libz.so.1+0x2f40", "libz.so.1~0x2f40", "libz.so.1 (no table)", "deflate"];
        assert_eq!(names.map(is_named), [false, false, false, true]);
        for (name, address) in [
            ("libz.so.1+0x2f40", Some(0x2f40)),
            ("a+0x1+0x2", Some(2)),
            ("libz.so.1~0x2f40", Some(0x2f40)),
            ("deflate", None),
            ("a+0x", None),
            ("a+0xg", None),
            ("a+0x10000000000000000", None),
        ] {
            assert_eq!(address_of(name), address, "{name}");
        }
    }
}

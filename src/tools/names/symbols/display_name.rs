//! The names of functions as people read them.

use std::fmt::{self, Write};

use cpp_demangle::{BorrowedSymbol, DemangleOptions, ParseOptions};

use super::function_path::function_path;
use super::shortened::{shorten_cpp, shorten_rust};

/// Characters of a name that are shown.
const MAX_SHOWN: usize = 300;
/// The most bytes of a name that is decoded, encoded and decoded. Few hundred bytes can stand for gigabytes.
const MAX_ENCODED: usize = 2048;
const MAX_DECODED: usize = 1 << 14;

/// What compilers append to the names of parts and copies of functions, before a number.
const PARTS: [&str; 9] =
    ["cold", "part", "constprop", "isra", "lto_priv", "llvm", "localalias", "clone", "warm"];

/// Returns the name that is shown for a symbol.
pub(super) fn display_name(symbol: &str) -> String {
    let symbol = without_parts(symbol);
    let name = decoded(symbol).unwrap_or_else(|| symbol.to_owned());
    let name = name.replace(char::is_control, "\u{fffd}");
    match name.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name,
    }
}

/// Returns an order of names of one function: the most readable first.
pub(super) fn readability(symbol: &str) -> (usize, usize, String) {
    let is_encoded = ["_Z", "_R"].iter().any(|start| symbol.starts_with(start));
    let underscores = symbol.bytes().take_while(|byte| *byte == b'_').count();
    let underscores = if is_encoded { 0 } else { underscores };
    (underscores, symbol.len(), symbol.to_owned())
}

/// Returns a symbol without its version and without what names a part of a function.
fn without_parts(symbol: &str) -> &str {
    let mut rest = match symbol.split_once('@') {
        Some((name, _)) if !name.is_empty() => name,
        _ => symbol,
    };
    while let Some((before, last)) = rest.rsplit_once('.') {
        let is_number = !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit());
        let part = match before.rsplit_once('.') {
            Some((whole, part)) if is_number => Some((whole, part)),
            _ => Some((before, last)),
        };
        match part {
            Some((whole, part)) if PARTS.contains(&part) && !whole.is_empty() => rest = whole,
            _ => break,
        }
    }
    rest
}

/// Returns the name that a symbol encodes, shortened; none if it encodes none.
fn decoded(symbol: &str) -> Option<String> {
    if symbol.len() > MAX_ENCODED {
        return None;
    }
    let mut text = LimitedText::default();
    if symbol.starts_with("_R") || has_rust_hash(symbol) {
        let name = rustc_demangle::try_demangle(symbol).ok()?;
        write!(text, "{name:#}").ok()?;
        return Some(shorten_rust(&text.text));
    }
    let target = thunk_target(symbol);
    let symbol = target.as_deref().unwrap_or(symbol);
    if !symbol.starts_with("_Z") {
        return None;
    }
    let options =
        DemangleOptions::new().no_params().no_return_type().hide_expression_literal_types();
    let parsed = BorrowedSymbol::new_with_options(symbol.as_bytes(), &ParseOptions::default()).ok();
    let is_decoded =
        parsed.is_some_and(|parsed| parsed.structured_demangle(&mut text, &options).is_ok());
    if is_decoded { Some(shorten_cpp(&text.text)) } else { function_path(symbol) }
}

/// Returns the function that a piece of code before it calls with another object: `_ZThn16_N3Foo3barEv`.
fn thunk_target(symbol: &str) -> Option<String> {
    let (numbers, rest) = match symbol.strip_prefix("_ZTh") {
        Some(rest) => (1, rest),
        None => (2, symbol.strip_prefix("_ZTv")?),
    };
    Some(format!("_Z{}", rest.splitn(numbers + 1, '_').nth(numbers)?))
}

/// Returns whether a symbol ends with the hash of Rust's older names: `17h0123456789abcdefE`.
fn has_rust_hash(symbol: &str) -> bool {
    let hash = symbol.strip_suffix('E').and_then(|rest| rest.rsplit_once("17h"));
    hash.is_some_and(|(_, hash)| {
        hash.len() == 16 && hash.bytes().all(|digit| digit.is_ascii_hexdigit())
    })
}

/// A text of limited length.
#[derive(Debug, Default)]
struct LimitedText {
    text: String,
}

impl Write for LimitedText {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.text.len() + text.len() > MAX_DECODED {
            return Err(fmt::Error);
        }
        self.text.push_str(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_decoded_and_shortened() {
        for (symbol, name) in [
            ("memcpy@@GLIBC_2.14", "memcpy"),
            ("@", "@"),
            ("deflate", "deflate"),
            ("f.part.0.constprop.12.cold", "f"),
            ("f.cold.3", "f"),
            (".cold", ".cold"),
            ("a.b.1", "a.b.1"),
            ("_ZN4node5StartEiPPc", "node::Start"),
            ("_ZNKSt6vectorIiSaIiEE5emptyEv", "std::vector<…>::empty"),
            ("_ZNSt6vectorIiSaIiEE9push_backEOi.isra.0", "std::vector<…>::push_back"),
            ("_ZN12_GLOBAL__N_13runEv", "(anonymous namespace)::run"),
            ("_ZlsRSoRK3Foo", "operator<<"),
            ("_ZN3FooclEi", "Foo::operator()"),
            ("_ZN3FoocvbEv", "Foo::operator bool"),
            ("_ZZN1a1bEvENKUlvE_clEv", "a::b::{lambda#1}::operator()"),
            ("_ZThn16_N3Foo3barEv", "Foo::bar"),
            ("_ZTv0_n24_N3Foo3barEv", "Foo::bar"),
            ("_Znot mangled", "_Znot mangled"),
            (
                "_ZN4core3ptr42drop_in_place$LT$alloc..string..String$GT$17h0123456789abcdefE",
                "core::ptr::drop_in_place<…>",
            ),
            (
                "_ZN66_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..ops..drop..Drop$GT$4drop17h0123456789abcdefE",
                "<alloc::vec::Vec<…> as core::ops::drop::Drop>::drop",
            ),
            ("_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar"),
            ("_RINvNtCs1234_7mycrate3foo3barlE", "mycrate::foo::bar<…>"),
        ] {
            assert_eq!(display_name(symbol), name, "{symbol}");
        }
    }

    #[test]
    fn long_names_are_cut() {
        assert_eq!(display_name(&"é".repeat(301)), format!("{}…", "é".repeat(300)));
        assert_eq!(display_name("a\nb\u{1b}"), "a\u{fffd}b\u{fffd}");
        // Each part names all before it twice.
        let mut bomb = "_Z1fI1aE".to_owned();
        for number in 0..60 {
            bomb.push_str(&format!(
                "1bIS{0}_S{0}_E",
                if number == 0 { String::new() } else { format!("{number:X}") }
            ));
        }
        assert!(display_name(&bomb).chars().count() <= 301);
    }
}

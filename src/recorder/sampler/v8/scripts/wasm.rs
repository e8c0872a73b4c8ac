//! Code of WebAssembly, which V8 reports with the name of its function.

use std::collections::BTreeMap;

use parking_lot::Mutex;

/// The most pieces of code that are remembered.
const MAX_CODES: usize = 200_000;
/// The longest name, bytes.
const MAX_NAME: usize = 1024;

/// The code that V8 has reported on one thread.
#[derive(Debug, Default)]
pub(crate) struct WasmCode {
    codes: Mutex<BTreeMap<u64, WasmPiece>>,
}

#[derive(Debug)]
struct WasmPiece {
    /// Address behind the code.
    end: u64,
    name: String,
}

impl WasmCode {
    /// Adds code, instead of what was where it is now. `reported` is the name as V8 reports it.
    pub(super) fn add(&self, start: u64, length: u64, reported: &[u8]) {
        let mut codes = self.codes.lock();
        if codes.len() < MAX_CODES || codes.contains_key(&start) {
            codes.insert(
                start,
                WasmPiece { end: start.saturating_add(length), name: function_name(reported) },
            );
        }
    }

    /// Returns where the code around an address begins, and the name of its function.
    pub(crate) fn find(&self, address: u64) -> Option<(u64, String)> {
        let codes = self.codes.lock();
        let (start, code) = codes.range(..=address).next_back()?;
        (address < code.end).then(|| (*start, code.name.clone()))
    }
}

/// Returns the name of a function by V8's name of its code: `Function:fib-3-turbofan`, with the number of the function
/// and in some versions the tier. A function without a name is `wasm-function[3]`, as in V8's profiles.
fn function_name(reported: &[u8]) -> String {
    let text = String::from_utf8_lossy(reported.get(..MAX_NAME).unwrap_or(reported));
    let text = text.split_once(':').map_or(&*text, |(_, rest)| rest);
    let text = TIERS.iter().find_map(|tier| text.strip_suffix(tier)).unwrap_or(text);
    let is_number =
        |number: &str| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    match text.rsplit_once('-') {
        Some((UNNAMED, number)) if is_number(number) => format!("wasm-function[{number}]"),
        Some((name, number)) if is_number(number) => name.to_owned(),
        _ => text.to_owned(),
    }
}

const TIERS: [&str; 2] = ["-liftoff", "-turbofan"];
const UNNAMED: &str = "<wasm-unknown>";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_found_by_an_address_in_it_and_has_the_name_of_its_function() {
        let codes = WasmCode::default();
        codes.add(100, 10, b"Function:fib-3-turbofan");
        codes.add(120, 10, b"<wasm-unknown>-12");
        codes.add(120, 5, b"Function:a-b-c");
        let found = |address| codes.find(address).map(|(start, name)| format!("{start} {name}"));
        assert_eq!(found(109).as_deref(), Some("100 fib"));
        assert_eq!(found(124).as_deref(), Some("120 a-b-c"));
        assert_eq!([found(99), found(110), found(125)], [None, None, None]);
    }

    #[test]
    fn names_are_those_of_functions() {
        for (reported, name) in [
            ("Function:<wasm-unknown>-0", "wasm-function[0]"),
            ("Function:wasm-function[7]-7-liftoff", "wasm-function[7]"),
            ("js-to-wasm:i:i", "i:i"),
            ("", ""),
        ] {
            assert_eq!(function_name(reported.as_bytes()), name);
        }
    }
}

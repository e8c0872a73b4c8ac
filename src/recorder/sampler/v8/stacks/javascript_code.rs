//! Where the code of JavaScript is in memory.

use std::ffi::c_void;
use std::ops::Range;
use std::ptr;

use super::super::symbols::{self, Isolate, exported};

exported! {
    /// The functions that tell where code is.
    CodeApi
    embedded_range:
        c"_ZN2v87Isolate20GetEmbeddedCodeRangeEPPKvPm"
        c"?GetEmbeddedCodeRange@Isolate@v8@@QEAAXPEAPEBXPEA_K@Z"
        fn(*mut Isolate, *mut *const c_void, *mut usize);
    code_range:
        c"_ZN2v87Isolate12GetCodeRangeEPPvPm"
        c"?GetCodeRange@Isolate@v8@@QEAAXPEAPEAXPEA_K@Z"
        fn(*mut Isolate, *mut *mut c_void, *mut usize);
}

/// The addresses of an isolate's code.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct JavaScriptCode {
    /// V8's built-in functions, and the functions that V8 has compiled. WebAssembly is elsewhere.
    ranges: [Range<u64>; 2],
}

impl JavaScriptCode {
    /// Returns the code of the calling thread's isolate; none if V8 does not tell.
    pub(crate) fn of_this_thread() -> Option<Self> {
        let isolate = symbols::current_isolate(symbols::api().ok()?)?;
        let api = CodeApi::find().ok()?;
        let (mut embedded, mut code) = (ptr::null(), ptr::null_mut());
        let (mut embedded_bytes, mut code_bytes) = (0, 0);
        // SAFETY: this is the isolate's own thread. V8 fills the four variables.
        unsafe {
            (api.embedded_range)(isolate, &mut embedded, &mut embedded_bytes);
            (api.code_range)(isolate, &mut code, &mut code_bytes);
        }
        let range = |start: u64, bytes: usize| start..start.saturating_add(bytes as u64);
        let ranges = [range(embedded as u64, embedded_bytes), range(code as u64, code_bytes)];
        // Without a compiler, V8 has no code but the built-in functions.
        (!ranges[0].is_empty()).then_some(Self { ranges })
    }

    /// Returns the addresses of V8's built-in functions, and of the functions that V8 has compiled.
    pub(crate) fn into_ranges(self) -> [Range<u64>; 2] {
        self.ranges
    }

    /// Returns whether an address is one of JavaScript's code. May be called in a signal handler.
    pub(crate) fn contains(&self, address: u64) -> bool {
        self.ranges.iter().any(|range| range.contains(&address))
    }

    /// Returns code at these addresses.
    #[cfg(test)]
    pub(crate) fn made(range: Range<u64>) -> Self {
        Self { ranges: [range.clone(), range] }
    }
}

//! Loads the library of the tools into a process that records.
#![allow(unsafe_code)]

use std::ffi::CStr;
use std::mem;
use std::path::{Path, PathBuf};

use libloading::Library;

use super::platform::own_library;
use crate::base::push_request::PushFunction;

/// A function of a library that stays loaded.
#[derive(Debug, Clone, Copy)]
pub struct NeighbourFunction(PushFunction);

impl NeighbourFunction {
    /// Loads a library, and finds a function of this type in it. The library must be of this package. The
    /// error is the system's.
    pub fn load(library: &Path, name: &CStr) -> Result<Self, String> {
        // SAFETY: may be called on any thread. The library is of this package, and only registers
        // functions of Node-API when it is loaded. The function has this type there too.
        let function = unsafe {
            let loaded = Library::new(library).map_err(|error| error.to_string())?;
            let function = loaded.get::<PushFunction>(name).map(|symbol| *symbol);
            // A library with threads must stay.
            mem::forget(loaded);
            function.map_err(|error| error.to_string())?
        };
        Ok(Self(function))
    }

    /// Calls the function.
    pub fn call(self, request: &[u8]) -> i64 {
        // SAFETY: the bytes stay as they are during the call.
        unsafe { (self.0)(request.as_ptr(), request.len()) }
    }
}

/// Returns the library beside that of this code whose name has another beginning; none if this code's name
/// begins otherwise.
pub fn neighbour(own_beginning: &str, beginning: &str) -> Option<PathBuf> {
    let own = own_library()?;
    let rest = own.file_name()?.to_str()?.strip_prefix(own_beginning)?;
    Some(own.with_file_name(format!("{beginning}{rest}")))
}

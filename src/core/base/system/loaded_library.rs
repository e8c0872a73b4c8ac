//! Loads a library of this project into a process that records.
#![allow(unsafe_code)]

use std::ffi::CStr;
use std::mem;
use std::path::Path;

use libloading::Library;

use crate::base::push_request::PushFunction;

/// A function of a library that stays loaded.
#[derive(Debug, Clone, Copy)]
pub struct LibraryFunction(PushFunction);

impl LibraryFunction {
    /// Loads a library, and finds a function of this type in it. The library must be of this project. The
    /// error is the system's.
    pub fn load(library: &Path, name: &CStr) -> Result<Self, String> {
        // SAFETY: may be called on any thread. The library is of this project, and only registers
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

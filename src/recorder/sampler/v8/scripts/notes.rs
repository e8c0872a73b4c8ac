//! What was noted of a thread's scripts, on its way to the writer thread.

use std::sync::Arc;

use parking_lot::Mutex;

use super::wasm::WasmCode;
use crate::sampler::v8::reach::RunningFunction;

/// A source map of a script.
#[derive(Debug)]
pub(crate) struct ScriptMap {
    /// V8's id of the script.
    pub script_id: u32,
    /// The `data:` URL of the map.
    pub url: String,
}

/// A text, and the function that compiled it, at the line of the call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CompiledText {
    /// V8's id of the text.
    pub script_id: u32,
    /// The function.
    pub compiler: RunningFunction,
}

/// Source maps, and who compiled texts.
#[derive(Debug, Default)]
pub(crate) struct ScriptNotes {
    maps: Mutex<Vec<ScriptMap>>,
    texts: Mutex<Vec<CompiledText>>,
    /// Code of WebAssembly.
    pub wasm: Arc<WasmCode>,
}

impl ScriptNotes {
    /// Adds maps.
    pub(crate) fn add_maps(&self, maps: impl IntoIterator<Item = ScriptMap>) {
        self.maps.lock().extend(maps);
    }

    /// Adds texts.
    pub(crate) fn add_texts(&self, texts: impl IntoIterator<Item = CompiledText>) {
        self.texts.lock().extend(texts);
    }

    /// Takes the maps of the scripts that were compiled since the last call.
    pub(crate) fn take_maps(&self) -> Vec<ScriptMap> {
        std::mem::take(&mut self.maps.lock())
    }

    /// Takes the texts that were compiled since the last call.
    pub(crate) fn take_texts(&self) -> Vec<CompiledText> {
        std::mem::take(&mut self.texts.lock())
    }
}

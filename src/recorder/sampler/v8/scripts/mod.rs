//! What V8 knows of a script only while it compiles it: a source map that stands in the code, and the place that
//! compiled a text without a name.

mod handler;
mod maps;
mod notes;
mod texts;
mod wasm;

#[cfg(test)]
pub(super) use self::handler::HandlerApi;
pub(crate) use self::handler::ScriptHandler;
pub(crate) use self::handler::forget_environment;
pub(crate) use self::notes::{CompiledText, ScriptMap, ScriptNotes};
#[cfg(test)]
pub(super) use self::texts::TextApi;
pub(crate) use self::wasm::WasmCode;

//! The script of a worker, which Node puts into `process.argv` only after the preload.

use napi::Env;
use napi::bindgen_prelude::{JsObjectValue, Object, ObjectRef};

/// The `process.argv` of a worker whose script may not be known yet.
pub(crate) struct PendingScript {
    env: Env,
    argv: ObjectRef<false>,
    /// Length of the array before Node adds the script.
    length: u32,
}

impl PendingScript {
    /// Keeps a reference to the `process.argv` of the calling thread.
    pub(crate) fn new(env: &Env, argv: Object<'_>) -> Option<Self> {
        let length = argv.get_array_length().ok()?;
        let argv = argv.create_ref().ok()?;
        Some(Self { env: *env, argv, length })
    }

    /// Releases the array.
    pub(super) fn release(self) {
        // If this fails, the reference stays until the environment ends.
        let _ = self.argv.unref(&self.env);
    }

    /// Returns the script, once Node has added it. Reading an element of an array runs no JavaScript.
    pub(super) fn get(&self) -> Option<String> {
        let script = self.env.run_in_scope(|| {
            let argv = self.argv.get_value(&self.env)?;
            let is_added = argv.get_array_length()? > self.length;
            if is_added { argv.get_element::<Option<String>>(1) } else { Ok(None) }
        });
        script.ok().flatten()
    }
}

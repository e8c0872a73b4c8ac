//! Which script a worker runs: Node puts it into `process.argv` only after the preload.

use napi::Env;
use napi::bindgen_prelude::{JsObjectValue, Object, ObjectRef};

/// `process.argv` of a worker that may not have its script yet.
pub(crate) struct PendingScript {
    env: Env,
    argv: ObjectRef<false>,
    length: u32,
}

impl PendingScript {
    /// For the `process.argv` of the calling thread.
    pub(crate) fn new(env: &Env, argv: Object<'_>) -> Option<Self> {
        let length = argv.get_array_length().ok()?;
        let argv = argv.create_ref().ok()?;
        Some(Self { env: *env, argv, length })
    }

    /// Gives the array back.
    pub(crate) fn forget(self) {
        // A reference that stays until the environment ends is the worst that can come of it.
        let _ = self.argv.unref(&self.env);
    }

    /// The script, once it is there. Reading an element of an array runs no JavaScript.
    pub(crate) fn get(&self) -> Option<String> {
        let script = self.env.run_in_scope(|| {
            let argv = self.argv.get_value(&self.env)?;
            let come = argv.get_array_length()? > self.length;
            if come { argv.get_element::<Option<String>>(1) } else { Ok(None) }
        });
        script.ok().flatten()
    }
}

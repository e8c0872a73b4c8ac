//! Offers a function of the addon to the workers of an environment, where no file is loaded for it.
//!
//! Node looks for a linked binding in a worker's environment first, and then in those of its parents.
//! In the worker, `process._linkedBinding(name)` is the binding. Loading the addon's file instead would
//! wait for a lock that Node holds while any addon is being loaded: for ever, on a thread that holds it.

use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::OnceLock;

use napi::Env;
use napi::bindgen_prelude::{FromNapiValue, Object};
use napi::sys::{self as napi_sys, napi_callback_info, napi_env, napi_value};

use crate::sampler::v8::symbols::{self, Environment, current_environment, exported};
use cpu_prof_core::base::error::Error;

/// A function that workers call with one argument, an object.
pub(crate) type WorkerFunction = fn(&Env, Object<'_>);

/// The property of the binding that is the function. Profiles name native functions only.
const NAME: &CStr = c"cpuProfRecordCovered";

/// The version of Node-API that the function uses.
const NODE_API_VERSION: i32 = 8;

type Init = unsafe extern "C" fn(napi_env, napi_value) -> napi_value;

exported! {
    /// Node's function that adds a binding.
    BindingApi
    add:
        c"_ZN4node16AddLinkedBindingEPNS_11EnvironmentEPKcPFP12napi_value__P10napi_env__S5_Ei"
        c"?AddLinkedBinding@node@@YAXPEAVEnvironment@1@PEBDP6APEAUnapi_value__@@PEAUnapi_env__@@PEAU3@@ZH@Z"
        fn(*mut Environment, *const c_char, Init, i32);
}

static FUNCTION: OnceLock<WorkerFunction> = OnceLock::new();

/// Offers `function` to the workers that have the calling thread's environment as a parent, under a
/// name that must be offered once in an environment. The function is the same in the whole process.
pub(crate) fn offer(name: &'static CStr, function: WorkerFunction) -> Result<(), Error> {
    let missing = || Error::Unavailable("this Node.js does not let workers be reached".into());
    let api = BindingApi::find().map_err(|_| missing())?;
    let environment = current_environment(symbols::api()?).ok_or_else(missing)?;
    FUNCTION.get_or_init(|| function);
    // SAFETY: this is the environment's thread. Node keeps the name and the function, which both stay.
    unsafe { (api.add)(environment.as_ptr(), name.as_ptr(), init, NODE_API_VERSION) };
    Ok(())
}

/// Adds the function to the binding. Node calls this on the worker's thread, once in a worker.
unsafe extern "C" fn init(env: napi_env, exports: napi_value) -> napi_value {
    // SAFETY: Node calls this with a live environment, in a handle scope. A failed call changes
    // nothing, and the worker then finds no function.
    unsafe {
        let mut function = ptr::null_mut();
        let length = NAME.count_bytes() as isize;
        let name = NAME.as_ptr();
        let data = ptr::null_mut();
        napi_sys::napi_create_function(env, name, length, Some(call), data, &mut function);
        napi_sys::napi_set_named_property(env, exports, name, function);
    }
    exports
}

/// Calls the function with the first argument.
unsafe extern "C" fn call(env: napi_env, info: napi_callback_info) -> napi_value {
    let handle = || {
        let mut argument = ptr::null_mut();
        // SAFETY: Node calls this with a live environment, in a handle scope. A missing argument is
        // undefined.
        let argument = unsafe {
            let (this, data) = (ptr::null_mut(), ptr::null_mut());
            napi_sys::napi_get_cb_info(env, info, &mut 1, &mut argument, this, data);
            Object::from_napi_value(env, argument)
        };
        if let (Some(function), Ok(argument)) = (FUNCTION.get(), argument) {
            function(&Env::from_raw(env), argument);
        }
    };
    // Unwinding into C++ would end the process.
    let _ = catch_unwind(AssertUnwindSafe(handle));
    ptr::null_mut()
}

//! The exported C++ functions of V8 and Node, found by their mangled names at run time.
//!
//! The names are the same from Node 18 to 26. In the calling conventions of x86-64 and AArch64 a
//! C++ method takes `this` as its first argument, and a `v8::Local` is passed as a pointer.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr::NonNull;

use cpu_prof_core::base::error::Error;

/// Defines types of V8 and Node that are used behind a pointer only.
macro_rules! opaque {
    ($($name:ident)*) => { $(
        #[repr(C)]
        pub(crate) struct $name { _opaque: [u8; 0] }
    )* };
}
opaque!(Isolate Environment CpuProfiler CpuProfile CpuProfileNode);

/// The bits of a `v8::Local`.
pub(super) type Local = *mut c_void;

/// A callback that Node calls on the environment's thread, with the data it was given.
pub(crate) type Callback = extern "C" fn(*mut c_void);

/// `v8::Isolate::GCCallbackWithData`: isolate, `GCType`, `GCCallbackFlags`, data.
pub(super) type GcCallback = extern "C" fn(*mut Isolate, c_int, c_int, *mut c_void);

/// `CpuProfilingNamingMode::kDebugNaming`, which the inspector uses too.
pub(super) const DEBUG_NAMING: c_int = 1;
/// `CpuProfilingLoggingMode::kEagerLogging`
pub(super) const EAGER_LOGGING: c_int = 1;
/// `CpuProfilingMode::kLeafNodeLineNumbers`
pub(super) const LEAF_NODE_LINE_NUMBERS: c_int = 0;
/// `CpuProfilingStatus::kStarted`
pub(super) const STARTED: c_int = 0;

/// Defines a struct of exported functions.
macro_rules! exported {
    ($(#[$doc:meta])* $name:ident
     $($field:ident: $symbol:literal fn($($arg:ty),*) $(-> $ret:ty)?;)*) => {
        $(#[$doc])*
        pub(crate) struct $name { $(pub $field: unsafe extern "C" fn($($arg),*) $(-> $ret)?,)* }

        impl $name {
            /// Looks up all functions, once. The error is the first missing name.
            pub(super) fn find() -> Result<&'static Self, &'static str> {
                static API: std::sync::OnceLock<Result<$name, &'static str>> =
                    std::sync::OnceLock::new();
                let find = || Ok(Self { $($field: {
                    const NAME: &std::ffi::CStr = $symbol;
                    let address = $crate::sampler::v8::symbols::symbol(NAME)
                        .ok_or(NAME.to_str().unwrap_or_default())?;
                    // SAFETY: the mangled name spells out the parameters of the C++ function, and
                    // this type repeats them. A `v8::Local` is returned in a register.
                    unsafe {
                        std::mem::transmute::<
                            *mut std::ffi::c_void,
                            unsafe extern "C" fn($($arg),*) $(-> $ret)?,
                        >(address)
                    }
                },)* });
                API.get_or_init(find).as_ref().map_err(|name| *name)
            }
        }
    };
}
pub(super) use exported;

exported! {
    /// The functions that the profiler needs.
    Api
    isolate_try_get_current: c"_ZN2v87Isolate13TryGetCurrentEv" fn() -> *mut Isolate;
    isolate_get_current_context: c"_ZN2v87Isolate17GetCurrentContextEv" fn(*mut Isolate) -> Local;
    get_current_environment: c"_ZN4node21GetCurrentEnvironmentEN2v85LocalINS0_7ContextEEE"
        fn(Local) -> *mut Environment;
    request_interrupt: c"_ZN4node16RequestInterruptEPNS_11EnvironmentEPFvPvES2_"
        fn(*mut Environment, Callback, *mut c_void);
    at_exit: c"_ZN4node6AtExitEPNS_11EnvironmentEPFvPvES2_"
        fn(*mut Environment, Callback, *mut c_void);
    add_gc_prologue_callback: c"_ZN2v87Isolate21AddGCPrologueCallbackEPFvPS0_NS_6GCTypeENS_15GCCallbackFlagsEPvES4_S2_"
        fn(*mut Isolate, GcCallback, *mut c_void, c_int);
    add_gc_epilogue_callback: c"_ZN2v87Isolate21AddGCEpilogueCallbackEPFvPS0_NS_6GCTypeENS_15GCCallbackFlagsEPvES4_S2_"
        fn(*mut Isolate, GcCallback, *mut c_void, c_int);
    remove_gc_prologue_callback: c"_ZN2v87Isolate24RemoveGCPrologueCallbackEPFvPS0_NS_6GCTypeENS_15GCCallbackFlagsEPvES4_"
        fn(*mut Isolate, GcCallback, *mut c_void);
    remove_gc_epilogue_callback: c"_ZN2v87Isolate24RemoveGCEpilogueCallbackEPFvPS0_NS_6GCTypeENS_15GCCallbackFlagsEPvES4_"
        fn(*mut Isolate, GcCallback, *mut c_void);
    profiler_new: c"_ZN2v811CpuProfiler3NewEPNS_7IsolateENS_22CpuProfilingNamingModeENS_23CpuProfilingLoggingModeE"
        fn(*mut Isolate, c_int, c_int) -> *mut CpuProfiler;
    profiler_dispose: c"_ZN2v811CpuProfiler7DisposeEv" fn(*mut CpuProfiler);
    profiler_set_sampling_interval: c"_ZN2v811CpuProfiler19SetSamplingIntervalEi" fn(*mut CpuProfiler, c_int);
    profiler_start: c"_ZN2v811CpuProfiler14StartProfilingENS_5LocalINS_6StringEEENS_16CpuProfilingModeEbj"
        fn(*mut CpuProfiler, Local, c_int, bool, c_uint) -> c_int;
    profiler_stop: c"_ZN2v811CpuProfiler13StopProfilingENS_5LocalINS_6StringEEE"
        fn(*mut CpuProfiler, Local) -> *mut CpuProfile;
    profile_delete: c"_ZN2v810CpuProfile6DeleteEv" fn(*mut CpuProfile);
    profile_root: c"_ZNK2v810CpuProfile14GetTopDownRootEv" fn(*const CpuProfile) -> *const CpuProfileNode;
    profile_samples: c"_ZNK2v810CpuProfile15GetSamplesCountEv" fn(*const CpuProfile) -> c_int;
    profile_sample: c"_ZNK2v810CpuProfile9GetSampleEi" fn(*const CpuProfile, c_int) -> *const CpuProfileNode;
    profile_sample_time: c"_ZNK2v810CpuProfile18GetSampleTimestampEi" fn(*const CpuProfile, c_int) -> i64;
    profile_start_time: c"_ZNK2v810CpuProfile12GetStartTimeEv" fn(*const CpuProfile) -> i64;
    profile_end_time: c"_ZNK2v810CpuProfile10GetEndTimeEv" fn(*const CpuProfile) -> i64;
    node_function_name: c"_ZNK2v814CpuProfileNode18GetFunctionNameStrEv" fn(*const CpuProfileNode) -> *const c_char;
    node_resource_name: c"_ZNK2v814CpuProfileNode24GetScriptResourceNameStrEv" fn(*const CpuProfileNode) -> *const c_char;
    node_script_id: c"_ZNK2v814CpuProfileNode11GetScriptIdEv" fn(*const CpuProfileNode) -> c_int;
    node_line: c"_ZNK2v814CpuProfileNode13GetLineNumberEv" fn(*const CpuProfileNode) -> c_int;
    node_column: c"_ZNK2v814CpuProfileNode15GetColumnNumberEv" fn(*const CpuProfileNode) -> c_int;
    node_line_count: c"_ZNK2v814CpuProfileNode15GetHitLineCountEv" fn(*const CpuProfileNode) -> c_uint;
    node_line_ticks: c"_ZNK2v814CpuProfileNode12GetLineTicksEPNS0_8LineTickEj"
        fn(*const CpuProfileNode, *mut c_uint, c_uint) -> bool;
    node_bailout_reason: c"_ZNK2v814CpuProfileNode16GetBailoutReasonEv" fn(*const CpuProfileNode) -> *const c_char;
    node_id: c"_ZNK2v814CpuProfileNode9GetNodeIdEv" fn(*const CpuProfileNode) -> c_uint;
    node_children: c"_ZNK2v814CpuProfileNode16GetChildrenCountEv" fn(*const CpuProfileNode) -> c_int;
    node_child: c"_ZNK2v814CpuProfileNode8GetChildEi" fn(*const CpuProfileNode, c_int) -> *const CpuProfileNode;
}

/// Returns the functions of the process that loaded the addon.
pub(super) fn api() -> Result<&'static Api, Error> {
    Api::find().map_err(|symbol| {
        Error::Unavailable(format!(
            "this Node.js does not export V8's profiler (no symbol {symbol}); \
             try CPU_PROF_SOURCE=inspector"
        ))
    })
}

/// Returns whether this process exports every function that is needed.
pub(crate) fn is_available() -> bool {
    Api::find().is_ok()
}

/// Returns the isolate of the calling thread; none on a thread without one.
pub(super) fn current_isolate(api: &Api) -> Option<*mut Isolate> {
    // SAFETY: may be called on any thread.
    let isolate = unsafe { (api.isolate_try_get_current)() };
    (!isolate.is_null()).then_some(isolate)
}

/// Returns the environment of the current context; none on a thread without one.
pub(super) fn current_environment(api: &Api) -> Option<NonNull<Environment>> {
    let isolate = current_isolate(api)?;
    // SAFETY: this is the isolate's own thread, inside a call from JavaScript, and so inside a
    // context and a handle scope.
    let environment =
        unsafe { (api.get_current_environment)((api.isolate_get_current_context)(isolate)) };
    NonNull::new(environment)
}

/// Returns the address of an exported function.
pub(super) fn symbol(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: may be called on any thread. The name ends in a NUL, and the address is only compared
    // here.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!address.is_null()).then_some(address)
}

/// Copies a string of V8. Null is an empty string.
///
/// # Safety
/// `string` is null, or ends in a NUL and is not freed meanwhile.
pub(super) unsafe fn text(string: *const c_char) -> String {
    if string.is_null() {
        return String::new();
    }
    // SAFETY: the caller promises a string that ends in a NUL.
    unsafe { CStr::from_ptr(string) }.to_string_lossy().into_owned()
}

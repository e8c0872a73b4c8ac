//! The exported C++ functions of V8 and Node, found by their mangled names at run time.
//!
//! A function has two names: that of the Itanium ABI, and that of Microsoft's compiler, which Node for
//! Windows has. Both are the same from Node 18 to 26. In the calling conventions of x86-64 and AArch64 a
//! C++ method takes `this` as its first argument, and a `v8::Local` is passed as a pointer. How a
//! `v8::Local` is returned differs: [`LocalGetter`].

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr::NonNull;

use cpu_prof_core::base::error::Error;
use cpu_prof_core::base::system::IS_WINDOWS;

/// Defines types of V8 and Node that are used behind a pointer only.
macro_rules! opaque {
    ($($name:ident)*) => { $(
        #[repr(C)]
        pub(crate) struct $name { _opaque: [u8; 0] }
    )* };
}
opaque!(Isolate Environment CpuProfiler CpuProfile CpuProfileNode);

/// The bits of a `v8::Local`.
pub(crate) type Local = *mut c_void;

/// A callback that Node calls on the environment's thread, with the data it was given.
pub(crate) type Callback = extern "C" fn(*mut c_void);

/// `v8::Isolate::GCCallbackWithData`: isolate, `GCType`, `GCCallbackFlags`, data.
pub(crate) type GcCallback = extern "C" fn(*mut Isolate, c_int, c_int, *mut c_void);

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
     $($field:ident: $itanium:literal $msvc:literal fn($($arg:ty),*) $(-> $ret:ty)?;)*) => {
        $(#[$doc])*
        pub(crate) struct $name { $(pub $field: unsafe extern "C" fn($($arg),*) $(-> $ret)?,)* }

        impl $name {
            /// Looks up all functions, once. The error is the first missing name.
            pub(crate) fn find() -> Result<&'static Self, &'static str> {
                static API: std::sync::OnceLock<Result<$name, &'static str>> =
                    std::sync::OnceLock::new();
                let find = || Ok(Self { $($field: {
                    const NAME: &std::ffi::CStr =
                        if cpu_prof_core::base::system::IS_WINDOWS { $msvc } else { $itanium };
                    let address = cpu_prof_core::base::system::exported(NAME)
                        .ok_or(NAME.to_str().unwrap_or_default())?;
                    // SAFETY: the mangled name spells out the parameters of the C++ function, and
                    // this type repeats them.
                    unsafe {
                        std::mem::transmute::<
                            *mut std::ffi::c_void,
                            unsafe extern "C" fn($($arg),*) $(-> $ret)?,
                        >(address)
                    }
                },)* });
                API.get_or_init(find).as_ref().map_err(|name| *name)
            }

            /// The names of each function, Itanium's first.
            #[cfg(test)]
            pub(crate) const NAMES: &[(&std::ffi::CStr, &std::ffi::CStr)] =
                &[$(($itanium, $msvc)),*];
        }
    };
}
pub(crate) use exported;

exported! {
    /// The functions that the profiler needs.
    Api
    isolate_try_get_current:
        c"_ZN2v87Isolate13TryGetCurrentEv"
        c"?TryGetCurrent@Isolate@v8@@SAPEAV12@XZ"
        fn() -> *mut Isolate;
    isolate_get_current_context:
        c"_ZN2v87Isolate17GetCurrentContextEv"
        c"?GetCurrentContext@Isolate@v8@@QEAA?AV?$Local@VContext@v8@@@2@XZ"
        fn(*mut Isolate, *mut Local) -> Local;
    get_current_environment:
        c"_ZN4node21GetCurrentEnvironmentEN2v85LocalINS0_7ContextEEE"
        c"?GetCurrentEnvironment@node@@YAPEAVEnvironment@1@V?$Local@VContext@v8@@@v8@@@Z"
        fn(Local) -> *mut Environment;
    request_interrupt:
        c"_ZN4node16RequestInterruptEPNS_11EnvironmentEPFvPvES2_"
        c"?RequestInterrupt@node@@YAXPEAVEnvironment@1@P6AXPEAX@Z1@Z"
        fn(*mut Environment, Callback, *mut c_void);
    at_exit:
        c"_ZN4node6AtExitEPNS_11EnvironmentEPFvPvES2_"
        c"?AtExit@node@@YAXPEAVEnvironment@1@P6AXPEAX@Z1@Z"
        fn(*mut Environment, Callback, *mut c_void);
    add_gc_prologue_callback:
        c"_ZN2v87Isolate21AddGCPrologueCallbackEPFvPS0_NS_6GCTypeENS_15GCCallbackFlagsEPvES4_S2_"
        c"?AddGCPrologueCallback@Isolate@v8@@QEAAXP6AXPEAV12@W4GCType@2@W4GCCallbackFlags@2@PEAX@Z31@Z"
        fn(*mut Isolate, GcCallback, *mut c_void, c_int);
    add_gc_epilogue_callback:
        c"_ZN2v87Isolate21AddGCEpilogueCallbackEPFvPS0_NS_6GCTypeENS_15GCCallbackFlagsEPvES4_S2_"
        c"?AddGCEpilogueCallback@Isolate@v8@@QEAAXP6AXPEAV12@W4GCType@2@W4GCCallbackFlags@2@PEAX@Z31@Z"
        fn(*mut Isolate, GcCallback, *mut c_void, c_int);
    remove_gc_prologue_callback:
        c"_ZN2v87Isolate24RemoveGCPrologueCallbackEPFvPS0_NS_6GCTypeENS_15GCCallbackFlagsEPvES4_"
        c"?RemoveGCPrologueCallback@Isolate@v8@@QEAAXP6AXPEAV12@W4GCType@2@W4GCCallbackFlags@2@PEAX@Z3@Z"
        fn(*mut Isolate, GcCallback, *mut c_void);
    remove_gc_epilogue_callback:
        c"_ZN2v87Isolate24RemoveGCEpilogueCallbackEPFvPS0_NS_6GCTypeENS_15GCCallbackFlagsEPvES4_"
        c"?RemoveGCEpilogueCallback@Isolate@v8@@QEAAXP6AXPEAV12@W4GCType@2@W4GCCallbackFlags@2@PEAX@Z3@Z"
        fn(*mut Isolate, GcCallback, *mut c_void);
    profiler_new:
        c"_ZN2v811CpuProfiler3NewEPNS_7IsolateENS_22CpuProfilingNamingModeENS_23CpuProfilingLoggingModeE"
        c"?New@CpuProfiler@v8@@SAPEAV12@PEAVIsolate@2@W4CpuProfilingNamingMode@2@W4CpuProfilingLoggingMode@2@@Z"
        fn(*mut Isolate, c_int, c_int) -> *mut CpuProfiler;
    profiler_dispose:
        c"_ZN2v811CpuProfiler7DisposeEv"
        c"?Dispose@CpuProfiler@v8@@QEAAXXZ"
        fn(*mut CpuProfiler);
    profiler_set_sampling_interval:
        c"_ZN2v811CpuProfiler19SetSamplingIntervalEi"
        c"?SetSamplingInterval@CpuProfiler@v8@@QEAAXH@Z"
        fn(*mut CpuProfiler, c_int);
    profiler_start:
        c"_ZN2v811CpuProfiler14StartProfilingENS_5LocalINS_6StringEEENS_16CpuProfilingModeEbj"
        c"?StartProfiling@CpuProfiler@v8@@QEAA?AW4CpuProfilingStatus@2@V?$Local@VString@v8@@@2@W4CpuProfilingMode@2@_NI@Z"
        fn(*mut CpuProfiler, Local, c_int, bool, c_uint) -> c_int;
    profiler_stop:
        c"_ZN2v811CpuProfiler13StopProfilingENS_5LocalINS_6StringEEE"
        c"?StopProfiling@CpuProfiler@v8@@QEAAPEAVCpuProfile@2@V?$Local@VString@v8@@@2@@Z"
        fn(*mut CpuProfiler, Local) -> *mut CpuProfile;
    profile_delete:
        c"_ZN2v810CpuProfile6DeleteEv"
        c"?Delete@CpuProfile@v8@@QEAAXXZ"
        fn(*mut CpuProfile);
    profile_root:
        c"_ZNK2v810CpuProfile14GetTopDownRootEv"
        c"?GetTopDownRoot@CpuProfile@v8@@QEBAPEBVCpuProfileNode@2@XZ"
        fn(*const CpuProfile) -> *const CpuProfileNode;
    profile_samples:
        c"_ZNK2v810CpuProfile15GetSamplesCountEv"
        c"?GetSamplesCount@CpuProfile@v8@@QEBAHXZ"
        fn(*const CpuProfile) -> c_int;
    profile_sample:
        c"_ZNK2v810CpuProfile9GetSampleEi"
        c"?GetSample@CpuProfile@v8@@QEBAPEBVCpuProfileNode@2@H@Z"
        fn(*const CpuProfile, c_int) -> *const CpuProfileNode;
    profile_sample_time:
        c"_ZNK2v810CpuProfile18GetSampleTimestampEi"
        c"?GetSampleTimestamp@CpuProfile@v8@@QEBA_JH@Z"
        fn(*const CpuProfile, c_int) -> i64;
    profile_start_time:
        c"_ZNK2v810CpuProfile12GetStartTimeEv"
        c"?GetStartTime@CpuProfile@v8@@QEBA_JXZ"
        fn(*const CpuProfile) -> i64;
    profile_end_time:
        c"_ZNK2v810CpuProfile10GetEndTimeEv"
        c"?GetEndTime@CpuProfile@v8@@QEBA_JXZ"
        fn(*const CpuProfile) -> i64;
    node_function_name:
        c"_ZNK2v814CpuProfileNode18GetFunctionNameStrEv"
        c"?GetFunctionNameStr@CpuProfileNode@v8@@QEBAPEBDXZ"
        fn(*const CpuProfileNode) -> *const c_char;
    node_resource_name:
        c"_ZNK2v814CpuProfileNode24GetScriptResourceNameStrEv"
        c"?GetScriptResourceNameStr@CpuProfileNode@v8@@QEBAPEBDXZ"
        fn(*const CpuProfileNode) -> *const c_char;
    node_script_id:
        c"_ZNK2v814CpuProfileNode11GetScriptIdEv"
        c"?GetScriptId@CpuProfileNode@v8@@QEBAHXZ"
        fn(*const CpuProfileNode) -> c_int;
    node_line:
        c"_ZNK2v814CpuProfileNode13GetLineNumberEv"
        c"?GetLineNumber@CpuProfileNode@v8@@QEBAHXZ"
        fn(*const CpuProfileNode) -> c_int;
    node_column:
        c"_ZNK2v814CpuProfileNode15GetColumnNumberEv"
        c"?GetColumnNumber@CpuProfileNode@v8@@QEBAHXZ"
        fn(*const CpuProfileNode) -> c_int;
    node_line_count:
        c"_ZNK2v814CpuProfileNode15GetHitLineCountEv"
        c"?GetHitLineCount@CpuProfileNode@v8@@QEBAIXZ"
        fn(*const CpuProfileNode) -> c_uint;
    node_line_ticks:
        c"_ZNK2v814CpuProfileNode12GetLineTicksEPNS0_8LineTickEj"
        c"?GetLineTicks@CpuProfileNode@v8@@QEBA_NPEAULineTick@12@I@Z"
        fn(*const CpuProfileNode, *mut c_uint, c_uint) -> bool;
    node_bailout_reason:
        c"_ZNK2v814CpuProfileNode16GetBailoutReasonEv"
        c"?GetBailoutReason@CpuProfileNode@v8@@QEBAPEBDXZ"
        fn(*const CpuProfileNode) -> *const c_char;
    node_id:
        c"_ZNK2v814CpuProfileNode9GetNodeIdEv"
        c"?GetNodeId@CpuProfileNode@v8@@QEBAIXZ"
        fn(*const CpuProfileNode) -> c_uint;
    node_children:
        c"_ZNK2v814CpuProfileNode16GetChildrenCountEv"
        c"?GetChildrenCount@CpuProfileNode@v8@@QEBAHXZ"
        fn(*const CpuProfileNode) -> c_int;
    node_child:
        c"_ZNK2v814CpuProfileNode8GetChildEi"
        c"?GetChild@CpuProfileNode@v8@@QEBAPEBV12@H@Z"
        fn(*const CpuProfileNode, c_int) -> *const CpuProfileNode;
}

/// Returns the functions of the process that loaded the addon.
pub(crate) fn api() -> Result<&'static Api, Error> {
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
pub(crate) fn current_isolate(api: &Api) -> Option<*mut Isolate> {
    // SAFETY: may be called on any thread.
    let isolate = unsafe { (api.isolate_try_get_current)() };
    (!isolate.is_null()).then_some(isolate)
}

/// Returns the environment of the current context; none on a thread without one.
pub(super) fn current_environment(api: &Api) -> Option<NonNull<Environment>> {
    let isolate = current_isolate(api)?;
    // SAFETY: this is the isolate's own thread, inside a call from JavaScript, and so inside a
    // context and a handle scope.
    let environment = unsafe {
        (api.get_current_environment)(get_local(api.isolate_get_current_context, isolate))
    };
    NonNull::new(environment)
}

/// A method that returns a `v8::Local`. Microsoft's compiler passes the address of the result as the
/// second argument. The others return the result in a register, and do not look at a second argument.
pub(crate) type LocalGetter<This> = unsafe extern "C" fn(This, *mut Local) -> Local;

/// Calls a method that returns a `v8::Local`.
///
/// # Safety
/// As that of the method.
pub(crate) unsafe fn get_local<This>(method: LocalGetter<This>, this: This) -> Local {
    let mut result = std::ptr::null_mut();
    // SAFETY: the caller promises what the method asks for, and the address is that of a `Local`.
    let returned = unsafe { method(this, &raw mut result) };
    if IS_WINDOWS { result } else { returned }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampler::v8::entry_hook::EntryApi;
    use crate::sampler::v8::heap::HeapApi;
    use crate::sampler::v8::labels::LabelApi;
    use crate::sampler::v8::reach::linked_binding::BindingApi;
    use crate::sampler::v8::reach::microtask::MicrotaskApi;
    use crate::sampler::v8::reach::running_stack::StackApi;
    use crate::sampler::v8::scripts::{HandlerApi, TextApi};

    /// `_ZNK2v810CpuProfile9GetSampleEi` → `["v8", "CpuProfile", "GetSample"]`
    fn nested_name(itanium: &str) -> Vec<&str> {
        let mut rest = itanium.trim_start_matches("_ZNK").trim_start_matches("_ZN");
        let mut parts = Vec::new();
        while let Some(digits) = rest.find(|c: char| !c.is_ascii_digit()).filter(|at| *at > 0) {
            let length: usize = rest[..digits].parse().unwrap();
            parts.push(&rest[digits..digits + length]);
            rest = &rest[digits + length..];
        }
        parts
    }

    #[test]
    fn both_names_are_of_one_function() {
        let tables = [
            Api::NAMES,
            EntryApi::NAMES,
            HeapApi::NAMES,
            BindingApi::NAMES,
            HandlerApi::NAMES,
            MicrotaskApi::NAMES,
            StackApi::NAMES,
            LabelApi::NAMES,
            TextApi::NAMES,
        ];
        for (itanium, msvc) in tables.concat() {
            let (itanium, msvc) = (itanium.to_str().unwrap(), msvc.to_str().unwrap());
            let parts: Vec<_> = nested_name(itanium).into_iter().rev().collect();
            assert!(msvc.starts_with(&format!("?{}@@", parts.join("@"))), "{itanium} {msvc}");
            // A method that changes nothing: `K` and `QEBA`.
            let is_const =
                |is: bool, name: &str| assert_eq!(is, itanium.contains("_ZNK"), "{name}");
            is_const(msvc.contains("@@QEBA"), msvc);
        }
    }
}

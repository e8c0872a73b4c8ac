//! V8's functions and numbers that the walk needs, by their exported names.

use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr;

use crate::sampler::v8::symbols::{Isolate, Local, exported};
use cpu_prof_core::base::system;

/// `v8::RegisterState`, with room for what later versions add.
#[repr(C)]
#[derive(Default)]
pub(super) struct RegisterState {
    pub program: u64,
    pub stack: u64,
    pub frame: u64,
    pub link: u64,
    pub later: [u64; 8],
}

/// `v8::SampleInfo`, with room for what later versions add. Its first word is the count of frames.
#[derive(Default)]
#[repr(C)]
pub(super) struct SampleInfo([u64; 16]);

impl SampleInfo {
    /// Returns the count of frames.
    pub(super) fn frames(&self) -> usize {
        self.0[0] as usize
    }

    /// Returns the `v8::StateTag`, which is in a word that depends on the version.
    pub(super) fn state(&self, word: usize) -> u16 {
        self.0.get(word).copied().unwrap_or(0) as u16
    }
}

exported! {
    /// V8's functions for the walk.
    WalkApi
    stack_sample:
        c"_ZN2v87Isolate14GetStackSampleERKNS_13RegisterStateEPPvmPNS_10SampleInfoE"
        c"?GetStackSample@Isolate@v8@@QEAAXAEBURegisterState@2@PEAPEAX_KPEAUSampleInfo@2@@Z"
        fn(*mut Isolate, *const RegisterState, *mut u64, usize, *mut SampleInfo);
    dispose_global:
        c"_ZN2v812api_internal13DisposeGlobalEPm"
        c"?DisposeGlobal@api_internal@v8@@YAXPEA_K@Z"
        fn(*mut u64);
    debug_name:
        c"_ZNK2v88Function12GetDebugNameEv"
        c"?GetDebugName@Function@v8@@QEBA?AV?$Local@VValue@v8@@@2@XZ"
        fn(Local, *mut Local) -> Local;
    bind:
        c"_ZN2v813UnboundScript20BindToCurrentContextEv"
        c"?BindToCurrentContext@UnboundScript@v8@@QEAA?AV?$Local@VScript@v8@@@2@XZ"
        fn(Local, *mut Local) -> Local;
    function_script_id:
        c"_ZNK2v88Function8ScriptIdEv"
        c"?ScriptId@Function@v8@@QEBAHXZ"
        fn(Local) -> c_int;
    function_line:
        c"_ZNK2v88Function19GetScriptLineNumberEv"
        c"?GetScriptLineNumber@Function@v8@@QEBAHXZ"
        fn(Local) -> c_int;
    function_column:
        c"_ZNK2v88Function21GetScriptColumnNumberEv"
        c"?GetScriptColumnNumber@Function@v8@@QEBAHXZ"
        fn(Local) -> c_int;
    script_name:
        c"_ZN2v813UnboundScript13GetScriptNameEv"
        c"?GetScriptName@UnboundScript@v8@@QEAA?AV?$Local@VValue@v8@@@2@XZ"
        fn(Local, *mut Local) -> Local;
    source_url:
        c"_ZN2v813UnboundScript12GetSourceURLEv"
        c"?GetSourceURL@UnboundScript@v8@@QEAA?AV?$Local@VValue@v8@@@2@XZ"
        fn(Local, *mut Local) -> Local;
    line_of:
        c"_ZN2v813UnboundScript13GetLineNumberEi"
        c"?GetLineNumber@UnboundScript@v8@@QEAAHH@Z"
        fn(Local, c_int) -> c_int;
    version:
        c"_ZN2v82V810GetVersionEv"
        c"?GetVersion@V8@v8@@SAPEBDXZ"
        fn() -> *const c_char;
}

/// `v8::api_internal::GlobalizeReference`, which takes the object, or before Node 22 its address.
#[derive(Clone, Copy)]
enum Globalize {
    Object(unsafe extern "C" fn(*mut Isolate, u64) -> *mut u64),
    Address(unsafe extern "C" fn(*mut Isolate, *mut u64) -> *mut u64),
}

/// What V8 exports of what it does not export everywhere.
#[derive(Clone, Copy)]
pub(super) struct Optional {
    globalize: Globalize,
    /// `v8::UnboundScript::GetColumnNumber`, from Node 20 on.
    pub column_of: Option<unsafe extern "C" fn(Local, c_int) -> c_int>,
}

impl Optional {
    /// Looks up the functions; none if handles cannot be made.
    pub(super) fn find() -> Option<Self> {
        let object =
            system::exported(c"_ZN2v812api_internal18GlobalizeReferenceEPNS_8internal7IsolateEm");
        let address =
            system::exported(c"_ZN2v812api_internal18GlobalizeReferenceEPNS_8internal7IsolateEPm");
        let column = system::exported(c"_ZN2v813UnboundScript15GetColumnNumberEi");
        // SAFETY: the mangled names spell out the parameters, and these types repeat them.
        unsafe {
            let globalize = match (object, address) {
                (Some(object), _) => Globalize::Object(std::mem::transmute::<
                    *mut c_void,
                    unsafe extern "C" fn(*mut Isolate, u64) -> *mut u64,
                >(object)),
                (None, Some(address)) => Globalize::Address(std::mem::transmute::<
                    *mut c_void,
                    unsafe extern "C" fn(*mut Isolate, *mut u64) -> *mut u64,
                >(address)),
                (None, None) => return None,
            };
            let column_of = column.map(|column| {
                std::mem::transmute::<*mut c_void, unsafe extern "C" fn(Local, c_int) -> c_int>(
                    column,
                )
            });
            Some(Self { globalize, column_of })
        }
    }

    /// Returns a global handle of an object.
    ///
    /// # Safety
    /// This is the isolate's thread, and `object` is a live object of its heap.
    pub(super) unsafe fn globalize(&self, isolate: *mut Isolate, object: u64) -> *mut u64 {
        let mut object = object;
        // SAFETY: the caller promises the object.
        unsafe {
            match self.globalize {
                Globalize::Object(globalize) => globalize(isolate, object),
                Globalize::Address(globalize) => globalize(isolate, &raw mut object),
            }
        }
    }
}

/// Returns a number that V8 exports for debuggers: `v8dbg_…`. None if this V8 has no such number.
pub(super) fn number(name: &str) -> Option<i32> {
    let name = CString::new(format!("v8dbg_{name}")).ok()?;
    let number = system::exported(&name)?.cast_const().cast::<i32>();
    // SAFETY: all numbers of this name are of this type, and constant.
    (!ptr::eq(number, ptr::null())).then(|| unsafe { number.read() })
}

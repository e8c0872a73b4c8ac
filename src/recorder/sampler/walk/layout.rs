//! What the walk reads of V8's objects: the one table of their layouts. docs/internals/walk.md says how each entry is
//! proven.
//!
//! Most offsets are numbers that V8 exports for debuggers. What it does not export is known for the versions in
//! Node 18 to 26; in another version there is no walk.

use std::ffi::CStr;
use std::ops::RangeInclusive;

use super::bytecodes::Bytecodes;
use super::positions::PositionEncoding;
use super::symbols::{WalkApi, number};

/// Offsets are in bytes from the start of an object, to which a pointer points with one added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    pub frames: FrameTypes,
    /// Type of the instances of a map, 16 bits.
    pub map_type: u64,
    /// Types of the functions.
    pub function_types: RangeInclusive<u16>,
    /// `SharedFunctionInfo` of a function.
    pub function_shared: u64,
    /// Type of a `SharedFunctionInfo`.
    pub shared_type: u16,
    /// Script of a `SharedFunctionInfo`.
    pub shared_script: u64,
    /// Baseline code, or else the bytecode, of a `SharedFunctionInfo`.
    pub shared_code: u64,
    /// Type of a script.
    pub script_type: u16,
    pub bytecode: BytecodeLayout,
    pub code: CodeLayout,
    /// Word of a `SampleInfo` that has the state.
    pub sample_state: usize,
    /// Words of an isolate that have the frame, and the next instruction, of JavaScript that has called C++ without a
    /// frame for that: bytes.
    pub fast_call: [usize; 2],
}

/// Types of frames, which stand where a frame of JavaScript has its context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FrameTypes {
    /// The frames by which V8 enters JavaScript.
    pub entries: [u64; 2],
    /// The frames by which JavaScript calls C++. The first is of a built-in function that C++ implements.
    pub exits: [u64; 4],
    /// The frames of built-in functions that go on where optimized code gave up. They have their function where
    /// JavaScript has it.
    pub continuations: [u64; 2],
    /// A frame of WebAssembly.
    pub wasm: u64,
}

/// `BytecodeArray`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BytecodeLayout {
    pub kind: u16,
    pub length: u64,
    pub positions: u64,
    /// The first byte.
    pub first: u64,
    /// Type of an object whose first field is bytecode.
    pub holder: u16,
    pub bytecodes: Bytecodes,
}

/// `Code`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CodeLayout {
    pub kind: u16,
    /// Address of the first instruction.
    pub start: u64,
    /// Bytes of instructions, 32 bits.
    pub size: u64,
    /// 32 bits, of which the lowest are the tier.
    pub flags: u64,
    /// Tier of baseline code. Higher tiers are optimized.
    pub baseline: u32,
    /// Deoptimization data of optimized code; the bytecode, or what has it, of baseline code.
    pub data: u64,
    /// Source positions of optimized code; offsets in the bytecode, of baseline code.
    pub positions: u64,
    /// Entries of the deoptimization data.
    pub inlining: u64,
    pub literals: u64,
    pub shared: u64,
    /// Whether the instructions stand in the object itself, behind `start` bytes.
    pub is_inline: bool,
    /// How the offsets of instructions stand in a table of positions.
    pub encoding: PositionEncoding,
}

/// The bits of `Code` flags that have the tier.
pub(super) const TIER_BITS: u32 = 15;

impl Layout {
    /// Returns the layout of this process's V8; none if the version is not known, or lacks a number.
    pub(super) fn find(api: &WalkApi) -> Option<Self> {
        // SAFETY: V8 returns a constant text.
        let version = unsafe { CStr::from_ptr((api.version)()) }.to_str().ok()?;
        let version = version.split('.').next()?.parse().ok()?;
        Self::of(version, number)
    }

    /// Returns the layout of a V8, by its major version and its numbers.
    pub(super) fn of(version: u32, number: impl Fn(&str) -> Option<i32>) -> Option<Self> {
        let offset = |name: &str| u64::try_from(number(name)?).ok();
        let kind = |name: &str| u16::try_from(number(name)?).ok();
        let any = |names: &[&str]| names.iter().find_map(|name| offset(name));
        let Version { code, positions, bytecode, encoding, fast_call } = Version::of(version)?;
        let first =
            kind("FirstJSFunctionType").or_else(|| kind("type_JSFunction__JS_FUNCTION_TYPE"))?;
        // Functions of typed arrays, promises and classes come after.
        let last = kind("LastJSFunctionType").unwrap_or(first + MAX_FUNCTION_TYPES);
        let frame = |name: &str| offset(&format!("frametype_{name}"));
        Some(Self {
            frames: FrameTypes {
                entries: [frame("EntryFrame")?, frame("ConstructEntryFrame")?],
                exits: [
                    frame("BuiltinExitFrame")?,
                    frame("ExitFrame")?,
                    frame("ApiCallbackExitFrame").unwrap_or(NO_FRAME),
                    frame("ApiAccessorExitFrame").unwrap_or(NO_FRAME),
                ],
                continuations: ["", "WithCatch"].map(|kind| {
                    frame(&format!("JavaScriptBuiltinContinuation{kind}Frame")).unwrap_or(NO_FRAME)
                }),
                wasm: frame("WasmFrame")?,
            },
            map_type: offset("class_Map__instance_type__uint16_t")?,
            function_types: first..=last,
            function_shared: offset("class_JSFunction__shared__SharedFunctionInfo")?,
            shared_type: kind("type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE")?,
            shared_script: any(&[
                "class_SharedFunctionInfo__script__Tagged_HeapObject_",
                "class_SharedFunctionInfo__script_or_debug_info__HeapObject",
            ])?,
            shared_code: offset("class_SharedFunctionInfo__function_data__Object")
                .unwrap_or(SHARED_CODE),
            script_type: kind("type_Script__SCRIPT_TYPE")?,
            bytecode: BytecodeLayout {
                kind: kind("type_BytecodeArray__BYTECODE_ARRAY_TYPE")?,
                length: offset("class_FixedArrayBase__length__SMI")
                    .or_else(|| offset("class_BytecodeArray__length__SMI"))?,
                positions: bytecode,
                first: offset("class_BytecodeArray__data__uintptr_t")?,
                holder: kind("type_InterpreterData__INTERPRETER_DATA_TYPE")?,
                bytecodes: Bytecodes::of(version)?,
            },
            code: CodeLayout {
                kind: kind("type_Code__CODE_TYPE")?,
                start: any(&[
                    "class_Code__instruction_start__Address",
                    "class_Code__instruction_start__uintptr_t",
                ])
                .unwrap_or(code.start),
                size: offset("class_Code__instruction_size__int").unwrap_or(code.size),
                flags: offset("class_Code__flags__uint32_t").unwrap_or(code.flags),
                baseline: u32::try_from(number("CodeKindBaseline").unwrap_or(BASELINE)).ok()?,
                data: positions - 8,
                positions,
                inlining: offset("DeoptimizationDataInliningPositionsIndex").unwrap_or(INLINING),
                literals: offset("DeoptimizationDataLiteralArrayIndex").unwrap_or(LITERALS),
                shared: any(&[
                    "DeoptimizationDataSharedFunctionInfoIndex",
                    "DeoptimizationDataWrappedSharedFunctionInfoIndex",
                ])
                .unwrap_or(SHARED),
                is_inline: version == FIRST_VERSION,
                encoding,
            },
            sample_state: if version == FIRST_VERSION { 1 } else { 4 },
            fast_call,
        })
    }
}

/// No type of a frame.
const NO_FRAME: u64 = u64::MAX;
/// Count of the types of functions after the first, at most.
const MAX_FUNCTION_TYPES: u16 = 20;
/// The version in Node 18.
const FIRST_VERSION: u32 = 10;
const BASELINE: i32 = 11;
const INLINING: u64 = 7;
const LITERALS: u64 = 2;
const SHARED: u64 = 6;
const SHARED_CODE: u64 = 8;

/// What V8 exports in no version, or not in all, by the major version.
struct Version {
    code: CodeStart,
    /// Offset of the table of positions of `Code`.
    positions: u64,
    /// Offset of the table of positions of `BytecodeArray`.
    bytecode: u64,
    encoding: PositionEncoding,
    fast_call: [usize; 2],
}

struct CodeStart {
    start: u64,
    size: u64,
    flags: u64,
}

impl Version {
    fn of(version: u32) -> Option<Self> {
        use PositionEncoding::{Shifted, Signed};
        let of = |[start, size, flags]: [u64; 3], positions, bytecode, encoding, fast_call| Self {
            code: CodeStart { start, size, flags },
            positions,
            bytecode,
            encoding,
            fast_call,
        };
        Some(match version {
            10 => of([0; 3], 24, 32, Signed, [256, 264]),
            11 => of([40, 56, 48], 24, 32, Signed, [232, 240]),
            12 => of([0; 3], 16, 24, Signed, [240, 248]),
            13 => of([0; 3], 16, 24, Signed, [296, 288]),
            14 => of([0; 3], 16, 24, Shifted, [304, 296]),
            _ => return None,
        })
    }
}

//! Turns raw samples into functions and places, on the sampled thread, before a collection moves what the samples point
//! to.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::code::{CodeTable, Tier, bytecode_positions};
use super::frames::RawFrame;
use super::functions::{Function, Handles};
use super::memory::HeapMemory;
use super::objects::HeapObjects;
use super::oracle::Oracle;
use super::positions::PositionEntry;
use super::ring::SampleKind;
use super::stopped::WalkedThread;
use crate::sampler::v8::{CodeKind, WasmCode};
use cpu_prof_core::base::system;
use cpu_prof_core::base::system::checked_memory::is_in_image;

/// A function at an offset in the text of its script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct CalledPlace {
    /// Index of the function.
    pub function: u32,
    /// None if it is not known.
    pub offset: Option<u32>,
}

/// A sample whose stack is known.
#[derive(Debug)]
pub(super) struct Collected {
    pub kind: SampleKind,
    pub time_us: i64,
    /// Count of the outermost frames that are those of the last sample with frames.
    pub kept: usize,
    /// Where the other frames are in the list of frames, the outermost first.
    pub from: usize,
    pub to: usize,
}

/// What was collected for the next window.
#[derive(Default)]
pub(super) struct CollectedStacks {
    pub samples: Vec<Collected>,
    /// Indices of frames, each of which is one or more places.
    pub frames: Vec<u32>,
}

/// The collector of one thread.
#[derive(Default)]
pub(super) struct Collector {
    /// Functions by pointers to them; none for what is not one. Every collection moves some.
    by_pointer: FxHashMap<u64, Option<u32>>,
    /// Functions by their `SharedFunctionInfo`, which only major collections move.
    by_shared: FxHashMap<u64, u32>,
    pub functions: Vec<Function>,
    /// Frames by what was copied of them, with the function instead of a pointer to it.
    by_frame: FxHashMap<(u32, u64), u32>,
    /// The places of each frame, the innermost first.
    pub frames: Vec<Arc<[CalledPlace]>>,
    /// Positions in the text of bytecode, by pointers to it.
    bytecodes: FxHashMap<u64, Option<Arc<[PositionEntry]>>>,
    codes: CodeTable,
    /// Memory of the heap, while samples are taken.
    memory: HeapMemory,
    pub next: CollectedStacks,
    pub oracle: Oracle,
    /// The raw frames of a sample, and all frames of a stack the outermost first: to be used again.
    raw: Vec<RawFrame>,
    stack: Vec<RawFrame>,
    /// Functions of WebAssembly by where their code begins.
    by_code: FxHashMap<u64, u32>,
    /// Code of WebAssembly.
    pub wasm: Arc<WasmCode>,
    /// Whether a major collection has begun since the functions were last forgotten.
    is_stale: bool,
}

/// A function that could not be read.
pub(super) const UNKNOWN: u32 = u32::MAX;

impl Collector {
    /// Returns a collector that knows functions of WebAssembly by their code.
    pub(super) fn new(wasm: Arc<WasmCode>) -> Self {
        Self { wasm, ..Self::default() }
    }

    /// Takes the samples in the ring, whose pointers are still those of the heap.
    ///
    /// # Safety
    /// This is the thread, and no collection has begun since the samples were taken.
    pub(super) unsafe fn take(&mut self, thread: &WalkedThread, handles: &Handles) {
        let mut samples: Vec<(SampleKind, i64, usize, Vec<RawFrame>)> = Vec::new();
        // The next sample must not come before it is told to have all its frames.
        system::with_signals_blocked(|| {
            thread.ring.take(&mut self.raw, |sample| {
                samples.push((sample.kind, sample.time_us, sample.kept, sample.frames.to_vec()));
            });
            thread.ring.forget_last();
        });
        self.stack.clear();
        self.memory.forget();
        let pointers = samples.iter().filter(|(kind, ..)| *kind != SampleKind::Compared);
        // SAFETY: the caller promises the thread and the heap.
        unsafe {
            self.learn(thread, handles, pointers.flat_map(|(.., frames)| frames));
            for (kind, time_us, kept, frames) in samples {
                match kind {
                    SampleKind::Compared => {
                        let is_call = |program| match thread.finder.code().kind(program) {
                            Some(kind) => kind == CodeKind::BuiltIn,
                            None => is_in_image(program),
                        };
                        self.oracle.compare(&self.stack, &frames, is_call);
                    }
                    _ => self.add(thread, handles, kind, time_us, kept, &frames),
                }
            }
        }
    }

    /// Finds the functions of pointers that are new.
    ///
    /// # Safety
    /// As for `take`.
    unsafe fn learn<'a>(
        &mut self,
        thread: &WalkedThread,
        handles: &Handles,
        frames: impl Iterator<Item = &'a RawFrame>,
    ) {
        let mut new: Vec<u64> = frames
            .map(|frame| frame.function)
            .filter(|function| *function != 0 && !self.by_pointer.contains_key(function))
            .collect();
        new.sort_unstable();
        new.dedup();
        let objects = HeapObjects { layout: thread.layout, memory: &self.memory };
        let found = objects.shared_of_functions(&new);
        for (function, shared) in new.into_iter().zip(found) {
            // SAFETY: the caller promises the heap, and the type of the object was checked.
            let number =
                shared.map(|shared| unsafe { self.function(handles, shared, Some(function)) });
            self.by_pointer.insert(function, number);
        }
    }

    /// Returns the index of a function.
    ///
    /// # Safety
    /// As for `take`. The object is a `SharedFunctionInfo`.
    unsafe fn function(&mut self, handles: &Handles, shared: u64, closure: Option<u64>) -> u32 {
        let functions = &mut self.functions;
        *self.by_shared.entry(shared).or_insert_with(|| {
            // SAFETY: the caller promises the object.
            functions.push(unsafe { Function::new(handles, shared, closure) });
            functions.len() as u32 - 1
        })
    }

    /// Adds a sample.
    ///
    /// # Safety
    /// As for `take`.
    unsafe fn add(
        &mut self,
        thread: &WalkedThread,
        handles: &Handles,
        kind: SampleKind,
        time_us: i64,
        kept: usize,
        new: &[RawFrame],
    ) {
        let from = self.next.frames.len();
        let has_stack = kept + new.len() > 0;
        if has_stack {
            self.stack.truncate(kept);
            let is_exact = |index: usize| index == 0 && kind == SampleKind::JavaScript;
            for (index, frame) in new.iter().enumerate().rev() {
                // SAFETY: the caller promises the heap.
                let frame_index = unsafe { self.frame(thread, handles, frame, is_exact(index)) };
                self.next.frames.push(frame_index);
                self.stack.push(*frame);
            }
        }
        let to = self.next.frames.len();
        let kept = if has_stack { kept } else { 0 };
        self.next.samples.push(Collected { kind, time_us, kept, from, to });
    }

    /// Returns the index of a frame. `is_exact` tells that the program counter is at the next instruction, not behind a
    /// call.
    ///
    /// # Safety
    /// As for `take`.
    unsafe fn frame(
        &mut self,
        thread: &WalkedThread,
        handles: &Handles,
        raw: &RawFrame,
        is_exact: bool,
    ) -> u32 {
        let function = match raw.function {
            0 => self.of_wasm(raw.program),
            pointer => self.by_pointer.get(&pointer).copied().flatten().unwrap_or(UNKNOWN),
        };
        let is_compiled = thread.finder.code().kind(raw.program) == Some(CodeKind::Compiled);
        let address = raw.program.saturating_sub(u64::from(!is_exact));
        let key = match (is_compiled, raw.bytecode) {
            (true, _) => address,
            (false, 0) => 0,
            (false, _) => raw.offset << 1 | 1,
        };
        if let Some(known) = self.by_frame.get(&(function, key)) {
            return *known;
        }
        // SAFETY: the caller promises the heap.
        let places = unsafe {
            match is_compiled {
                true => self.compiled(thread, handles, function, address, is_exact),
                false => Arc::from([self.interpreted(thread, function, raw)]),
            }
        };
        let index = self.frames.len() as u32;
        self.frames.push(places);
        self.by_frame.insert((function, key), index);
        index
    }

    /// Returns the place of a frame that the interpreter, or a built-in function, has made.
    fn interpreted(&mut self, thread: &WalkedThread, function: u32, raw: &RawFrame) -> CalledPlace {
        let positions = self.bytecode(thread, raw.bytecode);
        // V8 counts from the object's pointer.
        let first = thread.layout.bytecode.first - 1;
        let at = positions.zip((raw.offset as i32).checked_sub(first as i32));
        let offset = at.and_then(|(positions, offset)| {
            let after = positions.partition_point(|(at, _)| *at <= offset);
            positions.get(after.checked_sub(1)?)?.1.offset()
        });
        CalledPlace { function, offset }
    }

    fn bytecode(&mut self, thread: &WalkedThread, bytecode: u64) -> Option<Arc<[PositionEntry]>> {
        if bytecode == 0 {
            return None;
        }
        let objects = HeapObjects { layout: thread.layout, memory: &self.memory };
        let read = || bytecode_positions(objects, bytecode).map(Arc::from);
        self.bytecodes.entry(bytecode).or_insert_with(read).clone()
    }

    /// Returns the places of a frame of compiled code.
    ///
    /// # Safety
    /// As for `take`.
    unsafe fn compiled(
        &mut self,
        thread: &WalkedThread,
        handles: &Handles,
        function: u32,
        address: u64,
        is_exact: bool,
    ) -> Arc<[CalledPlace]> {
        let first = thread.finder.code().first_compiled();
        let own = CalledPlace { function, offset: None };
        let objects = HeapObjects { layout: thread.layout, memory: &self.memory };
        let Some(code) = self.codes.find(objects, address, first) else {
            return Arc::from([own]);
        };
        let (tier, places, shared) = (code.tier, code.places(address), code.shared);
        let is_current = || {
            let shared = self.functions.get(function as usize).and_then(Function::shared);
            shared.is_some_and(|shared| code.is_baseline_of(objects, shared))
        };
        // A function can have lost the code that it still runs, and what its positions belong to.
        if tier == Tier::Other || (tier == Tier::Baseline && !is_current()) {
            return Arc::from([own]);
        }
        // SAFETY: the caller promises the heap, and the types of the objects were checked.
        unsafe {
            // Code that has no frame yet, or no longer, is of its own function.
            let own = match shared {
                0 => function,
                shared => self.function(handles, shared, None),
            };
            let is_other = function != UNKNOWN && function != own;
            if is_other && !is_exact {
                self.oracle.differs();
            }
            let mut found = Vec::with_capacity(places.len());
            for place in places {
                let function = if place.shared == 0 {
                    own
                } else {
                    self.function(handles, place.shared, None)
                };
                found.push(CalledPlace { function, offset: place.offset });
            }
            // Code that is removing its frame stands on the frame of its caller.
            if is_other && is_exact {
                found.push(CalledPlace { function, offset: None });
            }
            found.into()
        }
    }

    /// Returns the index of a function of WebAssembly.
    fn of_wasm(&mut self, program: u64) -> u32 {
        let Some((start, name)) = self.wasm.find(program) else { return UNKNOWN };
        let functions = &mut self.functions;
        *self.by_code.entry(start).or_insert_with(|| {
            functions.push(Function::of_wasm(name));
            functions.len() as u32 - 1
        })
    }

    /// Forgets what a collection changes. Must be called before it, after [`Collector::take`].
    pub(super) fn forget(&mut self, is_major: bool) {
        self.by_pointer.clear();
        if is_major {
            self.by_shared.clear();
            self.by_frame.clear();
            self.bytecodes.clear();
            self.codes.clear();
            self.is_stale = true;
        }
    }

    /// Gives up the functions that no sample from now on can have, unless a sample waits for the next window.
    pub(super) fn give_up_stale(&mut self, handles: &Handles) {
        // V8 may have collected while it gave names.
        if !self.is_stale || !self.next.samples.is_empty() {
            return;
        }
        self.is_stale = false;
        // What was learnt since the collection goes, too: it comes again.
        self.by_pointer.clear();
        self.by_shared.clear();
        self.by_code.clear();
        self.by_frame.clear();
        self.frames.clear();
        self.functions.drain(..).for_each(|function| function.dispose(handles));
    }
}

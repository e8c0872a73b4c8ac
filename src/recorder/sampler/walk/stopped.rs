//! What the signal handler does with a thread that is walked.

use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::io;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};

use super::frames::{CONTEXT, FrameWalk, NativeFrame, RawFrame, WalkStart, are_words};
use super::isolate::IsolateSlots;
use super::layout::Layout;
use super::proof::Proven;
use super::ring::{MAX_FRAMES, SampleKind, SampleRing};
use super::symbols::{RegisterState, SampleInfo, WalkApi};
use crate::sampler::v8::symbols::Isolate;
use crate::sampler::v8::{CodeKind, FrameFinder, OwnSampling};
use cpu_prof_core::base::system;
use cpu_prof_core::base::system::registers::{self, CallRegisters};
use cpu_prof_core::base::system::sampling_signal::SamplingTimer;
use cpu_prof_core::base::system::stopped_thread::StoppedThread;

/// Words of a thread's ring, 4 MB. The system gives the memory page by page.
const RING_WORDS: usize = 1 << 19;
/// Count of slow samples in a row after which there are fewer.
const MAX_SLOW: u32 = 8;

/// One sample in so many is compared with what V8's own code finds.
const COMPARED: u32 = 100;

/// Bytes below the frame of a fast call that are in use: those of a frame of JavaScript.
const FAST_CALL_WORDS: u64 = 48;

/// `v8::StateTag`
const STATE_GC: u16 = 1;
const STATE_IDLE: u16 = 8;

/// Takes a sample of a [`WalkedThread`].
///
/// # Safety
/// The data is the address of the calling thread's, which runs the handler of a signal that does not interrupt itself.
unsafe fn sample_thread(data: *const c_void, stopped: StoppedThread) {
    // SAFETY: the caller promises all.
    unsafe { (*data.cast::<WalkedThread>()).sample(stopped) }
}

/// A thread that is walked. The signal handler has its address.
pub(super) struct WalkedThread {
    pub(super) api: &'static WalkApi,
    pub(super) isolate: *mut Isolate,
    pub(super) layout: &'static Layout,
    pub(super) slots: IsolateSlots,
    pub(super) natives: &'static [NativeFrame],
    pub(super) finder: FrameFinder,
    /// The lowest address that can be of the thread's stack.
    stack_start: u64,
    pub(super) ring: SampleRing,
    /// Count of collections that have begun and not ended.
    pub(super) collections: AtomicU32,
    timer: SamplingTimer,
    /// When the last sample was complete: CLOCK_MONOTONIC, microseconds.
    done_us: AtomicI64,
    /// Count of samples in a row that took longer than the program had had since the one before.
    slow: AtomicU32,
    /// Count of the samples.
    samples: AtomicU32,
    /// Room for the frames of a sample, for the handler only.
    frames: UnsafeCell<[RawFrame; MAX_FRAMES]>,
}

impl WalkedThread {
    pub(super) fn new(
        proven: &'static Proven,
        isolate: *mut Isolate,
        finder: FrameFinder,
        stack_start: u64,
        timer: SamplingTimer,
    ) -> Self {
        let Proven { api, layout, slots, natives } = proven;
        Self {
            api,
            isolate,
            layout,
            slots: *slots,
            natives,
            finder,
            stack_start,
            ring: SampleRing::new(RING_WORDS),
            timer,
            done_us: AtomicI64::new(0),
            slow: AtomicU32::new(0),
            collections: AtomicU32::new(0),
            samples: AtomicU32::new(0),
            frames: UnsafeCell::new([RawFrame::default(); MAX_FRAMES]),
        }
    }

    /// Takes a sample of the thread. Nothing here locks, allocates or panics.
    ///
    /// # Safety
    /// This is the thread, within the handler of a signal that does not interrupt itself.
    unsafe fn sample(&self, stopped: StoppedThread) {
        let time_us = system::now_us();
        // SAFETY: the caller promises both.
        unsafe { self.sample_at(time_us, stopped) };
        let done_us = system::now_us();
        let had_us = time_us - self.done_us.swap(done_us, Ordering::Relaxed);
        // The program must go on, on any machine and at any interval.
        let slow =
            if done_us - time_us > had_us { self.slow.load(Ordering::Relaxed) + 1 } else { 0 };
        self.slow.store(slow % MAX_SLOW, Ordering::Relaxed);
        if slow == MAX_SLOW {
            self.timer.slow_down();
        }
    }

    /// Takes a sample that has a time.
    ///
    /// # Safety
    /// As for `sample`.
    unsafe fn sample_at(&self, time_us: i64, stopped: StoppedThread) {
        if self.collections.load(Ordering::Relaxed) > 0 {
            self.ring.add(SampleKind::Collection, time_us, &[]);
            return;
        }
        let values = stopped.registers();
        // SAFETY: only the handler uses the frames, and it does not interrupt itself.
        let frames = unsafe { &mut *self.frames.get() };
        // SAFETY: the caller promises the thread.
        let (count, is_javascript) = unsafe { self.walk(&values, frames) };
        let found = frames.get(..count).unwrap_or_default();
        let kind = match (is_javascript, count) {
            (true, _) => SampleKind::JavaScript,
            (false, 0) => self.state(&values),
            (false, _) => SampleKind::Native,
        };
        self.ring.add(kind, time_us, found);
        let number = self.samples.fetch_add(1, Ordering::Relaxed);
        if number.is_multiple_of(COMPARED) {
            self.compare(&values, time_us, frames);
        }
    }

    /// Returns what takes the samples of the thread in its signal handler.
    pub(super) fn sampling(&self) -> OwnSampling {
        OwnSampling { data: std::ptr::from_ref(self).cast(), sample: sample_thread }
    }

    /// Lets the timer run.
    pub(super) fn start(&self) -> io::Result<()> {
        self.timer.start()
    }

    /// Lets the timer stand still.
    pub(super) fn pause(&self) {
        self.timer.pause();
    }

    /// Fills `frames`. Returns their count, and whether JavaScript's code runs.
    ///
    /// # Safety
    /// This is the thread, which a signal has stopped with these registers.
    unsafe fn walk(
        &self,
        values: &[u64; registers::COUNT],
        frames: &mut [RawFrame; MAX_FRAMES],
    ) -> (usize, bool) {
        let registers = CallRegisters::of(values);
        // WebAssembly can switch to a stack of its own, which is not followed.
        if !(self.stack_start..self.finder.stack_end()).contains(&registers.stack) {
            return (0, false);
        }
        let code = self.finder.code();
        let mut count = 0;
        let mut add = |frame: RawFrame| match frames.get_mut(count) {
            Some(place) => {
                *place = frame;
                count += 1;
                true
            }
            None => false,
        };
        let walk = FrameWalk {
            types: &self.layout.frames,
            code,
            entry_link: self.slots.entry_link,
            end: self.finder.stack_end(),
        };
        let kind = code.kind(registers.program);
        let at = WalkStart {
            program: registers.program,
            frame: registers.frame,
            stack: registers.stack,
        };
        // SAFETY: the caller promises the thread and its registers, and the positions are on its stack.
        let begin = unsafe {
            match kind {
                Some(kind) => match self.finder.missing(values) {
                    Some(missing) => {
                        if kind == CodeKind::Compiled && missing.is_entering {
                            let function = values[usize::from(registers::FUNCTION)];
                            let program = registers.program;
                            add(RawFrame { function, program, ..RawFrame::default() });
                        }
                        Some(WalkStart {
                            program: missing.return_to,
                            frame: missing.caller,
                            stack: registers.stack,
                        })
                    }
                    None => Some(at),
                },
                None => self
                    .exit_frame(registers.stack, walk.end)
                    .map(|(frame, position)| {
                        self.native(frame, registers.stack, walk.end).into_iter().for_each(
                            |native| {
                                add(native);
                            },
                        );
                        position
                    })
                    .or_else(|| self.fast_call(registers.stack, walk.end))
                    .or_else(|| walk.above_native(at)),
            }
        };
        let Some(begin) = begin else { return (0, false) };
        // SAFETY: the same.
        unsafe { walk.each(begin, add) };
        (count, kind.is_some())
    }

    /// Returns the frame by which JavaScript has called C++, as V8 knows it, and where that was.
    ///
    /// # Safety
    /// This is the thread, whose isolate is alive.
    unsafe fn exit_frame(&self, stack: u64, end: u64) -> Option<(u64, WalkStart)> {
        // SAFETY: the slot is in the isolate, and changes only on this thread.
        let frame = unsafe { self.slots.exit_frame(self.isolate) };
        let is_frame = are_words(frame, 2, stack, end);
        // SAFETY: the frame is on the thread's own stack, in the part that is in use.
        is_frame.then(|| unsafe {
            let position = WalkStart {
                program: ((frame + 8) as *const u64).read_volatile(),
                frame: (frame as *const u64).read_volatile(),
                stack: frame,
            };
            (frame, position)
        })
    }

    /// Returns the function that C++ implements, by the frame by which JavaScript has called it.
    ///
    /// # Safety
    /// This is the thread, and the frame is on its stack, in the part that is in use.
    unsafe fn native(&self, frame: u64, stack: u64, end: u64) -> Option<RawFrame> {
        let word = |offset: i64| {
            let address = frame.wrapping_add_signed(offset);
            // SAFETY: the word is on the thread's own stack, in the part that is in use.
            are_words(address, 1, stack, end)
                .then(|| unsafe { (address as *const u64).read_volatile() })
        };
        let kind = word(CONTEXT).filter(|kind| kind & 1 == 0)? >> 1;
        let native = self.natives.iter().find(|native| native.kind == kind)?;
        Some(RawFrame { function: word(native.function)?, ..RawFrame::default() })
    }

    /// Returns where JavaScript has called C++ without a frame of its own for that.
    ///
    /// # Safety
    /// This is the thread, whose isolate is alive.
    unsafe fn fast_call(&self, stack: u64, end: u64) -> Option<WalkStart> {
        let [frame, program] = self.layout.fast_call.map(|offset| {
            // SAFETY: the words are in the isolate, and change only on this thread.
            unsafe { self.isolate.cast::<u8>().add(offset).cast::<u64>().read_volatile() }
        });
        let is_frame = are_words(frame, 2, stack, end);
        let is_code = self.finder.code().kind(program).is_some();
        let stack = frame.wrapping_sub(FAST_CALL_WORDS);
        (is_frame && is_code).then_some(WalkStart { program, frame, stack })
    }

    /// Returns what a thread does that runs no JavaScript, as V8 knows it.
    fn state(&self, values: &[u64; registers::COUNT]) -> SampleKind {
        let mut frame = 0;
        let info = self.stack_sample(values, std::slice::from_mut(&mut frame));
        match info.state(self.layout.sample_state) {
            STATE_GC => SampleKind::Collection,
            STATE_IDLE => SampleKind::Idle,
            _ => SampleKind::Native,
        }
    }

    /// Adds the program counters that V8's own code finds.
    fn compare(
        &self,
        values: &[u64; registers::COUNT],
        time_us: i64,
        frames: &mut [RawFrame; MAX_FRAMES],
    ) {
        let mut found = [0; MAX_FRAMES];
        let info = self.stack_sample(values, &mut found);
        let count = info.frames().min(MAX_FRAMES);
        for (frame, program) in frames.iter_mut().zip(found).take(count) {
            *frame = RawFrame { program, ..RawFrame::default() };
        }
        self.ring.add(SampleKind::Compared, time_us, frames.get(..count).unwrap_or_default());
    }

    /// Lets V8's own code look at the thread.
    fn stack_sample(&self, values: &[u64; registers::COUNT], found: &mut [u64]) -> SampleInfo {
        let CallRegisters { program, stack, frame, link } = CallRegisters::of(values);
        let registers = RegisterState { program, stack, frame, link, ..RegisterState::default() };
        let mut info = SampleInfo::default();
        // SAFETY: V8 made the function for the handlers of signals. It fills as many words as it is given at most.
        unsafe {
            (self.api.stack_sample)(
                self.isolate,
                &raw const registers,
                found.as_mut_ptr(),
                found.len(),
                &raw mut info,
            );
        }
        info
    }
}

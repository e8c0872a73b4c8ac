//! Tests with code and stacks that are written here, for both machines.

use super::frame::MissingFrame;
use super::stopped_stack::StoppedStack;
use super::v8_code::{CodeKind, V8Code};
use cpu_prof_core::base::system::registers::{self, CallRegisters};

/// Bytes at which the built-in functions of a test begin, and the addresses of the others behind them.
const BUILT_IN: usize = 4096;
const BYTES: usize = 2 * BUILT_IN;
/// Pointers to objects, and a small number: what frames of JavaScript contain.
const CONTEXT: u64 = 0x7001;
const FUNCTION: u64 = 0x7101;
const BYTECODE: u64 = 0x7201;
const OFFSET: u64 = 42 << 32;

/// A thread with code and a stack.
struct TestThread {
    memory: Vec<u8>,
    /// Index of the first byte of the code in the memory.
    first: usize,
    words: Vec<u64>,
}

impl TestThread {
    /// Returns a thread whose built-in functions and compiled functions have this code.
    fn new(built_in: &[u8], compiled: &[u8]) -> Self {
        let memory = vec![0xcc_u8; BYTES + BUILT_IN];
        let first = memory.as_ptr().align_offset(BUILT_IN);
        let mut thread = Self { memory, first, words: vec![0; 64] };
        // The code before is another function's.
        thread.memory[first + 64..][..built_in.len()].copy_from_slice(built_in);
        thread.memory[first + BUILT_IN..][..compiled.len()].copy_from_slice(compiled);
        thread
    }

    fn code(&self) -> V8Code {
        let first = self.memory.as_ptr() as u64 + self.first as u64;
        let middle = first + BUILT_IN as u64;
        V8Code { built_in: first..middle, copy: 0..0, compiled: middle..first + BYTES as u64 }
    }

    /// Returns the address of a byte of the built-in function, or of the compiled one.
    fn built_in(&self, offset: u64) -> u64 {
        self.code().built_in.start + 64 + offset
    }

    fn compiled(&self, offset: u64) -> u64 {
        self.code().compiled.start + offset
    }

    fn stack(&self, word: usize) -> u64 {
        self.words.as_ptr() as u64 + 8 * word as u64
    }

    /// Puts a frame with these words below its frame pointer, the highest first, at a word of the stack.
    fn frame(&mut self, word: usize, below: &[u64]) {
        let (caller, return_to) = (self.stack(60), self.compiled(200));
        self.words[word..=word + 1].copy_from_slice(&[caller, return_to]);
        below.iter().enumerate().for_each(|(index, value)| self.words[word - 1 - index] = *value);
    }

    /// Returns the missing frame: address of the code, frame pointer of the caller, and return address.
    fn missing(
        &self,
        find: fn(CodeKind, &V8Code, &StoppedStack<'_>) -> Option<MissingFrame>,
        registers: CallRegisters,
        values: &[u64; registers::COUNT],
    ) -> Option<(u64, u64, u64)> {
        let code = self.code();
        let stack = StoppedStack { registers, values, end: self.stack(self.words.len()) };
        let kind = code.kind(registers.program)?;
        find(kind, &code, &stack).map(|found| (found.program, found.caller, found.return_to))
    }
}

/// The words of a frame of the interpreter.
const INTERPRETED: [u64; 5] = [CONTEXT, FUNCTION, 1, BYTECODE, OFFSET];

mod on_x86_64 {
    use super::super::x86_64;
    use super::*;

    /// Returns what is missing at an address, with the ends of stack and frame as words of the stack.
    fn at(
        thread: &TestThread,
        program: u64,
        stack: usize,
        frame: usize,
    ) -> Option<(u64, u64, u64)> {
        let (stack, frame) = (thread.stack(stack), thread.stack(frame));
        let registers = CallRegisters { program, stack, frame, link: 0 };
        let mut values = [0; registers::COUNT];
        values[10] = thread.compiled(77);
        values[11] = thread.compiled(115);
        thread.missing(x86_64::missing, registers, &values)
    }

    const JAVASCRIPT: &[u8] = &[0x55, 0x48, 0x89, 0xe5, 0x56, 0x57, 0x50, 0x90, 0x90, 0x90];

    #[test]
    fn a_built_in_function_without_a_frame_gets_one_on_top_of_its_caller() {
        let mut thread = TestThread::new(&[0x90; 64], &[0x90; 200]);
        thread.frame(20, &[CONTEXT, FUNCTION, 1]);
        thread.words[10] = thread.compiled(100);
        let (program, caller) = (thread.built_in(8), thread.stack(20));
        assert_eq!(at(&thread, program, 10, 20), Some((program, caller, thread.compiled(100))));
        // With a number of its own on the stack.
        thread.words[9] = 0x3ff0_0000_0000_0000;
        assert_eq!(at(&thread, program, 9, 20), Some((program, caller, thread.compiled(100))));
        // The words of the frame are not looked at, nor those behind.
        thread.words[10] = 5;
        thread.words[20] = thread.compiled(1);
        assert_eq!(at(&thread, program, 10, 20), None);
    }

    #[test]
    fn a_frame_that_is_there_is_left_alone() {
        let mut thread = TestThread::new(JAVASCRIPT, &[0x90; 200]);
        thread.frame(20, &[CONTEXT, FUNCTION, 1]);
        thread.words[10] = thread.compiled(100);
        // Its own frame of JavaScript, and one of another kind, whose first word is its type.
        assert_eq!(at(&thread, thread.built_in(8), 10, 20), None);
        assert_eq!(at(&thread, thread.compiled(50), 10, 20), None);
        let mut other = TestThread::new(&[0x90; 64], &[0x90; 200]);
        other.frame(20, &[0x22, FUNCTION, 1]);
        other.words[10] = other.compiled(100);
        assert_eq!(at(&other, other.built_in(8), 10, 20), None);
        // Outside of V8's code.
        assert_eq!(at(&other, other.compiled(0) + BYTES as u64, 10, 20), None);
    }

    #[test]
    fn what_looks_like_a_start_can_be_within_a_function_with_a_frame() {
        const OTHER: &[u8] = &[0x55, 0x48, 0x89, 0xe5, 0x6a, 0x22];
        for (before, filler, is_missing) in [
            (JAVASCRIPT, 1, false),
            (JAVASCRIPT, 4, false),
            (JAVASCRIPT, 24, true),
            (OTHER, 1, true),
        ] {
            let mut code = [0x90; 128];
            code[..before.len()].copy_from_slice(before);
            code[64 - filler..64].fill(0xcc);
            let mut thread = TestThread::new(&code, &[0x90; 200]);
            thread.frame(20, &[CONTEXT, FUNCTION, 1]);
            // What an earlier call has left where the function has not written yet.
            thread.words[12] = thread.compiled(100);
            let found = at(&thread, thread.built_in(72), 10, 20);
            assert_eq!(found.is_some(), is_missing, "{before:x?} {filler}");
        }
    }

    #[test]
    fn a_frame_that_is_being_made_is_whole() {
        let check = [0x48, 0x8b, 0x59, 0xf8, 0xf6, 0x43, 0x35, 0x01];
        let code = [&check, JAVASCRIPT].concat();
        let mut thread = TestThread::new(&[0x90; 64], &code);
        thread.frame(20, &[CONTEXT, FUNCTION, 1]);
        let (return_to, caller) = (thread.compiled(150), thread.stack(20));
        thread.words[10] = return_to;
        let after = thread.compiled(12);
        // Before, at the push, and at the move.
        let first = thread.compiled(0);
        assert_eq!(at(&thread, first, 10, 20), Some((first, caller, return_to)));
        assert_eq!(at(&thread, thread.compiled(8), 10, 20), Some((after, caller, return_to)));
        thread.words[9] = caller;
        assert_eq!(at(&thread, thread.compiled(9), 9, 20), Some((after, caller, return_to)));
        // With nothing in the frame.
        assert_eq!(at(&thread, after, 9, 9), Some((after, caller, return_to)));
        assert_eq!(at(&thread, after + 1, 8, 9), None);
    }

    #[test]
    fn a_frame_that_is_being_removed_is_whole() {
        // mov rsp, rbp; pop rbp; pop r10; lea rsp, [rsp+rcx*8]; push r10; ret
        let code =
            [0x90, 0x48, 0x8b, 0xe5, 0x5d, 0x41, 0x5a, 0x48, 0x8d, 0x24, 0xcc, 0x41, 0x52, 0xc3];
        let mut thread = TestThread::new(&[0x90; 64], &code);
        thread.frame(20, &[CONTEXT, FUNCTION, 1]);
        let (return_to, caller) = (thread.compiled(150), thread.stack(20));
        thread.words[9..=10].copy_from_slice(&[caller, return_to]);
        let [pop, taken, lea, push, last] = [4, 5, 7, 11, 13].map(|offset| thread.compiled(offset));
        assert_eq!(at(&thread, pop, 9, 9), Some((pop - 1, caller, return_to)));
        assert_eq!(at(&thread, taken, 10, 20), Some((taken, caller, return_to)));
        // In a register.
        assert_eq!(at(&thread, lea, 11, 20), Some((lea, caller, thread.compiled(77))));
        assert_eq!(at(&thread, push, 13, 20), Some((push, caller, thread.compiled(77))));
        assert_eq!(at(&thread, last, 10, 20), Some((last, caller, return_to)));
        // V8 refuses the instructions `pop rbp; ret`, and takes what is before them.
        let mut plain = TestThread::new(&[0x90; 64], &[0x48, 0x8b, 0xe5, 0x5d, 0xc2, 0x18, 0x00]);
        plain.words[10] = plain.compiled(150);
        let found = Some((plain.compiled(2), plain.stack(20), plain.compiled(150)));
        assert_eq!(at(&plain, plain.compiled(4), 10, 20), found);
    }

    #[test]
    fn the_interpreter_runs_in_the_frame_of_its_function() {
        let code = [[0x90; 100].as_slice(), JAVASCRIPT, &[0xff, 0xd1, 0x90, 0x90]].concat();
        let mut thread = TestThread::new(&code, &[0x90; 200]);
        thread.frame(20, &INTERPRETED);
        let program = thread.built_in(112);
        let caller = thread.stack(20);
        assert!(x86_64::is_interpreter(program, &thread.code()));
        assert!(!x86_64::is_interpreter(thread.built_in(100), &thread.code()));
        assert_eq!(at(&thread, program, 12, 20), Some((program, caller, program)));
        // The frame is not complete yet, or not one of the interpreter.
        assert_eq!(at(&thread, program, 17, 20), None);
        thread.words[15] = BYTECODE;
        assert_eq!(at(&thread, program, 12, 20), None);
    }

    #[test]
    fn what_the_interpreter_calls_returns_to_the_interpreter() {
        let interpreter = [[0x90; 100].as_slice(), JAVASCRIPT, &[0xff, 0xd1], &[0x90; 14]].concat();
        let mut code = interpreter.clone();
        code.resize(192, 0xcc);
        code.extend([0x90; 32]);
        let mut thread = TestThread::new(&code, &[0x90; 200]);
        thread.frame(30, &INTERPRETED);
        // What a handler of a bytecode leaves comes first.
        thread.words[10] = thread.compiled(100);
        thread.words[14] = thread.built_in(112);
        let program = thread.built_in(200);
        let found = at(&thread, program, 9, 30);
        assert_eq!(found, Some((program, thread.stack(30), thread.built_in(112))));
    }

    #[test]
    fn baseline_code_lets_a_built_in_function_make_its_frame() {
        // mov ebx, imm32; mov r12, imm64; call
        let mut code = vec![0x90; 100];
        code.extend([0xbb, 1, 0, 0, 0, 0x49, 0xbc, 1, 2, 3, 4, 5, 6, 7, 8, 0xe8, 0, 0, 0, 0]);
        code.drain(..5);
        // … pop r11; push rbp; mov rbp, rsp; …
        let prologue = [&[0x90; 10], &[0x41, 0x5b][..], &JAVASCRIPT[..5], &[0x90; 30]].concat();
        let mut thread = TestThread::new(&prologue, &code);
        let call_end = 95 + 20;
        thread.frame(20, &[CONTEXT, FUNCTION, 1]);
        let (own, return_to, caller) =
            (thread.compiled(call_end), thread.compiled(150), thread.stack(20));
        thread.words[9..=10].copy_from_slice(&[own, return_to]);
        for offset in [95, 100, 110] {
            let program = thread.compiled(offset);
            assert_eq!(at(&thread, program, 10, 20), Some((program, caller, return_to)));
        }
        // In the built-in function, neither has a frame.
        assert_eq!(at(&thread, thread.built_in(4), 9, 20), Some((own, caller, return_to)));
        // In any other, the next word has nothing to say.
        let mut other = TestThread::new(&[0x90; 64], &code);
        other.frame(20, &[CONTEXT, FUNCTION, 1]);
        let (own_there, caller_there) = (other.compiled(call_end), other.compiled(150));
        other.words[9..=10].copy_from_slice(&[own_there, caller_there]);
        let found = (other.built_in(4), other.stack(20), own_there);
        assert_eq!(at(&other, other.built_in(4), 9, 20), Some(found));
        // Once the frame is there, the way back is in r11.
        let program = thread.built_in(40);
        assert_eq!(at(&thread, program, 17, 20), Some((program, caller, own)));
    }
}

/// Addresses that no memory has: the kernel maps nothing there.
const NOWHERE: std::ops::Range<u64> = 0x1000..0x8000;

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "other memory is read on Linux only")]
fn numbers_that_look_like_addresses_of_code_are_not_followed() {
    let mut thread = TestThread::new(&[0x90; 64], &[]);
    thread.frame(20, &[CONTEXT, FUNCTION, 1]);
    let code = V8Code { compiled: NOWHERE, ..thread.code() };
    let registers = CallRegisters {
        program: thread.built_in(8),
        stack: thread.stack(10),
        frame: thread.stack(20),
        link: 0,
    };
    for in_stack in [0, 0x2800] {
        thread.words[10] = in_stack;
        // Also in each register.
        let values = [0x3800; registers::COUNT];
        let stack = StoppedStack { registers, values: &values, end: thread.stack(64) };
        let found = super::x86_64::missing(CodeKind::BuiltIn, &code, &stack);
        assert_eq!(found.map(|found| found.return_to), (in_stack != 0).then_some(in_stack));
    }
}

mod on_aarch64 {
    use super::super::aarch64;
    use super::*;

    fn at(
        thread: &TestThread,
        program: u64,
        stack: usize,
        frame: usize,
        link: u64,
    ) -> Option<(u64, u64, u64)> {
        let (stack, frame) = (thread.stack(stack), thread.stack(frame));
        let registers = CallRegisters { program, stack, frame, link };
        thread.missing(aarch64::missing, registers, &[0; registers::COUNT])
    }

    fn bytes(instructions: &[u32]) -> Vec<u8> {
        instructions.iter().flat_map(|instruction| instruction.to_le_bytes()).collect()
    }

    const NOP: u32 = 0xd503_201f;
    const PUSH: u32 = 0xa9bf_7bfd;
    const MAKE: u32 = 0x9100_03fd;
    const REMOVE: [u32; 2] = [0x9100_03bf, 0xa8c1_7bfd];
    const RETURN: u32 = 0xd65f_03c0;

    #[test]
    fn the_return_address_of_code_without_a_frame_is_in_a_register() {
        let mut thread = TestThread::new(&bytes(&[NOP; 16]), &bytes(&[NOP; 60]));
        thread.frame(20, &[CONTEXT, FUNCTION, 1]);
        let (program, caller) = (thread.built_in(8), thread.stack(20));
        let return_to = thread.compiled(100);
        let found = Some((program, caller, return_to));
        assert_eq!(at(&thread, program, 10, 20, return_to), found);
        // Outside of V8's code, and with a frame of another kind.
        assert_eq!(at(&thread, program, 10, 20, 5), None);
        thread.frame(20, &[0x22, FUNCTION, 1]);
        assert_eq!(at(&thread, program, 10, 20, return_to), None);
    }

    #[test]
    fn a_frame_of_a_built_in_function_is_left_alone() {
        let own = bytes(&[PUSH, MAKE, 0xa9be_03ff, NOP, NOP]);
        let mut thread = TestThread::new(&own, &bytes(&[NOP; 60]));
        thread.frame(20, &[CONTEXT, FUNCTION, 1]);
        assert_eq!(at(&thread, thread.built_in(12), 10, 20, thread.compiled(100)), None);
        assert!(!aarch64::is_interpreter(thread.built_in(12), &thread.code()));
    }

    #[test]
    fn a_frame_that_is_made_or_removed_is_whole() {
        let code = [&[NOP, PUSH, MAKE, NOP, NOP], &REMOVE[..], &[NOP, RETURN]].concat();
        let mut thread = TestThread::new(&bytes(&[NOP; 16]), &bytes(&code));
        thread.frame(20, &[CONTEXT, FUNCTION, 1]);
        let (return_to, caller) = (thread.compiled(150), thread.stack(20));
        thread.words[8..=9].copy_from_slice(&[caller, return_to]);
        let [before, push, make, made, left] =
            [0, 4, 8, 12, 28].map(|offset| thread.compiled(offset));
        assert_eq!(at(&thread, before, 10, 20, return_to), Some((before, caller, return_to)));
        assert_eq!(at(&thread, push, 10, 20, return_to), Some((push, caller, return_to)));
        assert_eq!(at(&thread, make, 8, 20, 0), Some((make, caller, return_to)));
        assert_eq!(at(&thread, made, 8, 8, 0), Some((made, caller, return_to)));
        assert_eq!(at(&thread, left, 10, 20, return_to), Some((left, caller, return_to)));
    }

    #[test]
    fn the_interpreter_runs_in_the_frame_of_its_function() {
        let code = bytes(&[NOP, PUSH, MAKE, 0xa9bf_6fe1, 0xd63f_0020, NOP]);
        let mut thread = TestThread::new(&code, &bytes(&[NOP; 60]));
        thread.frame(20, &INTERPRETED);
        let program = thread.built_in(20);
        assert!(aarch64::is_interpreter(program, &thread.code()));
        let found = Some((program, thread.stack(20), program));
        assert_eq!(at(&thread, program, 12, 20, thread.compiled(100)), found);
        assert_eq!(at(&thread, program, 17, 20, thread.compiled(100)), None);
    }
}

#[test]
fn the_frame_is_in_memory_below_the_stack_while_v8_looks() {
    let stack = [9_u64; 8];
    let top = &raw const stack as u64;
    let frame = MissingFrame { program: 1, caller: top + 24, return_to: 3, is_entering: false };
    let mut seen = None;
    // SAFETY: this thread stands still, and the stack pointer of the test is above this function's words.
    unsafe {
        frame.while_made(top, |registers| {
            let words = *((registers.frame - 8) as *const [u64; 3]);
            seen = Some((registers, words));
        });
    }
    let (registers, words) = seen.unwrap();
    assert_eq!((registers.program, words), (1, [0, top + 24, 3]));
    // V8 believes a frame that has room for its type, and no room for a function.
    assert_eq!(registers.frame - registers.stack, 8);
    assert!(registers.frame < top);
    assert_eq!(stack, [9; 8]);
}

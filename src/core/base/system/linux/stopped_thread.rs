//! A thread that a signal has stopped: its registers and its stack.

use std::ffi::{c_int, c_void};
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use std::{fs, io, ptr};

pub use super::mapped_file::MappedFile;
use crate::base::system::code_mapping::CodeMapping;
use crate::base::system::registers::{self, CallRegisters};

/// Whether registers can be read on this machine.
pub const IS_AVAILABLE: bool =
    !cfg!(target_env = "musl") && cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

/// A thread within the handler of a signal.
#[derive(Debug, Clone, Copy)]
pub struct StoppedThread(*const libc::ucontext_t);

impl StoppedThread {
    /// Returns the thread that a signal handler runs on, by the handler's third argument.
    ///
    /// # Safety
    /// The argument is that of a handler which has not returned.
    pub(super) unsafe fn new(context: *mut c_void) -> Self {
        Self(context.cast_const().cast())
    }

    /// Returns the values of the registers. May be called in a signal handler.
    pub fn registers(self) -> [u64; registers::COUNT] {
        // SAFETY: the context is there while the handler runs, and nobody changes it.
        unsafe { values(&(*self.0).uc_mcontext) }
    }

    /// Calls `f`, which sees other registers where the signal's context is looked at: those of `seen`. May be
    /// called in a signal handler.
    pub fn while_seen_with(self, seen: CallRegisters, f: impl FnOnce()) {
        let context = self.0.cast_mut();
        // SAFETY: the context can be written, is there while the handler runs, and nobody else uses it.
        let own = unsafe { set_call_registers(&mut (*context).uc_mcontext, seen) };
        f();
        // SAFETY: the same.
        unsafe { set_call_registers(&mut (*context).uc_mcontext, own) };
    }
}

/// Changes the registers of calls. Returns those from before.
#[cfg(target_arch = "x86_64")]
fn set_call_registers(context: &mut libc::mcontext_t, new: CallRegisters) -> CallRegisters {
    let mut set = |number: libc::c_int, value: u64| {
        std::mem::replace(&mut context.gregs[number as usize], value as i64) as u64
    };
    CallRegisters {
        program: set(libc::REG_RIP, new.program),
        stack: set(libc::REG_RSP, new.stack),
        frame: set(libc::REG_RBP, new.frame),
        link: 0,
    }
}

#[cfg(target_arch = "aarch64")]
fn set_call_registers(context: &mut libc::mcontext_t, new: CallRegisters) -> CallRegisters {
    use std::mem::replace;
    CallRegisters {
        program: replace(&mut context.pc, new.program),
        stack: replace(&mut context.sp, new.stack),
        frame: replace(&mut context.regs[29], new.frame),
        link: replace(&mut context.regs[30], new.link),
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn set_call_registers(_: &mut libc::mcontext_t, new: CallRegisters) -> CallRegisters {
    new
}

#[cfg(target_arch = "x86_64")]
fn values(context: &libc::mcontext_t) -> [u64; registers::COUNT] {
    // In the order of DWARF's numbers.
    const ORDER: [libc::c_int; registers::COUNT] = [
        libc::REG_RAX,
        libc::REG_RDX,
        libc::REG_RCX,
        libc::REG_RBX,
        libc::REG_RSI,
        libc::REG_RDI,
        libc::REG_RBP,
        libc::REG_RSP,
        libc::REG_R8,
        libc::REG_R9,
        libc::REG_R10,
        libc::REG_R11,
        libc::REG_R12,
        libc::REG_R13,
        libc::REG_R14,
        libc::REG_R15,
        libc::REG_RIP,
    ];
    ORDER.map(|number| context.gregs[number as usize] as u64)
}

#[cfg(target_arch = "aarch64")]
fn values(context: &libc::mcontext_t) -> [u64; registers::COUNT] {
    let mut values = [0; registers::COUNT];
    values[..31].copy_from_slice(&context.regs);
    values[31] = context.sp;
    values[32] = context.pc;
    values
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn values(_: &libc::mcontext_t) -> [u64; registers::COUNT] {
    [0; registers::COUNT]
}

/// Returns registers with which the calling function's own stack can be read: those that a call keeps. Others are 0.
#[inline(always)]
pub fn own_registers() -> [u64; registers::COUNT] {
    let mut values = [0; registers::COUNT];
    #[cfg(target_arch = "x86_64")]
    // SAFETY: registers are read, and the memory of the array is written.
    unsafe {
        std::arch::asm!(
            "mov [{0} + 24], rbx",
            "mov [{0} + 48], rbp",
            "mov [{0} + 56], rsp",
            "mov [{0} + 96], r12",
            "mov [{0} + 104], r13",
            "mov [{0} + 112], r14",
            "mov [{0} + 120], r15",
            "lea {1}, [rip]",
            "mov [{0} + 128], {1}",
            in(reg) values.as_mut_ptr(),
            out(reg) _,
            options(nostack, preserves_flags),
        );
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: the same.
    unsafe {
        std::arch::asm!(
            "stp x19, x20, [{0}, #152]",
            "stp x21, x22, [{0}, #168]",
            "stp x23, x24, [{0}, #184]",
            "stp x25, x26, [{0}, #200]",
            "stp x27, x28, [{0}, #216]",
            "stp x29, x30, [{0}, #232]",
            "mov {1}, sp",
            "str {1}, [{0}, #248]",
            "adr {1}, .",
            "str {1}, [{0}, #256]",
            in(reg) values.as_mut_ptr(),
            out(reg) _,
            options(nostack, preserves_flags),
        );
    }
    values
}

/// The most bytes of a stack: as much as the kernel always keeps free of other mappings below the first thread's.
/// Without a limit of the stack (`ulimit -s unlimited`), the C library counts all up to the mapping below, terabytes
/// in which the kernel puts new mappings.
const MAX_STACK: u64 = 128 << 20;

/// Returns the addresses of the calling thread's stack. The kernel's list of the memory is read for the first
/// thread, which takes some milliseconds in a large process.
pub fn own_stack() -> Option<Range<u64>> {
    // SAFETY: the attributes are filled before they are read, and destroyed once.
    unsafe {
        let mut attributes = std::mem::zeroed();
        if libc::pthread_getattr_np(libc::pthread_self(), &mut attributes) != 0 {
            return None;
        }
        let (mut start, mut size) = (ptr::null_mut(), 0);
        let status = libc::pthread_attr_getstack(&attributes, &mut start, &mut size);
        libc::pthread_attr_destroy(&mut attributes);
        let start = start as u64;
        (status == 0).then(|| kept_free(start..start.saturating_add(size as u64)))
    }
}

/// Returns the address after the calling thread's stack.
pub fn own_stack_end() -> Option<u64> {
    if super::thread_id() != Some(std::process::id()) {
        return own_stack().map(|stack| stack.end);
    }
    // The C library's own variable: its function reads the kernel's list of the memory for the first thread.
    let variable = super::exported(c"__libc_stack_end")?.cast_const().cast::<u64>();
    // SAFETY: the variable is a pointer, which is set before the program begins.
    Some(unsafe { variable.read() })
}

/// Returns the lowest address that can be of the calling thread's stack, which ends at `end`: the kernel lets the first
/// thread's stack grow down to it.
pub fn own_stack_start(end: u64) -> Option<u64> {
    if super::thread_id() != Some(std::process::id()) {
        return own_stack().map(|stack| stack.start);
    }
    // SAFETY: all zeros are a valid struct, which the call fills, or fails.
    let limit = unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        (libc::getrlimit(libc::RLIMIT_STACK, &mut limit) == 0).then_some(limit.rlim_cur)?
    };
    Some(kept_free(end.saturating_sub(limit)..end).start)
}

/// Returns the part of a stack's addresses that can hold nothing but the stack.
fn kept_free(stack: Range<u64>) -> Range<u64> {
    stack.start.max(stack.end.saturating_sub(MAX_STACK))..stack.end
}

/// Returns the parts of this process's memory that can be written.
pub fn data_ranges() -> Vec<Range<u64>> {
    let text = fs::read("/proc/self/maps").unwrap_or_default();
    CodeMapping::data_ranges(&String::from_utf8_lossy(&text))
}

/// Returns the parts of this process's memory that hold code.
pub fn code_mappings() -> Vec<CodeMapping> {
    let text = fs::read("/proc/self/maps").unwrap_or_default();
    CodeMapping::parse(&String::from_utf8_lossy(&text))
}

/// A bell that a signal handler can ring for a thread that waits. The clock of a semaphore is that of the day, which
/// can be set back while the thread waits; a futex counts by the other one.
#[derive(Debug, Clone, Copy)]
pub struct Bell(&'static AtomicU32);

/// The values of a bell.
const SILENT: u32 = 0;
const RUNG: u32 = 1;

impl Bell {
    /// Returns a bell, which every Linux has. Its memory is never freed.
    pub fn new() -> io::Result<Self> {
        Ok(Self(Box::leak(Box::new(AtomicU32::new(SILENT)))))
    }

    /// Rings. May be called in a signal handler.
    pub fn ring(self) {
        if self.0.swap(RUNG, Ordering::AcqRel) == SILENT {
            self.futex(libc::FUTEX_WAKE, 1, ptr::null());
        }
    }

    /// Waits for a ring, but no longer than that; without a limit if there is none.
    pub fn wait(self, limit: Option<Duration>) {
        let end = limit.map(|limit| Instant::now() + limit);
        while self.0.swap(SILENT, Ordering::AcqRel) == SILENT {
            let rest = end.map(|end| end.saturating_duration_since(Instant::now()));
            if rest.is_some_and(|rest| rest.is_zero()) {
                return;
            }
            let rest = rest.map(|rest| libc::timespec {
                tv_sec: rest.as_secs() as libc::time_t,
                tv_nsec: rest.subsec_nanos().into(),
            });
            // Returns as soon as the bell has rung, also if it rang before the call.
            self.futex(libc::FUTEX_WAIT, SILENT, rest.as_ref().map_or(ptr::null(), ptr::from_ref));
        }
    }

    fn futex(self, operation: c_int, value: u32, limit: *const libc::timespec) {
        let operation = operation | libc::FUTEX_PRIVATE_FLAG;
        // SAFETY: the kernel reads the number, which lives as long as the process, and the limit, which lives
        // during the call.
        unsafe { libc::syscall(libc::SYS_futex, self.0.as_ptr(), operation, value, limit) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::system::registers::Registers;

    #[test]
    fn a_bell_ends_a_wait_whenever_it_rings() {
        let bell = Bell::new().unwrap();
        bell.ring();
        bell.ring();
        bell.wait(None);
        let limit = Duration::from_millis(30);
        let begun = Instant::now();
        bell.wait(Some(limit));
        assert!(begun.elapsed() >= limit);
        let waits = std::thread::spawn(move || (0..1000).for_each(|_| bell.wait(None)));
        while !waits.is_finished() {
            bell.ring();
            std::thread::yield_now();
        }
        waits.join().unwrap();
    }

    #[test]
    fn the_own_stack_is_known() {
        let own = own_registers();
        let registers = Registers::new(own);
        let local = &raw const own as u64;
        let stack = own_stack().unwrap();
        assert!(
            stack.contains(&local) && stack.contains(&registers.get(registers::STACK).unwrap())
        );
        let code = registers.get(registers::PROGRAM).unwrap();
        let mappings = code_mappings();
        let mapping = mappings.iter().find(|mapping| mapping.range.contains(&code)).unwrap();
        let own = std::env::current_exe().unwrap();
        assert_eq!(mapping.file.as_ref().unwrap().path, own.to_str().unwrap());
    }

    #[test]
    fn the_stack_of_a_first_thread_without_a_limit_ends_where_new_mappings_can_be() {
        let end = 0x7fff_0000_0000;
        assert_eq!(kept_free(0x5555_0000_0000..end), end - MAX_STACK..end);
        assert_eq!(kept_free(end - 4096..end), end - 4096..end);
    }
}

//! The clock of V8.
//!
//! V8 uses the performance counter where the counter is cheap: where the time stamps of the processor never
//! stop, under Hyper-V, and on ARM. Elsewhere, in a virtual machine of VirtualBox for example, V8 uses the
//! multimedia timer, whose times begin at another moment. All versions of Node decide so.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use windows_sys::Win32::System::LibraryLoader::{GetModuleHandleW, GetProcAddress};
use windows_sys::Win32::System::Performance::{QueryPerformanceCounter, QueryPerformanceFrequency};
use windows_sys::w;

use super::super::timer_rounds::TimerRounds;

/// `timeGetTime`
type Timer = unsafe extern "system" fn() -> u32;

/// The longest step of the multimedia timer, microseconds.
const TIMER_STEP_US: i64 = 15_625;

/// Returns the time on the clock of V8, microseconds.
pub fn now_us() -> i64 {
    v8_timer().map_or_else(counter_us, timer_us)
}

/// Returns the step in which V8's clock moves, microseconds.
pub fn v8_clock_step_us() -> i64 {
    v8_timer().map_or(1, |_| TIMER_STEP_US)
}

/// Returns by how much Node's clock, which is the performance counter, is ahead of V8's, microseconds.
pub fn node_clock_lead_us() -> i64 {
    v8_timer().map_or(0, |timer| counter_us() - timer_us(timer))
}

/// Returns the timer that V8 uses in place of the counter, if V8 does.
fn v8_timer() -> Option<Timer> {
    static TIMER: OnceLock<Option<Timer>> = OnceLock::new();
    *TIMER.get_or_init(|| if has_cheap_counter() { None } else { timer() })
}

fn counter_us() -> i64 {
    let (mut count, mut frequency) = (0, 0);
    // SAFETY: may be called on any thread. Both calls fill a number, and cannot fail.
    unsafe {
        QueryPerformanceCounter(&mut count);
        QueryPerformanceFrequency(&mut frequency);
    }
    let us = i128::from(count) * 1_000_000 / i128::from(frequency.max(1));
    i64::try_from(us).unwrap_or(i64::MAX)
}

/// Returns the time on a timer, microseconds.
fn timer_us(timer: Timer) -> i64 {
    static ROUNDS: AtomicU64 = AtomicU64::new(0);
    loop {
        let before = ROUNDS.load(Ordering::Relaxed);
        // SAFETY: may be called on any thread. The call takes no arguments and cannot fail.
        let (rounds, time) = TimerRounds::from_bits(before).at(unsafe { timer() });
        let changed =
            ROUNDS.compare_exchange(before, rounds.bits(), Ordering::Relaxed, Ordering::Relaxed);
        // Another thread may have seen the next round.
        if changed.is_ok() {
            return i64::try_from(time * 1000).unwrap_or(i64::MAX);
        }
    }
}

/// Returns the multimedia timer, whose library V8 has loaded.
fn timer() -> Option<Timer> {
    // SAFETY: may be called on any thread. The names end in a NUL. The function has this type, and its
    // library stays as long as the program.
    unsafe {
        let module = GetModuleHandleW(w!("winmm.dll"));
        if module.is_null() {
            return None;
        }
        let address = GetProcAddress(module, c"timeGetTime".as_ptr().cast())?;
        Some(std::mem::transmute::<unsafe extern "system" fn() -> isize, Timer>(address))
    }
}

#[cfg(target_arch = "x86_64")]
fn has_cheap_counter() -> bool {
    use std::arch::x86_64::{__cpuid, CpuidResult};

    const HIGHEST: u32 = 0x8000_0000;
    const POWER: u32 = 0x8000_0007;
    const FEATURES: u32 = 1;
    const HYPERVISOR: u32 = 0x4000_0000;

    // Newer versions of Rust have a safe function.
    #[allow(unused_unsafe)]
    // SAFETY: each processor of this architecture has the instruction.
    let cpuid = |leaf| unsafe { __cpuid(leaf) };
    let is_steady = cpuid(HIGHEST).eax >= POWER && cpuid(POWER).edx & 1 << 8 != 0;
    let is_guest = || cpuid(FEATURES).ecx & 1 << 31 != 0;
    let is_hyper_v = || {
        let CpuidResult { ebx, ecx, edx, .. } = cpuid(HYPERVISOR);
        [ebx, ecx, edx].map(u32::to_le_bytes).concat() == b"Microsoft Hv"
    };
    is_steady || (is_guest() && is_hyper_v())
}

#[cfg(not(target_arch = "x86_64"))]
fn has_cheap_counter() -> bool {
    true
}

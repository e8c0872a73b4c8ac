//! The clocks of V8 and Node, which differ on macOS: that of V8 (`mach_absolute_time`) stands still while
//! the system sleeps, and that of Node (`uv_hrtime`, by `mach_continuous_time`) does not.

use std::sync::OnceLock;

use mach2::kern_return::KERN_SUCCESS;
use mach2::mach_time::{mach_timebase_info, mach_timebase_info_data_t};

use super::super::posix::{clock_us, exported};

/// Returns the time on the clock of V8, microseconds.
pub fn now_us() -> i64 {
    // The call cannot fail for this clock.
    clock_us(libc::CLOCK_UPTIME_RAW).unwrap_or(0)
}

/// Returns the step in which V8's clock moves, microseconds: V8 divides the ticks of the processor's
/// clock by 1000 before V8 turns them into a time. A tick has 42 ns on Apple silicon, and 1 ns on Intel.
pub fn v8_clock_step_us() -> i64 {
    static STEP_US: OnceLock<i64> = OnceLock::new();
    *STEP_US.get_or_init(|| {
        let mut tick = mach_timebase_info_data_t { numer: 1, denom: 1 };
        // SAFETY: may be called on any thread. The call fills the struct.
        let status = unsafe { mach_timebase_info(&mut tick) };
        let is_known = status == KERN_SUCCESS && tick.denom > 0;
        if is_known { i64::from(tick.numer.div_ceil(tick.denom)).max(1) } else { 1 }
    })
}

/// Returns by how much Node's clock is ahead of V8's now: the time that the system has slept,
/// microseconds.
pub fn node_clock_lead_us() -> i64 {
    let Some(node_us) = node_clock() else { return 0 };
    let mut closest = (i64::MAX, 0);
    // The thread can stand still between two readings, so the closest ones count.
    for _ in 0..5 {
        let before_us = now_us();
        let lead_us = node_us() - before_us;
        let span_us = now_us() - before_us;
        closest = closest.min((span_us, lead_us));
        if span_us <= 1 {
            break;
        }
    }
    closest.1
}

/// Returns the function that reads Node's clock; none in a program without libuv.
fn node_clock() -> Option<impl Fn() -> i64> {
    type HrTime = unsafe extern "C" fn() -> u64;
    static HRTIME: OnceLock<Option<HrTime>> = OnceLock::new();
    let hrtime = *HRTIME.get_or_init(|| {
        let address = exported(c"uv_hrtime")?;
        // SAFETY: the function is one of libuv's stable API with this type.
        Some(unsafe { std::mem::transmute::<*mut std::ffi::c_void, HrTime>(address) })
    });
    // SAFETY: may be called on any thread.
    hrtime.map(|hrtime| move || i64::try_from(unsafe { hrtime() } / 1000).unwrap_or(i64::MAX))
}

//! The threads that run no JavaScript: the CPU time of all, and, where they are sampled, their traces.

mod cpu_use;
mod lane;
mod lanes;

pub(super) use self::cpu_use::NativeThreads;
pub(crate) use self::lanes::LanePlan;
pub(super) use self::lanes::NativeLanes;

//! Reads copies of native stacks: which functions are on them, up to the first one of JavaScript.
//!
//! Addresses become functions here, by the tables that compilers make for exceptions; names come when a trace
//! is read. A stack is followed only by those tables: what the tables do not cover ends the stack. Libraries
//! for this fall back to the frame pointer there, and so show functions that were not on the stack wherever
//! code uses the register for something else.

mod copy_limit;
mod functions;
mod modules;
mod reader;
mod ticks;
mod unwind_table;
mod unwinder;

pub(crate) use self::reader::{NativeStack, NativeTicks, ThreadStacks};
pub(crate) use self::ticks::{ThreadTicks, Tick};
pub(crate) use self::unwinder::StackEnd;

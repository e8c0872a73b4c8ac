//! A source of our own: a timer signals the thread, and the signal handler follows the frames of its stack.
//!
//! The handler copies what is in the frames of JavaScript, and reads nothing else. Before a collection begins, and when
//! a window ends, the thread finds out which functions these are, and asks V8 for their names and places.
//!
//! Safety rules:
//! - What is read of V8's objects is in one table, `layout`. Each object's type is checked before it is used, and what
//!   may not be there is read by the kernel.
//! - A [`Walker`] never leaves its isolate's thread.
//! - The signal handler uses a `WalkedThread`, which lives until the thread itself has taken it back.
#![allow(unsafe_code)]

mod bytecodes;
mod code;
mod collector;
mod frames;
mod functions;
mod isolate;
mod layout;
mod memory;
mod objects;
mod oracle;
mod positions;
mod proof;
mod ring;
mod stopped;
mod symbols;
mod walker;
mod window;

pub(crate) use self::proof::prove;
pub(crate) use self::walker::Walker;
pub(crate) use self::window::WalkWindow;

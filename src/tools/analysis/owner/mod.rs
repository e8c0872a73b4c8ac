//! Who is responsible for a function, and how that follows from the stack.

mod call_sites;
mod code_owner;
pub mod finder;

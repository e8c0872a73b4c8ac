//! Follows a copy of a stack from function to caller.

use std::ops::Range;
use std::time::Duration;

use super::functions::NativeFunctions;
use super::modules::{CodePlace, Modules};
use super::unwind_table::{FrameEnd, SavedPlace, UnwindRule, UnwindTable};
use crate::sampler::v8::{CopiedStack, JavaScriptCode};
use cpu_prof_core::base::system::registers::{self, Registers};
use cpu_prof_core::profile::frame::CallFrame;

/// The most frames of a stack.
const MAX_FRAMES: usize = 512;

/// Age of the list of code at which it is read again: a module can have the place of one that was removed. In a
/// process with a large heap the kernel takes milliseconds for the list.
const MAX_AGE: Duration = Duration::from_secs(2);
/// The same for a place that is not in the list.
const MIN_AGE: Duration = Duration::from_millis(200);

/// Where a native stack ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StackEnd {
    /// At a function of JavaScript.
    JavaScript,
    /// At the function with which the thread began.
    Thread,
    /// At a function of this addon, whose work is not the program's.
    Profiler,
    /// The rest is not known.
    Cut,
}

/// A stack that was followed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FollowedStack {
    /// Numbers of the functions, the innermost first.
    pub functions: Vec<u32>,
    pub end: StackEnd,
    /// How much of the stack was copied and needed.
    pub copied: CopiedBytes,
}

/// How much of a stack was copied and needed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CopiedBytes {
    /// What was copied, bytes.
    pub all: usize,
    /// The part that was needed, bytes.
    pub used: usize,
    /// Whether a part of the stack was needed that was not copied.
    pub is_short: bool,
}

/// Follows stacks.
#[derive(Default)]
pub(super) struct Unwinder {
    modules: Modules,
    functions: NativeFunctions,
}

/// The copy of a stack, by its addresses.
struct StackMemory<'a> {
    start: u64,
    words: &'a [u64],
    stack: &'a Range<u64>,
    is_short: bool,
    used_words: usize,
}

impl StackMemory<'_> {
    fn read(&mut self, address: u64) -> Option<u64> {
        let distance = address.checked_sub(self.start).filter(|bytes| bytes.is_multiple_of(8))?;
        let index = usize::try_from(distance / 8).ok()?;
        let word = self.words.get(index).copied();
        self.used_words = self.used_words.max(index + 1);
        self.is_short |= word.is_none() && self.stack.contains(&address);
        word
    }
}

impl Unwinder {
    /// Returns whether it could not be read so far which code is in memory.
    pub(super) fn knows_nothing(&self) -> bool {
        self.modules.is_unknown()
    }

    /// Returns the frame of a function by its number.
    pub(super) fn frame(&self, number: u32) -> Option<&CallFrame> {
        self.functions.frame(number)
    }

    /// Follows a stack, whose addresses are `stack`, to the first function of JavaScript. `takes_own` tells that
    /// functions of this addon do not end it.
    pub(super) fn follow(
        &mut self,
        copy: &CopiedStack<'_>,
        stack: &Range<u64>,
        javascript: &JavaScriptCode,
        takes_own: bool,
    ) -> FollowedStack {
        self.modules.refresh_after(MAX_AGE);
        let start = copy.registers.get(registers::STACK).unwrap_or(0);
        let start = start.wrapping_sub(registers::BELOW_STACK);
        let mut memory =
            StackMemory { start, words: copy.words, stack, is_short: false, used_words: 0 };
        let mut functions = Vec::new();
        let end = self.walk(copy.registers, &mut memory, javascript, takes_own, &mut functions);
        let all = copy.words.len() * 8;
        let used = (memory.used_words * 8).min(all);
        FollowedStack {
            functions,
            end,
            copied: CopiedBytes { all, used, is_short: memory.is_short },
        }
    }

    fn walk(
        &mut self,
        mut registers: Registers,
        memory: &mut StackMemory<'_>,
        javascript: &JavaScriptCode,
        takes_own: bool,
        functions: &mut Vec<u32>,
    ) -> StackEnd {
        // An address to return to can be that of the next function, if the call never returns.
        let mut is_call = false;
        while functions.len() < MAX_FRAMES {
            let Some(program) = registers.get(registers::PROGRAM) else { return StackEnd::Cut };
            let place = program.wrapping_sub(u64::from(is_call));
            if javascript.contains(place) {
                return StackEnd::JavaScript;
            }
            let mut found = self.modules.find(place);
            if found.is_none() && self.modules.refresh_after(MIN_AGE) {
                found = self.modules.find(place);
            }
            let (module, address) = match found {
                Some(CodePlace::Module(module, address)) => (module, address),
                Some(CodePlace::Made) => return StackEnd::JavaScript,
                None => return StackEnd::Cut,
            };
            if self.modules.is_own(module) && !takes_own {
                return StackEnd::Profiler;
            }
            let rule = self.modules.rule(module, address);
            let function = rule.as_ref().map_or(address, |rule| rule.function);
            let Some(module_of) = self.modules.module(module) else { return StackEnd::Cut };
            let number = self
                .functions
                .number(module, function, || module_of.frame(function, rule.is_some()));
            let Some(number) = number else { return StackEnd::Cut };
            functions.push(number);
            let next = match (&rule, &module_of.table) {
                (Some(rule), _) if rule.is_first => return StackEnd::Thread,
                (Some(rule), Some(table)) if registers.get(registers::STACK).is_some() => {
                    caller(rule, table, &registers, memory, !is_call)
                }
                _ => caller_by_record(&registers, memory, |place| {
                    !is_call && self.modules.covers(place)
                }),
            };
            match next {
                Some(next) => registers = next,
                None => return StackEnd::Cut,
            }
            if registers.get(registers::PROGRAM) == Some(0) {
                return StackEnd::Thread;
            }
            is_call = rule.is_none_or(|rule| !rule.is_signal);
        }
        StackEnd::Cut
    }
}

/// Returns the registers of a function's caller; none if they cannot be known. `is_innermost` tells that the
/// function has not called another.
fn caller(
    rule: &UnwindRule,
    table: &UnwindTable,
    own: &Registers,
    memory: &mut StackMemory<'_>,
    is_innermost: bool,
) -> Option<Registers> {
    let end = match rule.end {
        FrameEnd::FromRegister(register, offset) => {
            own.get(register)?.checked_add_signed(offset)?
        }
        FrameEnd::At(expression) => {
            table.evaluate(expression, rule, None, own, |address| memory.read(address))?
        }
    };
    let stack = own.get(registers::STACK)?;
    // A function that has not stored anything yet can have a frame of no length, where the machine has a
    // register for the address to return to.
    let has_frame = end > stack || end == stack && is_innermost && registers::LINK.is_some();
    if !has_frame && !rule.is_signal {
        return None;
    }
    let mut next = own.kept();
    if is_innermost && let Some(link) = registers::LINK {
        next.set(link, own.get(link));
    }
    next.set(registers::STACK, Some(end));
    for (register, place) in &rule.saved {
        let address = match place {
            SavedPlace::FromEnd(offset) => end.checked_add_signed(*offset),
            SavedPlace::At(expression) => {
                table.evaluate(*expression, rule, Some(end), own, |address| memory.read(address))
            }
            SavedPlace::Nowhere => None,
        };
        next.set(*register, address.and_then(|address| memory.read(address)));
    }
    let program = next.get(registers::RETURN)?;
    next.set(registers::PROGRAM, Some(without_signature(program)));
    Some(next)
}

/// Returns the registers of a function's caller by the function's frame record: assembly can have no table. None if
/// the machine has no records. Where the caller's frame begins stays unknown, so that all further callers are found
/// by their records. `is_direct` tells of a place in the code whether the function, which has made no record yet,
/// can have been called from there.
fn caller_by_record(
    own: &Registers,
    memory: &mut StackMemory<'_>,
    is_direct: impl FnOnce(u64) -> bool,
) -> Option<Registers> {
    let frame = registers::FRAME?;
    let record = own.get(frame)?;
    let caller = without_signature(memory.read(record.checked_add(8)?)?);
    let mut next = Registers::default();
    let link = registers::LINK.and_then(|link| own.get(link)).map(without_signature);
    match link.filter(|link| *link != caller && is_direct(*link)) {
        // The record is the caller's.
        Some(link) => {
            next.set(frame, Some(record));
            next.set(registers::PROGRAM, Some(link));
        }
        None => {
            let outer = memory.read(record)?;
            next.set(frame, (outer > record).then_some(outer));
            next.set(registers::PROGRAM, Some(caller));
        }
    }
    Some(next)
}

/// Returns an address without the signature that AArch64 can put into its upper bits.
fn without_signature(address: u64) -> u64 {
    const ADDRESS_BITS: u32 = 48;
    if registers::LINK.is_some() { address & ((1 << ADDRESS_BITS) - 1) } else { address }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampler::v8::StackRing;
    use cpu_prof_core::base::system::stopped_thread::{Bell, own_stack};
    use std::hint::black_box;

    /// Calls itself, and then lets the stack be copied.
    #[inline(never)]
    fn nested(depth: usize, ring: &StackRing) -> usize {
        if depth == 0 {
            ring.add_own();
            return 0;
        }
        black_box(nested(depth - 1, ring) + 1)
    }

    #[test]
    #[cfg_attr(not(target_os = "linux"), ignore = "only on Linux are stacks copied")]
    fn the_own_stack_is_followed_to_its_end() {
        let stack = own_stack().unwrap();
        let (code, bell) = (JavaScriptCode::made(1..2), Bell::new().unwrap());
        let ring = StackRing::new(stack.clone(), code, bell, StackRing::BYTES);
        let depth = black_box(nested(20, &ring));
        let mut unwinder = Unwinder::default();
        let mut followed = Vec::new();
        ring.take(&mut Vec::new(), |copy| {
            followed.push(unwinder.follow(&copy, &stack, &ring.code, true));
        });
        let [FollowedStack { functions, end, .. }] = &followed[..] else { panic!("{followed:?}") };
        let names: Vec<_> = functions.iter().map(|number| unwinder.frame(*number)).collect();
        assert_eq!(*end, StackEnd::Thread, "{names:#?}");
        let nested = functions[1];
        let count = functions.iter().filter(|number| **number == nested).count();
        assert_eq!(count, depth + 1, "{names:#?}");
    }

    // Elsewhere there are no frame records.
    #[cfg(target_arch = "aarch64")]
    #[test]
    fn a_function_without_a_table_has_the_caller_of_its_record() {
        const RECORD: u64 = 0x1010;
        const CALLER: u64 = 0xaaaa_0000_1234;
        const DIRECT: u64 = 0xaaaa_0000_5678;
        let words = [1, 2, 0x1040, CALLER | 7 << 56, 0x1008, 5];
        let stack = 0x1000..0x2000;
        let caller = |record: u64, link: u64| {
            let mut memory = StackMemory {
                start: 0x1000,
                words: &words,
                stack: &stack,
                is_short: false,
                used_words: 0,
            };
            let mut own = Registers::default();
            own.set(registers::FRAME?, Some(record));
            own.set(registers::LINK?, Some(link));
            let next = caller_by_record(&own, &mut memory, |place| place == DIRECT)?;
            assert_eq!(next.get(registers::STACK), None);
            Some((next.get(registers::PROGRAM)?, next.get(registers::FRAME?)))
        };
        assert_eq!(caller(RECORD, CALLER), Some((CALLER, Some(0x1040))));
        // The register has data.
        assert_eq!(caller(RECORD, 99), Some((CALLER, Some(0x1040))));
        // The function has no record yet, and may have signed the address.
        assert_eq!(caller(RECORD, DIRECT | 3 << 56), Some((DIRECT, Some(RECORD))));
        // The record before would be below this one, or there is no record.
        assert_eq!(caller(RECORD + 16, 99), Some((5, None)));
        assert_eq!(caller(RECORD + 24, 99), None);
        assert_eq!(caller(0x3000, 99), None);
    }
}

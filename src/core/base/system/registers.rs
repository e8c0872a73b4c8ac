//! The registers of a thread, by the numbers that DWARF gives them on this machine.

/// A kind of machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Machine {
    /// x86-64.
    X86_64,
    /// AArch64.
    Aarch64,
    /// Another one.
    Other,
}

/// This machine.
pub const MACHINE: Machine = if cfg!(target_arch = "x86_64") {
    Machine::X86_64
} else if cfg!(target_arch = "aarch64") {
    Machine::Aarch64
} else {
    Machine::Other
};

/// The registers by which a stack is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallRegisters {
    /// The program counter.
    pub program: u64,
    /// The stack pointer.
    pub stack: u64,
    /// The frame pointer.
    pub frame: u64,
    /// The address to return to, as long as that is in a register; 0 on machines that keep it on the stack.
    pub link: u64,
}

impl CallRegisters {
    /// Returns these registers of all.
    pub fn of(values: &[u64; COUNT]) -> Self {
        let value = |number: u16| values.get(usize::from(number)).copied().unwrap_or(0);
        Self {
            program: value(PROGRAM),
            stack: value(STACK),
            frame: value(machine::FRAME_POINTER),
            link: LINK.map_or(0, value),
        }
    }
}

/// What is particular to x86-64: the System V ABI.
#[cfg(target_arch = "x86_64")]
mod machine {
    /// Count of registers: 16 general ones, and the program counter.
    pub const COUNT: usize = 17;
    /// The stack pointer.
    pub const STACK: u16 = 7;
    /// The program counter, which is also the column of the return address.
    pub const PROGRAM: u16 = 16;
    /// The column of the return address in tables.
    pub const RETURN: u16 = 16;
    /// The register that has the return address at the start of a function; none if it is on the stack.
    pub const LINK: Option<u16> = None;
    /// The register that has the address of the innermost frame record: that of the record before, and the
    /// address to return to. None if functions need none.
    pub const FRAME: Option<u16> = None;
    /// The frame pointer, of code that has one.
    pub(super) const FRAME_POINTER: u16 = 6;
    /// The register that has the function when V8 calls a function of JavaScript.
    pub const FUNCTION: u16 = 5;
    /// Bytes below the stack pointer that a function may use, and signal handlers leave alone.
    pub const BELOW_STACK: u64 = 128;
    /// The registers that a function leaves as they were.
    pub const KEPT: &[u16] = &[3, 6, 12, 13, 14, 15];
}

/// What is particular to AArch64.
#[cfg(target_arch = "aarch64")]
mod machine {
    pub const COUNT: usize = 33;
    pub const STACK: u16 = 31;
    /// DWARF has no number for the program counter.
    pub const PROGRAM: u16 = 32;
    pub const RETURN: u16 = 30;
    pub const LINK: Option<u16> = Some(30);
    pub const FRAME: Option<u16> = Some(29);
    pub(super) const FRAME_POINTER: u16 = 29;
    pub const FUNCTION: u16 = 1;
    pub const BELOW_STACK: u64 = 0;
    pub const KEPT: &[u16] = &[19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29];
}

/// Other machines, whose native stacks are not read.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod machine {
    pub const COUNT: usize = 2;
    pub const STACK: u16 = 0;
    pub const PROGRAM: u16 = 1;
    pub const RETURN: u16 = 1;
    pub const LINK: Option<u16> = None;
    pub const FRAME: Option<u16> = None;
    pub(super) const FRAME_POINTER: u16 = 0;
    pub const FUNCTION: u16 = 0;
    pub const BELOW_STACK: u64 = 0;
    pub const KEPT: &[u16] = &[];
}

pub use self::machine::{BELOW_STACK, COUNT, FRAME, FUNCTION, KEPT, LINK, PROGRAM, RETURN, STACK};

/// The values of the registers; none where a value is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Registers([Option<u64>; COUNT]);

impl Default for Registers {
    fn default() -> Self {
        Self([None; COUNT])
    }
}

impl Registers {
    /// Returns registers whose values are all known.
    pub fn new(values: [u64; COUNT]) -> Self {
        Self(values.map(Some))
    }

    /// Returns the value of a register by its number; none if it is not known.
    pub fn get(&self, number: u16) -> Option<u64> {
        self.0.get(usize::from(number)).copied().flatten()
    }

    /// Changes the value of a register. A number that the machine does not have changes nothing.
    pub fn set(&mut self, number: u16, value: Option<u64>) {
        if let Some(register) = self.0.get_mut(usize::from(number)) {
            *register = value;
        }
    }

    /// Returns the registers that a caller has as the function that it called.
    pub fn kept(&self) -> Self {
        let mut kept = Self::default();
        KEPT.iter().for_each(|number| kept.set(*number, self.get(*number)));
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_keeps_some_registers() {
        let all = Registers::new(std::array::from_fn(|number| number as u64 + 100));
        let kept = all.kept();
        for number in 0..COUNT as u16 + 2 {
            let value = KEPT.contains(&number).then_some(u64::from(number) + 100);
            assert_eq!(kept.get(number), value);
        }
        assert_eq!(kept.get(STACK), None);
    }
}

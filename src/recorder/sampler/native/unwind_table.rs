//! The table of a module that tells how to get from each function to its caller.

use std::ops::{Deref, Range};
use std::sync::Arc;

use gimli::{
    BaseAddresses, CfaRule, EhFrame, EhFrameHdr, Encoding, EndianSlice, Evaluation,
    EvaluationResult, LittleEndian, Location, ParsedEhFrameHdr, Piece, Register, RegisterRule,
    UnwindContext, UnwindExpression, UnwindSection, Value, Vendor,
};
use object::{Architecture, File, Object, ObjectSection};

use cpu_prof_core::base::system::registers::{self, Registers};
use cpu_prof_core::base::system::stopped_thread::MappedFile;

type TableReader<'a> = EndianSlice<'a, LittleEndian>;

/// The bytes of a module.
#[derive(Debug, Clone)]
pub(super) enum ModuleBytes {
    /// Those of its file.
    File(Arc<MappedFile>),
    /// A copy.
    Copy(Arc<[u8]>),
}

impl Deref for ModuleBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::File(file) => file,
            Self::Copy(bytes) => bytes,
        }
    }
}

/// How a value of the caller is found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum SavedPlace {
    /// In memory, at a distance from the frame's end.
    FromEnd(i64),
    /// In memory, where an expression tells.
    At(UnwindExpression<usize>),
    /// The value is not kept.
    Nowhere,
}

/// How the end of a frame is found: the stack pointer of its caller.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum FrameEnd {
    /// At a distance from a register's value.
    FromRegister(u16, i64),
    /// Where an expression tells.
    At(UnwindExpression<usize>),
}

/// How to get from a place in a function to its caller.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct UnwindRule {
    /// Address at which the function begins.
    pub function: u64,
    pub end: FrameEnd,
    /// Registers that the function has stored, or does not keep.
    pub saved: Vec<(u16, SavedPlace)>,
    /// Whether the function has no caller.
    pub is_first: bool,
    /// Whether the caller was interrupted by a signal, and so did not call.
    pub is_signal: bool,
    encoding: Encoding,
}

/// The table of a module.
#[derive(Debug)]
pub(super) struct UnwindTable {
    bytes: ModuleBytes,
    frames: Range<usize>,
    index: Range<usize>,
    bases: BaseAddresses,
    /// Who gave meanings to the instructions that DWARF leaves open.
    vendor: Vendor,
}

impl UnwindTable {
    /// Returns the table of a module; none if the module has none with an index.
    pub(super) fn of(file: &File<'_>, bytes: &ModuleBytes) -> Option<Self> {
        let section = |name| {
            let section = file.section_by_name(name)?;
            let (start, length) = section.file_range()?;
            let (start, length) = (usize::try_from(start).ok()?, usize::try_from(length).ok()?);
            let range = start..start.checked_add(length)?;
            (range.end <= bytes.len()).then_some((range, section.address()))
        };
        let (frames, frames_at) = section(".eh_frame")?;
        let (index, index_at) = section(".eh_frame_hdr")?;
        let mut bases = BaseAddresses::default().set_eh_frame(frames_at).set_eh_frame_hdr(index_at);
        for (name, set) in [
            (".text", BaseAddresses::set_text as fn(BaseAddresses, u64) -> BaseAddresses),
            (".got", BaseAddresses::set_got),
        ] {
            if let Some((_, address)) = section(name) {
                bases = set(bases, address);
            }
        }
        // Functions that sign their address to return to say so in their tables.
        let vendor = match file.architecture() {
            Architecture::Aarch64 => Vendor::AArch64,
            _ => Vendor::Default,
        };
        let table = Self { bytes: bytes.clone(), frames, index, bases, vendor };
        table.parsed_index()?.table()?;
        Some(table)
    }

    fn parsed_index(&self) -> Option<ParsedEhFrameHdr<TableReader<'_>>> {
        let index = EhFrameHdr::new(&self.bytes[self.index.clone()], LittleEndian);
        index.parse(&self.bases, 8).ok()
    }

    fn frame_table(&self) -> EhFrame<TableReader<'_>> {
        let mut frames = EhFrame::new(&self.bytes[self.frames.clone()], LittleEndian);
        frames.set_vendor(self.vendor);
        frames
    }

    /// Returns the rule for a place in the code; none if the table does not cover the place.
    pub(super) fn rule(
        &self,
        address: u64,
        context: &mut UnwindContext<usize>,
    ) -> Option<UnwindRule> {
        let frames = self.frame_table();
        let index = self.parsed_index()?;
        let fde = index
            .table()?
            .fde_for_address(&frames, &self.bases, address, EhFrame::cie_from_offset)
            .ok()?;
        let row = fde.unwind_info_for_address(&frames, &self.bases, context, address).ok()?;
        let end = match row.cfa() {
            CfaRule::RegisterAndOffset { register, offset } => {
                FrameEnd::FromRegister(register.0, *offset)
            }
            CfaRule::Expression(expression) => FrameEnd::At(*expression),
        };
        let mut saved = Vec::new();
        let mut is_first = false;
        for (register, rule) in row.registers() {
            let is_return = register.0 == registers::RETURN;
            let place = match rule {
                RegisterRule::SameValue => continue,
                RegisterRule::Offset(offset) => SavedPlace::FromEnd(*offset),
                RegisterRule::Expression(expression) => SavedPlace::At(*expression),
                RegisterRule::Undefined if is_return => {
                    is_first = true;
                    continue;
                }
                _ => SavedPlace::Nowhere,
            };
            saved.push((register.0, place));
        }
        Some(UnwindRule {
            function: fde.initial_address(),
            end,
            saved,
            is_first,
            is_signal: fde.is_signal_trampoline(),
            encoding: fde.cie().encoding(),
        })
    }

    /// Returns what an expression of a rule tells. `first` is the value that it begins with; `read` reads the
    /// stack.
    pub(super) fn evaluate(
        &self,
        expression: UnwindExpression<usize>,
        rule: &UnwindRule,
        first: Option<u64>,
        registers: &Registers,
        mut read: impl FnMut(u64) -> Option<u64>,
    ) -> Option<u64> {
        /// More than any table needs, so that a broken one ends.
        const MAX_STEPS: u32 = 64;
        let frames = self.frame_table();
        let expression = expression.get(&frames).ok()?;
        let mut evaluation: Evaluation<TableReader<'_>> = expression.evaluation(rule.encoding);
        evaluation.set_max_iterations(MAX_STEPS);
        if let Some(first) = first {
            evaluation.set_initial_value(first);
        }
        let mut result = evaluation.evaluate().ok()?;
        loop {
            result = match result {
                EvaluationResult::Complete => break,
                EvaluationResult::RequiresRegister { register: Register(number), .. } => {
                    let value = Value::Generic(registers.get(number)?);
                    evaluation.resume_with_register(value).ok()?
                }
                EvaluationResult::RequiresMemory { address, size: 8, .. } => {
                    evaluation.resume_with_memory(Value::Generic(read(address)?)).ok()?
                }
                _ => return None,
            };
        }
        match evaluation.as_result() {
            [Piece { location: Location::Address { address }, .. }] => Some(*address),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a table for one function of 64 bytes at the address 0x1000, which signs its address to return to and
    /// then makes a frame of 32 bytes.
    fn signing(vendor: Vendor) -> UnwindTable {
        let common: &[u8] =
            &[16, 0, 0, 0, 0, 0, 0, 0, 1, b'z', b'R', 0, 4, 0x78, 30, 1, 0x1b, 12, 31, 0];
        // Instructions: one step of code, the signature, one step, frame of 32 bytes, x29 and x30 at its start.
        let instructions: &[u8] = &[0x41, 0x2d, 0x41, 14, 32, 0x80 | 29, 4, 0x80 | 30, 3];
        let pad = [0; 2];
        let function_at = common.len() + 8;
        let mut frames = common.to_vec();
        let length = 4 + 8 + 1 + instructions.len() + pad.len();
        frames.extend(u32::try_from(length).unwrap().to_le_bytes());
        frames.extend(u32::try_from(common.len() + 4).unwrap().to_le_bytes());
        // Distance of the function from here.
        frames.extend((0x1000 - i32::try_from(function_at).unwrap()).to_le_bytes());
        frames.extend(64_u32.to_le_bytes());
        frames.push(0);
        frames.extend(instructions);
        frames.extend(pad);
        frames.extend([0; 4]);
        // The index begins after the table: version, encodings, place of the table, count, and the function.
        let index_at = i32::try_from(frames.len()).unwrap();
        let mut index = vec![1, 0x1b, 3, 0x3b];
        index.extend((-index_at - 4).to_le_bytes());
        index.extend(1_u32.to_le_bytes());
        index.extend((0x1000 - index_at).to_le_bytes());
        index.extend((i32::try_from(common.len()).unwrap() - index_at).to_le_bytes());
        let (frames, index) = (0..frames.len(), [frames, index].concat());
        let bases = BaseAddresses::default().set_eh_frame(0).set_eh_frame_hdr(frames.end as u64);
        let all = frames.end..index.len();
        let bytes = ModuleBytes::Copy(index.into());
        UnwindTable { bytes, frames, index: all, bases, vendor }
    }

    #[test]
    fn a_function_that_signs_its_address_to_return_to_has_rules() {
        let mut context = UnwindContext::new();
        let table = signing(Vendor::AArch64);
        let ends: Vec<_> = [0x1000, 0x1004, 0x1008, 0x103f]
            .into_iter()
            .map(|address| {
                let UnwindRule { function, end, saved, .. } =
                    table.rule(address, &mut context).unwrap();
                assert_eq!(function, 0x1000);
                let FrameEnd::FromRegister(31, length) = end else { panic!("{end:?}") };
                let mut kept: Vec<_> =
                    saved.into_iter().filter(|(register, _)| [29, 30].contains(register)).collect();
                kept.sort_by_key(|(register, _)| *register);
                (length, kept)
            })
            .collect();
        let places = [(29, SavedPlace::FromEnd(-32)), (30, SavedPlace::FromEnd(-24))];
        let frame = (32, places.to_vec());
        assert_eq!(ends, [(0, vec![]), (0, vec![]), frame.clone(), frame]);
        assert!(table.rule(0x1040, &mut context).is_none());
        assert!(signing(Vendor::Default).rule(0x1008, &mut context).is_none());
    }
}

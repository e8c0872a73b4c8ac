//! Which bytecode an instruction of baseline code is of.
//!
//! Baseline code has the instructions of one bytecode after the other, and a table of their sizes in bytes: first that
//! of the instructions before all bytecodes, then one for each. So where bytecodes begin must be known, which only
//! their sizes tell. A table of sizes is never trusted: bytecode that does not end where its last one ends, or of
//! another count than the sizes of instructions, or with a position within a bytecode, has no places.
//!
//! The sizes are those of `Bytecodes::kBytecodeSizes` in V8's `interpreter/bytecodes.cc`, which it makes of the list in
//! `bytecodes.h`: three rows in the program's constants, the first of which begins with 1, 1, 1, 1, 1, 2, 3, 4, 5, 5, 6,
//! the second with 1, 1, 1, 1, 1, 3, 5, 7, 9, 7, 9. `sizes` is the first row, and `scalable` what the second has more.
//! The third must have three times as much more. For a new version, copy the rows of a Node that has it.

use super::positions::{ENTRY, PositionEntry, number};

/// The bytecodes of a V8, by their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bytecodes {
    /// Bytes of a bytecode with its operands: digits.
    sizes: &'static [u8],
    /// Count of its operands that a prefix makes wider: digits.
    scalable: &'static [u8],
}

/// The bytecodes before which the operands have two bytes: `Wide`, `DebugBreakWide`.
const WIDE: [u8; 2] = [0, 2];
/// The bytecodes before which they have four: `ExtraWide`, `DebugBreakExtraWide`.
const EXTRA_WIDE: [u8; 2] = [1, 3];

impl Bytecodes {
    /// Returns the bytecodes of a V8, by its major version.
    pub(super) fn of(version: u32) -> Option<Self> {
        Some(match version {
            10 => V10,
            11 => V11,
            12 => V12,
            13 => V13,
            14 => V14,
            _ => return None,
        })
    }

    /// Returns where each bytecode begins, its prefix included; none if these are not the sizes of this bytecode.
    fn starts(&self, bytecode: &[u8]) -> Option<Vec<i32>> {
        let digit = |digits: &[u8], number: u8| {
            digits.get(usize::from(number)).map(|digit| usize::from(digit - b'0'))
        };
        let mut starts = Vec::with_capacity(bytecode.len() / 2);
        let mut at = 0;
        while at < bytecode.len() {
            starts.push(i32::try_from(at).ok()?);
            let first = *bytecode.get(at)?;
            let scale = match first {
                _ if WIDE.contains(&first) => 2,
                _ if EXTRA_WIDE.contains(&first) => 4,
                _ => 1,
            };
            let prefix = usize::from(scale > 1);
            let number = *bytecode.get(at + prefix)?;
            let scalable = digit(self.scalable, number)?;
            // V8 makes nothing wider that has no operands.
            if scale > 1 && scalable == 0 {
                return None;
            }
            at += prefix + digit(self.sizes, number)? + scalable * (scale - 1);
        }
        (at == bytecode.len()).then_some(starts)
    }

    /// Returns the positions of bytecode by the offsets of their instructions in baseline code; none if the tables do
    /// not belong together. `instructions` is the table of sizes of `size` bytes of instructions.
    pub(super) fn baseline_positions(
        &self,
        bytecode: &[u8],
        positions: &[PositionEntry],
        instructions: &[u8],
        size: u32,
    ) -> Option<Vec<PositionEntry>> {
        let mut sizes = instructions.iter().copied();
        let mut rest = positions.iter().peekable();
        let mut found = Vec::with_capacity(positions.len());
        let (mut offset, mut end) = (ENTRY, 0_u64);
        for start in std::iter::once(ENTRY).chain(self.starts(bytecode)?) {
            while let Some((_, position)) = rest.next_if(|(position, _)| *position == start) {
                found.push((offset, *position));
            }
            end = end.checked_add(number(&mut sizes)?).filter(|end| *end <= u64::from(size))?;
            offset = i32::try_from(end).ok()?;
        }
        (sizes.len() == 0 && rest.next().is_none()).then_some(found)
    }
}

/// Node 18: 198 bytecodes.
const V10: Bytecodes = Bytecodes {
    sizes: b"\
        11111234556212111112442223222111233342244244344333444445233333333333333333333333\
        32222111222554565345556445533333333222214412414342333311132222222222222222222222\
        42335211112112454412211111111111111111\
    ",
    scalable: b"\
        00000123423101000001331112111000022231133133133222333333122222222222222222222222\
        21111000111443454234423224422222222111102201202221222200021111111111111111111111\
        31224100001001343301100000000000000000\
    ",
};

/// Node 20: 198 bytecodes.
const V11: Bytecodes = Bytecodes {
    sizes: b"\
        11111234556212111112442223222111233342244244344333444545333333333333333333333333\
        22221112224554565345556445533333333222215412414342333311142222222222222222222222\
        42335211112112454412211111111111111111\
    ",
    scalable: b"\
        00000123423101000001331112111000022231133133133222333333222222222222222222222222\
        11110001113443454234423224422222222111102201202221222200031111111111111111111111\
        31224100001001343301100000000000000000\
    ",
};

/// Node 22: 203 bytecodes.
const V12: Bytecodes = Bytecodes {
    sizes: b"\
        11111234556212111112442223222111233342422442443443533444545333333333333333333333\
        33322221112224554565345556445533333333312221154124143423333111422222222222222222\
        2222242335211112112454412211111111111111111\
    ",
    scalable: b"\
        00000123423101000001331112111000022231311331331332422333333222222222222222222222\
        22211110001113443454234423224422222222201110022012022212222000311111111111111111\
        1111131224100001001343301100000000000000000\
    ",
};

/// Node 24: 208 bytecodes.
const V13: Bytecodes = Bytecodes {
    sizes: b"\
        11111234556212111112444222232221112333424224442444344353344454533333333333333333\
        33333332222112222455456534555644553333333331222115412414342333311142222222222422\
        222222222244235211112112454412211111111111111111\
    ",
    scalable: b"\
        00000123423101000001333111121110000222313113331333133242233333322222222222222222\
        22222221111001111344345423442322442222222220111002201202221222200031111111111311\
        111111111133124100001001343301100000000000000000\
    ",
};

/// Node 26: 212 bytecodes.
const V14: Bytecodes = Bytecodes {
    sizes: b"\
        11111234556212111112444222232221112333424224442444344353344454533333333333334333\
        33333333322221122224554565345556445534444443312221154124143423333311142222222222\
        4222222222222442352511112112454412211111111111111111\
    ",
    scalable: b"\
        00000123423101000001333111121110000222313113331333133242233333322222222222222222\
        22222222211110011113443454234423224421111112201110022012022212222200031111111111\
        3111111111111331241400001001343301000000000000000000\
    ",
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampler::walk::positions::PositionEncoding::{Shifted, Signed};
    use crate::sampler::walk::positions::{self, SourceOffset};
    use proptest::prelude::*;

    const ALL: [Bytecodes; 5] = [V10, V11, V12, V13, V14];
    /// A bytecode that has no operands in all versions.
    const ALONE: u8 = 197;

    fn put(bytes: &mut Vec<u8>, mut number: u32) {
        while number > 0x7f {
            bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        bytes.push(number as u8);
    }

    /// Bytecode, and the table of its instructions.
    #[derive(Debug, Clone)]
    struct Written {
        bytecode: Vec<u8>,
        starts: Vec<i32>,
        instructions: Vec<u8>,
        /// Where the instructions of each bytecode begin.
        offsets: Vec<i32>,
        size: u32,
    }

    /// Writes bytecodes: the number of each, its scale, and the size of its instructions.
    fn write(of: &Bytecodes, list: &[(u8, u32, u32)], prologue: u32) -> Written {
        let mut written = Written {
            bytecode: Vec::new(),
            starts: Vec::new(),
            instructions: Vec::new(),
            offsets: Vec::new(),
            size: prologue,
        };
        put(&mut written.instructions, prologue);
        for (number, scale, size) in list {
            let at = usize::from(*number) % of.sizes.len();
            let number = if at < 4 { ALONE } else { at as u8 };
            let [length, scalable] =
                [of.sizes, of.scalable].map(|digits| u32::from(digits[usize::from(number)] - b'0'));
            let scale = if scalable == 0 { 1 } else { *scale };
            written.starts.push(written.bytecode.len() as i32);
            written.offsets.push(written.size as i32);
            match scale {
                2 => written.bytecode.push(WIDE[0]),
                4 => written.bytecode.push(EXTRA_WIDE[0]),
                _ => {}
            }
            written.bytecode.push(number);
            let operands = length - 1 - scalable + scalable * scale;
            written.bytecode.extend((0..operands).map(|byte| byte as u8));
            put(&mut written.instructions, *size);
            written.size += size;
        }
        written
    }

    fn entries(at: &[i32]) -> Vec<PositionEntry> {
        at.iter().map(|at| (*at, SourceOffset::of(*at as u64))).collect()
    }

    fn list() -> impl Strategy<Value = Vec<(u8, u32, u32)>> {
        let scale = prop::sample::select(vec![1, 2, 4]);
        proptest::collection::vec((any::<u8>(), scale, 0_u32..400), 1..60)
    }

    proptest! {
        #[test]
        fn instructions_have_the_positions_of_their_bytecodes(
            version in 0_usize..5, list in list(), prologue in 0_u32..400, every in 1_usize..4,
        ) {
            let of = ALL[version];
            let written = write(&of, &list, prologue);
            prop_assert_eq!(of.starts(&written.bytecode), Some(written.starts.clone()));
            let starts: Vec<i32> = written.starts.iter().copied().step_by(every).collect();
            let offsets = written.offsets.iter().copied().step_by(every);
            let known = entries(&starts);
            let found = of.baseline_positions(&written.bytecode, &known, &written.instructions, written.size);
            let expected: Vec<_> = offsets.into_iter().zip(&known).map(|(offset, (_, at))| (offset, *at)).collect();
            prop_assert_eq!(found, Some(expected));
        }

        #[test]
        fn what_does_not_belong_together_is_refused(
            version in 0_usize..5, list in list(), prologue in 1_u32..400,
        ) {
            let of = ALL[version];
            let Written { bytecode, starts, instructions, size, .. } = write(&of, &list, prologue);
            let known = entries(&starts);
            let read = |bytecode: &[u8], known: &[PositionEntry], instructions: &[u8], size| {
                of.baseline_positions(bytecode, known, instructions, size)
            };
            prop_assert!(read(&bytecode, &known, &instructions, size).is_some());
            prop_assert_eq!(read(&bytecode, &known, &instructions, size - 1), None);
            prop_assert_eq!(read(&bytecode, &known, &[&*instructions, &[0]].concat(), size), None);
            prop_assert_eq!(read(&bytecode, &known, &instructions[..instructions.len() - 1], size), None);
            prop_assert_eq!(read(&[&*bytecode, &[ALONE]].concat(), &known, &instructions, size), None);
            let end = bytecode.len() as i32;
            let wrong = (0..=end).filter(|at| !starts.contains(at));
            for at in wrong {
                let mut known: Vec<i32> = starts.iter().copied().chain([at]).collect();
                known.sort_unstable();
                prop_assert_eq!(read(&bytecode, &entries(&known), &instructions, size), None);
            }
        }

        #[test]
        fn any_bytes_are_no_panic(
            bytecode in proptest::collection::vec(any::<u8>(), 0..99),
            instructions in proptest::collection::vec(any::<u8>(), 0..99),
            at in proptest::collection::vec(any::<i32>(), 0..9),
            size: u32,
        ) {
            for of in ALL {
                let _ = of.baseline_positions(&bytecode, &entries(&at), &instructions, size);
            }
        }
    }

    /// A function of Node in each version, as it was in memory: a load, a call and a return.
    #[test]
    fn tables_of_v8_are_read() {
        let instructions = [23, 21, 4, 8, 4, 24, 17];
        let signed = *b"\x01\xcc\xd2\x01\x03\x0c\x0a\x40\x07\x00\x08\x40";
        let first = *b"\x01\xcc\xd2\x01\x02\x0c\x0a\x40\x07\x00\x08\x40";
        let shifted = *b"\x02\xcc\xd2\x01\x06\x0c\x17\x40\x0e\x00\x13\x40";
        let read = |of: Bytecodes, bytecode: &[u8], table: &[u8], encoding| {
            let positions = positions::decode(table, encoding)?;
            let found = of.baseline_positions(bytecode, &positions, &instructions, 104)?;
            Some(found.into_iter().map(|(at, position)| (at, position.offset())).collect())
        };
        let all = [
            (V10, b"\x2d\x03\0\0\xc4\x17\x03\xc2\x62\xfa\xf8\x02\xa9", first, Signed),
            (V11, b"\x2d\x03\0\0\xc4\x17\x03\xc2\x62\xfa\xf8\x02\xa9", signed, Signed),
            (V12, b"\x2f\x03\0\0\xc9\x17\x03\xc7\x65\xf9\xf7\x02\xae", signed, Signed),
            (V13, b"\x33\x03\0\0\xce\x19\x03\xcc\x69\xf9\xf7\x02\xb3", signed, Signed),
            (V14, b"\x33\x03\0\0\xd2\x19\x03\xd0\x6b\xf9\xf7\x02\xb7", shifted, Shifted),
        ];
        for (of, bytecode, table, encoding) in all {
            let expected: Vec<(i32, Option<u32>)> =
                [(ENTRY, 6738), (23, 6741), (48, 6757), (60, 6757), (84, 6773)]
                    .map(|(at, offset)| (at, Some(offset)))
                    .to_vec();
            assert_eq!(read(of, bytecode, &table, encoding), Some(expected));
        }
    }

    #[test]
    fn every_version_has_both_numbers_of_each_bytecode() {
        for of in ALL {
            assert_eq!(of.sizes.len(), of.scalable.len());
            for (size, scalable) in of.sizes.iter().zip(of.scalable) {
                assert!((b'1'..=b'6').contains(size) && (b'0'..*size).contains(scalable));
            }
        }
    }

    #[test]
    fn the_sizes_of_another_version_are_refused() {
        // Each bytecode, in turn.
        let list: Vec<_> = (4..198).map(|number| (number, 1, 3)).collect();
        for (index, of) in ALL.iter().enumerate() {
            let written = write(of, &list, 10);
            let known = entries(&written.starts);
            for (other, sizes) in ALL.iter().enumerate() {
                let found = sizes.baseline_positions(
                    &written.bytecode,
                    &known,
                    &written.instructions,
                    written.size,
                );
                assert_eq!(found.is_some(), index == other);
            }
        }
    }

    #[test]
    fn a_prefix_needs_a_bytecode_with_operands() {
        for of in ALL {
            assert_eq!(of.starts(&[WIDE[0]]), None);
            assert_eq!(of.starts(&[WIDE[0], ALONE]), None);
            assert_eq!(of.starts(&[WIDE[0], EXTRA_WIDE[1], 0, 0]), None);
            assert_eq!(of.starts(&[255]), None);
            assert_eq!(of.starts(&[]), Some(Vec::new()));
        }
    }
}

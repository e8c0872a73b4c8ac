//! The parts of a process's memory that hold code, as Linux lists them.

use std::ops::Range;

/// A part of the memory that holds code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeMapping {
    /// Addresses.
    pub range: Range<u64>,
    /// The file that the code is from; none for code that a program has made in memory.
    pub file: Option<MappedPart>,
}

/// A part of a file that is in memory.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MappedPart {
    /// Path of the file, or `[vdso]`, which is the kernel's.
    pub path: String,
    /// Place of the part in the file, bytes.
    pub offset: u64,
    /// Device, as the kernel writes it: `fd:01`.
    pub device: String,
    /// Number of the file on its device.
    pub inode: u64,
}

impl CodeMapping {
    /// Reads the text of `/proc/self/maps`.
    pub fn parse(text: &str) -> Vec<Self> {
        text.lines().filter_map(Self::of_line).collect()
    }

    /// Reads the addresses of the parts that can be written from the text of `/proc/self/maps`.
    pub fn data_ranges(text: &str) -> Vec<Range<u64>> {
        let range = |line: &str| {
            let (range, rest) = line.split_once(' ')?;
            if rest.starts_with("rw") { addresses(range) } else { None }
        };
        text.lines().filter_map(range).collect()
    }

    /// Reads a line: `7f00-7f10 r-xp 00001000 fd:01 1234    /usr/lib/libz.so`; none if there is no code.
    fn of_line(line: &str) -> Option<Self> {
        let mut rest = line;
        let mut word = || {
            let (word, after) = rest.split_once(' ').unwrap_or((rest, ""));
            rest = after.trim_start();
            word
        };
        let (range, rights, offset, device, inode) = (word(), word(), word(), word(), word());
        if rights.as_bytes().get(2) != Some(&b'x') {
            return None;
        }
        let (offset, inode) = (hex(offset)?, inode.parse().ok()?);
        let is_file = rest.starts_with('/') || rest == "[vdso]";
        let file = is_file.then(|| MappedPart {
            path: rest.to_owned(),
            offset,
            device: device.to_owned(),
            inode,
        });
        Some(Self { range: addresses(range)?, file })
    }
}

/// Reads addresses: `7f00-7f10`.
fn addresses(range: &str) -> Option<Range<u64>> {
    let (start, end) = range.split_once('-')?;
    Some(hex(start)?..hex(end)?)
}

fn hex(digits: &str) -> Option<u64> {
    u64::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_is_listed() {
        let text = "\
7f0000001000-7f0000002000 r-xp 00002000 fd:01 1234                       /usr/lib/a b.so
7f0000002000-7f0000003000 r--p 00003000 fd:01 1234                       /usr/lib/a b.so
7f0000004000-7f0000005000 rwxp 00000000 00:00 0
7f0000006000-7f0000007000 rwxp 00000000 00:00 0                          [anon:v8]
7ffe00000000-7ffe00001000 r-xp 00000000 00:00 0                          [vdso]
7f-zz r-xp 0 0 0
x
";
        let list = CodeMapping::parse(text);
        let files: Vec<_> = list
            .iter()
            .map(|mapping| mapping.file.as_ref().map(|file| (file.path.as_str(), file.offset)))
            .collect();
        assert_eq!(files, [Some(("/usr/lib/a b.so", 0x2000)), None, None, Some(("[vdso]", 0))]);
        assert_eq!(
            CodeMapping::data_ranges(text),
            [0x7f00_0000_4000..0x7f00_0000_5000, 0x7f00_0000_6000..0x7f00_0000_7000]
        );
        assert_eq!(list[0].range, 0x7f00_0000_1000..0x7f00_0000_2000);
        let file = list[0].file.as_ref().unwrap();
        assert_eq!((file.device.as_str(), file.inode), ("fd:01", 1234));
    }
}

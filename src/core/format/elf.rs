//! Modules of native code in ELF files: which build of a module a file is.

use object::{File, Object, ObjectSection, ObjectSegment, ReadRef};

use crate::base::native_code::BuildId;

/// Bytes of a section that count for the id of a module without a build id.
const SAMPLED: u64 = 4096;

/// Returns the build of a module: its build id, or else a sum of parts of the file that differ between builds:
/// the sizes of segments, the start of the code, and the end of the table of functions.
pub fn build_of<'data, R: ReadRef<'data>>(file: &File<'data, R>) -> BuildId {
    if let Ok(Some(id)) = file.build_id()
        && !id.is_empty()
    {
        return BuildId::new(id);
    }
    let mut sum = [0; 16];
    let mut add = |bytes: &[u8]| {
        for (at, byte) in bytes.iter().enumerate() {
            sum[at % 16] ^= byte;
        }
    };
    for segment in file.segments() {
        let (offset, size) = segment.file_range();
        add(&offset.to_le_bytes());
        add(&[0; 8]);
        add(&size.to_le_bytes());
        add(&segment.size().to_be_bytes());
    }
    let mut has_code = false;
    for (name, is_start) in [(".text", true), (".eh_frame_hdr", false)] {
        let Some(section) = file.section_by_name(name) else { continue };
        let length = section.size().min(SAMPLED);
        let start = if is_start { 0 } else { section.size() - length };
        if let Ok(Some(bytes)) = section.data_range(section.address() + start, length) {
            has_code = true;
            add(bytes);
        }
    }
    if has_code { BuildId::new(&sum) } else { BuildId::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_module_has_no_build() {
        // The head of a file without segments and sections.
        let mut head = vec![0x7f, b'E', b'L', b'F', 2, 1, 1];
        head.resize(64, 0);
        (head[16], head[18], head[20]) = (3, 62, 1);
        (head[52], head[54], head[58]) = (64, 56, 64);
        let file = File::parse(&*head).unwrap();
        assert!(!build_of(&file).is_known());
    }
}

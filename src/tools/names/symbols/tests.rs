//! Tests of names, with files that are written here and with this program itself.

use std::fs;
use std::path::Path;

use proptest::prelude::*;

use super::*;
use cpu_prof_core::profile::frame::FrameOrigin;

/// Where the code of a written file is.
const CODE: u64 = 0x1000;

/// A symbol: name, address, size, kind, binding.
type WrittenSymbol<'a> = (&'a [u8], u64, u64, u8, u8);

/// Writes an ELF file with 4096 bytes of code. `table` is the kind of its table of symbols.
fn elf(build: &[u8], symbols: &[WrittenSymbol<'_>], table: u32) -> Vec<u8> {
    let mut file = vec![0; 64];
    let note_at = file.len();
    for number in [4, build.len() as u32, 3] {
        file.extend(number.to_le_bytes());
    }
    file.extend(b"GNU\0");
    file.extend(build);
    file.resize(file.len().next_multiple_of(8), 0);
    let note_size = file.len() - note_at;
    let mut names = vec![0];
    let symbols_at = file.len();
    file.extend([0; 24]);
    for (name, address, size, kind, binding) in symbols {
        file.extend((names.len() as u32).to_le_bytes());
        file.extend([binding << 4 | kind, 0, 2, 0]);
        file.extend(address.to_le_bytes());
        file.extend(size.to_le_bytes());
        names.extend_from_slice(name);
        names.push(0);
    }
    let symbols_size = file.len() - symbols_at;
    let names_at = file.len();
    file.extend(&names);
    let sections_at = file.len();
    // Kind, flags, address, offset, size, link, information, size of an entry.
    let sections: [[u64; 8]; 5] = [
        [0; 8],
        [7, 2, 0, note_at as u64, note_size as u64, 0, 0, 0],
        [8, 6, CODE, 0, 4096, 0, 0, 0],
        [u64::from(table), 0, 0, symbols_at as u64, symbols_size as u64, 4, 1, 24],
        [3, 0, 0, names_at as u64, names.len() as u64, 0, 0, 0],
    ];
    for [kind, flags, address, offset, size, link, info, entry] in sections {
        file.extend([0, 0, 0, 0]);
        file.extend((kind as u32).to_le_bytes());
        for number in [flags, address, offset, size] {
            file.extend(number.to_le_bytes());
        }
        file.extend((link as u32).to_le_bytes());
        file.extend((info as u32).to_le_bytes());
        file.extend(8_u64.to_le_bytes());
        file.extend(entry.to_le_bytes());
    }
    file[..7].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1, 1]);
    (file[16], file[18], file[20]) = (3, 62, 1);
    file[40..48].copy_from_slice(&(sections_at as u64).to_le_bytes());
    (file[52], file[58], file[60], file[62]) = (64, 64, 5, 4);
    file
}

// Kinds and bindings of symbols, and kinds of their tables.
const STT_NOTYPE: u8 = 0;
const STT_OBJECT: u8 = 1;
const STT_FUNC: u8 = 2;
const STB_LOCAL: u8 = 0;
const STB_GLOBAL: u8 = 1;
const STB_WEAK: u8 = 2;
const SYMTAB: u32 = 2;
const DYNSYM: u32 = 11;

fn function(name: &str, address: u64, size: u64) -> WrittenSymbol<'_> {
    (name.as_bytes(), address, size, STT_FUNC, STB_GLOBAL)
}

fn build(id: &[u8]) -> BuildId {
    BuildId::new(id)
}

fn name_at(symbols: &mut Symbols, path: &Path, id: &[u8], address: u64) -> Option<String> {
    let frame = CallFrame::in_module(path.to_str().unwrap(), build(id), 7, address);
    symbols.frame(&frame).map(|frame| frame.function_name)
}

#[test]
fn functions_are_named_by_their_addresses() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a.node");
    let symbols = [
        function("sized", 0x1100, 0x80),
        function("unsized", 0x1200, 0),
        (b"label", 0x1210, 0, STT_NOTYPE, STB_LOCAL),
        (b"table", 0x1218, 64, STT_OBJECT, STB_GLOBAL),
        function("next", 0x1300, 0x10),
        (b".annobin", 0x1340, 0, STT_NOTYPE, STB_LOCAL),
        (b"assembly", 0x1400, 0, STT_NOTYPE, STB_GLOBAL),
        (b"local_and_long", 0x1500, 0x10, STT_FUNC, STB_LOCAL),
        (b"__exported", 0x1500, 0x10, STT_FUNC, STB_GLOBAL),
        (b"exported", 0x1500, 0x10, STT_FUNC, STB_WEAK),
        function("outer", 0x1600, 0x100),
        function("inner", 0x1610, 0x10),
        function("split.part.0.cold", 0x1800, 1),
        function("outside", 0x3000, 0x10),
        (b"not \xff UTF-8\x07", 0x1900, 1, STT_FUNC, STB_GLOBAL),
        function("too_large", 0x1f00, u64::MAX),
    ];
    fs::write(&file, elf(&[7; 20], &symbols, SYMTAB)).unwrap();
    let mut names = Symbols::default();
    for (address, name) in [
        (0x10ff, None),
        (0x1100, Some("sized")),
        (0x117f, Some("sized")),
        (0x1180, None),
        (0x1200, Some("unsized")),
        (0x1220, Some("unsized")),
        (0x12ff, Some("unsized")),
        (0x1300, Some("next")),
        (0x1310, None),
        (0x1340, None),
        (0x1405, Some("assembly")),
        (0x1505, Some("exported")),
        (0x1605, Some("outer")),
        (0x1615, Some("inner")),
        (0x1620, Some("outer")),
        (0x1800, Some("split")),
        (0x3000, None),
        (0x1900, Some("not \u{fffd} UTF-8\u{fffd}")),
        (0x1fff, Some("too_large")),
        (0x2000, None),
        (u64::MAX, None),
    ] {
        assert_eq!(name_at(&mut names, &file, &[7; 20], address).as_deref(), name, "{address:x}");
    }
    assert_eq!(names.notes(), Vec::<String>::new());
}

#[test]
fn symbols_for_other_files_name_only_what_is_sure() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a.node");
    let symbols = [function("sized", 0x1100, 0x80), function("unsized", 0x1200, 0)];
    fs::write(&file, elf(&[7; 20], &symbols, DYNSYM)).unwrap();
    let mut names = Symbols::default();
    for (address, name) in
        [(0x117f, Some("sized")), (0x1200, Some("unsized")), (0x1201, None), (0x1300, None)]
    {
        assert_eq!(name_at(&mut names, &file, &[7; 20], address).as_deref(), name, "{address:x}");
    }
}

#[test]
fn all_but_the_name_stays() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("libz.so.1");
    fs::write(&file, elf(&[7; 20], &[function("deflate", CODE, 8)], DYNSYM)).unwrap();
    let frame = CallFrame::in_module(file.to_str().unwrap(), build(&[7; 20]), 7, CODE);
    let expected = CallFrame { function_name: "deflate".into(), ..frame.clone() };
    let mut names = Symbols::default();
    let named = names.frame(&frame).unwrap();
    assert_eq!(named, expected);
    assert!(named.package.is_some() && matches!(named.origin, FrameOrigin::Module(_)));
    // What has a name, and what is no native code.
    assert_eq!(names.frame(&named), None);
    assert_eq!(names.frame(&CallFrame::state("a+0x10")), None);
}

#[test]
fn names_are_those_of_the_recorded_build() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    for folder in ["host", "given/ab", "given/.build-id/cd"] {
        fs::create_dir_all(at(folder)).unwrap();
    }
    let id = |first: u8| [&[first][..], &[7; 19]].concat();
    let file = |name: &str, first: u8, function_name: &str, table: u32| {
        fs::write(at(name), elf(&id(first), &[function(function_name, CODE, 8)], table)).unwrap();
    };
    let rest = "07".repeat(19);
    file(&format!("given/ab/{rest}.debug"), 0xab, "by_id", SYMTAB);
    file(&format!("given/.build-id/cd/{rest}.debug"), 0xcd, "by_build_id", SYMTAB);
    file("given/same.node", 1, "by_name", SYMTAB);
    file("given/debug.node.debug", 2, "by_debug_name", SYMTAB);
    file("given/other-name", 3, "listed", SYMTAB);
    file("given/wrong.node", 4, "wrong", SYMTAB);
    file("host/stripped.node", 0xab, "exported", DYNSYM);
    file("host/half.node", 5, "exported", DYNSYM);
    file("host/rebuilt.node", 6, "rebuilt", SYMTAB);
    let mut names = Symbols::new(vec![at("given")]);
    for (name, first, found) in [
        ("host/stripped.node", 0xab, Some("by_id")),
        ("host/absent.node", 0xcd, Some("by_build_id")),
        ("host/same.node", 1, Some("by_name")),
        ("host/debug.node", 2, Some("by_debug_name")),
        ("host/unknown.node", 3, Some("listed")),
        ("host/wrong.node", 8, None),
        ("host/half.node", 5, Some("exported")),
        ("host/rebuilt.node", 9, None),
    ] {
        assert_eq!(name_at(&mut names, &at(name), &id(first), CODE).as_deref(), found, "{name}");
    }
    assert_eq!(name_at(&mut names, &at("host/half.node"), &id(5), CODE + 99), None);
    let notes = names.notes().join("\n");
    let part = |kind: &str, name: &str| format!("files {kind}: {};", at(name).display());
    assert!(notes.contains(&part("of another build than the recorded one", "host/rebuilt.node")));
    assert!(notes.contains(&part("without symbols", "host/half.node")), "{notes}");
    assert!(notes.contains(&part("that are not on this machine", "host/wrong.node")), "{notes}");
    // An id that is not known fits nothing.
    assert_eq!(name_at(&mut names, &at("host/half.node"), &[], CODE), None);
}

#[test]
fn only_ordinary_files_in_the_folder_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::create_dir(at("in")).unwrap();
    for name in ["in/a.node", "out.node"] {
        fs::write(at(name), elf(&[7; 20], &[function("f", CODE, 8)], SYMTAB)).unwrap();
    }
    let mut names = Symbols::within(vec![dir.path().into()], Some(at("in")));
    assert_eq!(name_at(&mut names, &at("in/a.node"), &[7; 20], CODE).as_deref(), Some("f"));
    assert_eq!(name_at(&mut names, &at("out.node"), &[7; 20], CODE), None);
    assert!(names.notes()[0].contains("outside of the folder"), "{:?}", names.notes());
    for path in ["/dev/zero", "/proc/self/exe", "//server/share/a.node", "[vdso]", "", "a.node"] {
        assert_eq!(
            name_at(&mut Symbols::default(), Path::new(path), &[7; 20], CODE),
            None,
            "{path}"
        );
    }
}

// A function that is inlined has no symbol.
#[inline(never)]
#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "programs are ELF files on Linux")]
fn this_program_knows_its_own_functions() {
    let path = std::env::current_exe().unwrap();
    let file = fs::File::open(&path).unwrap();
    let id = elf_file::with_elf(&file, |elf| Some(cpu_prof_core::format::elf::build_of(elf)));
    let table = FunctionTable::read(file, MOST_SYMBOLS).unwrap();
    let of_this = "this_program_knows_its_own_functions";
    let found = table
        .addresses()
        .find(|address| table.name_at(*address).is_some_and(|name| name.ends_with(of_this)));
    let frame = CallFrame::in_module(path.to_str().unwrap(), id.unwrap(), 1, found.unwrap());
    let named = Symbols::default().frame(&frame).unwrap();
    assert!(
        named
            .function_name
            .ends_with("::names::symbols::tests::this_program_knows_its_own_functions")
    );
}

#[test]
fn a_count_of_modules_and_of_symbols_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a.node");
    fs::write(&file, elf(&[7; 20], &[function("f", CODE, 8)], SYMTAB)).unwrap();
    let mut names = Symbols { symbols_left: 0, ..Symbols::default() };
    assert_eq!(name_at(&mut names, &file, &[7; 20], CODE), None);
    let mut names = Symbols { modules_left: 1, ..Symbols::default() };
    assert!(name_at(&mut names, &file, &[7; 20], CODE).is_some());
    let other = dir.path().join("./b/../a.node");
    assert_eq!(name_at(&mut names, &other, &[7; 20], CODE), None);
    for number in 0..2 * MODULES {
        name_at(&mut names, Path::new(&format!("/absent/{number}.node")), &[7; 20], CODE);
    }
    assert_eq!(names.modules.len(), MODULES);
    let longest = names.notes().iter().map(String::len).max();
    assert!(longest < Some(1000));
}

/// Returns what a damaged file tells.
fn tells(bytes: &[u8]) -> Option<String> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.node");
    fs::write(&path, bytes).unwrap();
    let mut names = Symbols::default();
    name_at(&mut names, &path, &[7; 20], CODE)
}

#[test]
fn a_file_that_was_cut_off_has_no_names() {
    let whole = elf(&[7; 20], &[function("f", CODE, 8), function("g", CODE + 8, 8)], SYMTAB);
    assert_eq!(tells(&whole).as_deref(), Some("f"));
    for length in (1..whole.len()).step_by(7) {
        assert_eq!(tells(&whole[..length]), None, "{length}");
    }
    // Counts and sizes that the file does not have.
    for at in whole.len() - 5 * 64..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] = 0xff;
        tells(&damaged);
    }
    for at in 40..64 {
        let mut damaged = whole.clone();
        damaged[at] = 0xff;
        tells(&damaged);
    }
}

proptest! {
    #[test]
    fn damaged_files_end_without_a_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
        names in prop::collection::vec("[_ZRN0-9a-zE.@]{0,40}", 1..9),
    ) {
        let symbols: Vec<_> = names.iter().map(|name| function(name, CODE, 8)).collect();
        let mut file = elf(&[7; 20], &symbols, SYMTAB);
        for (at, byte) in changes {
            let at = at.index(file.len());
            file[at] = byte;
        }
        tells(&file);
    }
}

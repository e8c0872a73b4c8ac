//! The functions of one file, by their addresses. Names stay in the file until they are needed: those of
//! Node have 20 MB.

use std::cmp::Reverse;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;

use object::elf::{SHF_EXECINSTR, STB_LOCAL, STT_FUNC, STT_GNU_IFUNC, STT_NOTYPE};
use object::read::elf::{ElfFile, FileHeader, SectionHeader, Sym, SymbolTable};
use object::{Endianness, ReadRef};

use super::display_name::{display_name, readability};
use super::elf_file::{MeteredFile, with_elf};

/// Symbols before an address that are asked whether their functions reach to it.
const LOOKED_AT: usize = 64;
/// Names of one address of which one is chosen.
const ALIASES: usize = 16;
/// The most bytes of a name that are read. Longer ones are cut when they are shown.
const MAX_NAME: u64 = 4096;
/// The bytes of a name that are read at first.
const FIRST_BYTES: u64 = 256;

/// The functions of one file.
#[derive(Debug)]
pub(super) struct FunctionTable {
    file: File,
    /// By addresses.
    list: Vec<FunctionSymbol>,
    /// Where the names are in the file: those of `.symtab` and those of `.dynsym`.
    names: [Range<u64>; 2],
    /// Whether the file has all its symbols, and not only those for other files.
    pub is_whole: bool,
}

/// A function of a file.
#[derive(Debug, Clone, Copy)]
struct FunctionSymbol {
    /// First address, as the file counts.
    address: u64,
    /// Bytes.
    size: u32,
    /// Offset of the name, in bytes.
    name: u32,
    is_dynamic: bool,
    is_local: bool,
    /// Whether it is a place in code, which need not be a function: in assembly.
    is_label: bool,
    /// Whether the size is that up to what comes next.
    is_unsized: bool,
}

impl FunctionSymbol {
    fn reaches(&self, address: u64) -> bool {
        address.checked_sub(self.address).is_some_and(|offset| offset < u64::from(self.size))
    }
}

impl FunctionTable {
    /// Reads the symbols of a file, and at most `most`; none if there are none.
    pub(super) fn read(file: File, most: usize) -> Option<Self> {
        let found = with_elf(&file, |elf| match elf {
            object::File::Elf32(elf) => symbols(elf, most),
            object::File::Elf64(elf) => symbols(elf, most),
            _ => None,
        });
        let (list, names, is_whole) = found?;
        (!list.is_empty()).then_some(Self { file, list, names, is_whole })
    }

    /// Returns the number of symbols.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns the addresses of the symbols.
    #[cfg(test)]
    pub(super) fn addresses(&self) -> impl Iterator<Item = u64> {
        self.list.iter().map(|symbol| symbol.address)
    }

    /// Returns the name of the function at an address, as it is shown.
    pub(super) fn name_at(&self, address: u64) -> Option<String> {
        let end = self.list.partition_point(|symbol| symbol.address <= address);
        let before = self.list[..end].iter().rev().take(LOOKED_AT);
        let found: Vec<_> = before.filter(|symbol| symbol.reaches(address)).collect();
        let order = |symbol: &FunctionSymbol| (symbol.is_label, Reverse(symbol.address));
        let first = found.iter().map(|symbol| order(symbol)).min()?;
        let aliases = found.into_iter().filter(|symbol| order(symbol) == first).take(ALIASES);
        // Names that compilers and linkers give to places in code begin with signs.
        let named = aliases
            .filter_map(|symbol| Some((symbol.is_local, self.name(symbol)?)))
            .filter(|(_, name)| !(first.0 && name.starts_with(['.', '$'])));
        let (_, name) = named.min_by_key(|(is_local, name)| (*is_local, readability(name)))?;
        Some(display_name(&name)).filter(|name| !name.is_empty())
    }

    /// Reads the name of a symbol.
    fn name(&self, symbol: &FunctionSymbol) -> Option<String> {
        let names = &self.names[usize::from(symbol.is_dynamic)];
        let start = names.start.checked_add(u64::from(symbol.name))?;
        let mut bytes = Vec::new();
        for most in [FIRST_BYTES, MAX_NAME] {
            let length = names.end.checked_sub(start)?.min(most);
            bytes.clear();
            let mut file = &self.file;
            file.seek(SeekFrom::Start(start)).ok()?;
            file.take(length).read_to_end(&mut bytes).ok()?;
            if let Some(end) = bytes.iter().position(|byte| *byte == 0) {
                bytes.truncate(end);
                break;
            }
        }
        (!bytes.is_empty()).then(|| String::from_utf8_lossy(&bytes).into_owned())
    }
}

type FoundSymbols = (Vec<FunctionSymbol>, [Range<u64>; 2], bool);

/// Returns the functions of a file, and where their names are.
fn symbols<'data, Elf: FileHeader<Endian = Endianness>>(
    elf: &ElfFile<'data, Elf, MeteredFile<'data>>,
    most: usize,
) -> Option<FoundSymbols> {
    let endian = elf.endian();
    let sections = elf.elf_section_table();
    // Addresses of code, by sections; empty for other sections.
    let code: Vec<Range<u64>> = sections
        .iter()
        .map(|section| {
            let is_code = section.sh_flags(endian).0 & SHF_EXECINSTR.0 != 0;
            let start: u64 = section.sh_addr(endian).into();
            let size = if is_code { section.sh_size(endian).into() } else { 0 };
            start..start.saturating_add(size)
        })
        .collect();
    let names = |table: &SymbolTable<'data, Elf, MeteredFile<'data>>| {
        let section = sections.section(table.string_section()).ok();
        let (offset, size) = section.and_then(|section| section.file_range(endian))?;
        Some(offset..offset.checked_add(size)?)
    };
    let (all, dynamic) = (elf.elf_symbol_table(), elf.elf_dynamic_symbol_table());
    let mut list = functions(all, endian, &code, false, most);
    let whole = list.len();
    list.sort_unstable_by_key(|symbol| symbol.address);
    for symbol in functions(dynamic, endian, &code, true, most) {
        let known = |known: &FunctionSymbol| known.address.cmp(&symbol.address);
        if list.len() < most && list[..whole].binary_search_by(known).is_err() {
            list.push(symbol);
        }
    }
    list.sort_by_key(|symbol| symbol.address);
    limit_sizes(&mut list);
    list.shrink_to_fit();
    Some((list, [all, dynamic].map(|table| names(table).unwrap_or(0..0)), whole > 0))
}

/// Returns the functions of one table.
fn functions<'data, Elf: FileHeader<Endian = Endianness>, R: ReadRef<'data>>(
    table: &SymbolTable<'data, Elf, R>,
    endian: Endianness,
    code: &[Range<u64>],
    is_dynamic: bool,
    most: usize,
) -> Vec<FunctionSymbol> {
    let found = table.enumerate().filter_map(|(index, symbol)| {
        let kind = symbol.st_type();
        if ![STT_FUNC, STT_GNU_IFUNC, STT_NOTYPE].contains(&kind) {
            return None;
        }
        let name = symbol.st_name(endian);
        let section = table.symbol_section(endian, symbol, index).ok()??;
        let section = code.get(section.0)?;
        let address: u64 = symbol.st_value(endian).into();
        if name == 0 || !section.contains(&address) {
            return None;
        }
        let size: u64 = symbol.st_size(endian).into();
        let is_unsized = size == 0;
        let most = section.end - address;
        let size = match size {
            // What comes next in the file need not be among the symbols for other files.
            0 if is_dynamic => 1,
            0 => most,
            size => size.min(most),
        };
        Some(FunctionSymbol {
            address,
            size: u32::try_from(size).unwrap_or(u32::MAX),
            name,
            is_dynamic,
            is_local: symbol.st_bind() == STB_LOCAL,
            is_label: kind == STT_NOTYPE,
            is_unsized,
        })
    });
    found.take(most).collect()
}

/// Lets functions without a size end where the next function begins, and places in code at the next symbol.
fn limit_sizes(list: &mut [FunctionSymbol]) {
    // The first addresses after the symbols that were passed, and after those at the same address.
    let (mut next_function, mut next) = (u64::MAX, u64::MAX);
    let mut end = list.len();
    while let Some(last) = end.checked_sub(1) {
        let address = list[last].address;
        let start = list[..end].partition_point(|symbol| symbol.address < address);
        for symbol in &mut list[start..end] {
            let limit = if symbol.is_label { next } else { next_function };
            if symbol.is_unsized {
                let most = u32::try_from(limit - address).unwrap_or(u32::MAX);
                symbol.size = symbol.size.min(most);
            }
        }
        next = address;
        if list[start..end].iter().any(|symbol| !symbol.is_label) {
            next_function = address;
        }
        end = start;
    }
}

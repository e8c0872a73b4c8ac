//! Reads pprof files of any tool. They have sums for stacks, and do not tell what ran when.

use std::io::Read;

use super::contents::PprofContents;
use super::file_tables::{FileTables, decode, samples};
use super::message::PprofSample;
use super::samples::SampleReader;
use super::values::{Period, SampleType, ValueMeaning};
use cpu_prof_core::profile::read_scope::ReadScope;

/// The largest file that is read: bytes, uncompressed.
const MAX_BYTES: u64 = if cfg!(test) { 1 << 20 } else { 1 << 30 };

/// Reads a file, uncompressed, of this name. The error ends a sentence that begins with the file.
pub fn read(file: impl Read, name: &str, scope: ReadScope) -> Result<PprofContents, String> {
    if (scope.from_us, scope.to_us) != (i64::MIN, i64::MAX) {
        return Err("pprof has no time line: read the file without limits of time".to_owned());
    }
    read_bytes(&bytes_of(file)?, name, scope)
}

/// Returns whether a file that is pprof was converted by this project.
pub fn is_ours(file: impl Read) -> bool {
    let bytes = bytes_of(file);
    bytes.is_ok_and(|bytes| FileTables::read(&bytes).is_ok_and(|tables| tables.is_ours()))
}

/// Returns all bytes of a file, uncompressed.
fn bytes_of(file: impl Read) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let read = file.take(MAX_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| format!("the pprof file cannot be read to its end: {error}"))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(format!("the pprof file has more than {} MB, uncompressed", MAX_BYTES >> 20));
    }
    Ok(bytes)
}

/// Reads the bytes of a file.
pub fn read_bytes(bytes: &[u8], name: &str, scope: ReadScope) -> Result<PprofContents, String> {
    let profile = FileTables::read(bytes)?;
    let types: Vec<SampleType> =
        profile.types.iter().map(|of| profile.sample_type(of)).collect::<Result<_, _>>()?;
    let period_type = profile.sample_type(&profile.period_type)?;
    let period = Period {
        number: profile.period,
        unit: &period_type.1,
        length_nanos: u64::try_from(profile.duration_nanos).unwrap_or(0),
    };
    let is_ours = profile.is_ours();
    let default = profile.string(profile.default_type)?;
    let sum = |index: usize| {
        samples(bytes).try_fold(0_u64, |sum, sample| {
            let PprofSample { values, .. } = decode(sample)?;
            let count = values.get(index).copied().unwrap_or(0);
            Ok(sum.saturating_add(u64::try_from(count).unwrap_or(0)))
        })
    };
    let meaning = ValueMeaning::of(&types, &default, period, is_ours, sum)?;
    let mut reader = SampleReader::new(&profile, bytes, meaning, is_ours)?;
    for sample in samples(bytes) {
        reader.sample(&decode(sample)?)?;
    }
    Ok(reader.finish(name, scope))
}

#[cfg(test)]
mod tests;

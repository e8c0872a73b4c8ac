//! Writes a session as pprof.

use std::io::{self, Write};

use super::comments;
use super::fields::FieldWriter;
use super::message::{
    PprofFunction, PprofLabel, PprofLine, PprofLocation, PprofMapping, PprofSample, PprofValueType,
    field,
};
use crate::formats::stack_tables::{
    CPU, LabelKinds, MAPPED_FILE, NANOSECONDS, SAMPLE_TYPES, SampleKey, StackFunction, StackLabel,
    StackLabelValue, StackModule, StackTables,
};
use crate::model::Session;
use cpu_prof_core::base::numbering::FxIndexSet;

/// The id of the mapping of all code that is not native. Those of modules follow.
const MAPPING: u64 = 1;

/// Writes all threads.
pub(in super::super) fn write(session: &Session, _: &str, out: &mut dyn Write) -> io::Result<()> {
    write_tables(StackTables::of(session, LabelKinds::All), session, out)
}

/// Writes all threads for a server that makes a series of each set of labels: only the program's own labels
/// are left, of which there are few sets.
pub fn write_series(session: &Session, out: &mut dyn Write) -> io::Result<()> {
    write_tables(StackTables::of(session, LabelKinds::OfProgram), session, out)
}

fn write_tables(
    mut tables: StackTables<'_>,
    session: &Session,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut fields = FieldWriter::new(out);
    for (name, unit) in SAMPLE_TYPES {
        fields.message(field::SAMPLE_TYPE, &value_type(&mut tables, name, unit))?;
    }
    let mut sample = PprofSample::default();
    for (SampleKey { stack, labels }, values) in &tables.samples {
        sample.locations.clear();
        sample.locations.extend(tables.locations_of(*stack).map(id));
        sample.values.clear();
        sample.values.extend(values.list());
        sample.labels.clear();
        sample.labels.extend(tables.labels[*labels as usize].iter().map(label));
        fields.message(field::SAMPLE, &sample)?;
    }
    let mapping = PprofMapping {
        id: MAPPING,
        start: 0,
        offset: 0,
        file: tables.string(MAPPED_FILE).into(),
        build: 0,
        has_functions: true,
        has_files: true,
        has_lines: true,
        has_inlined: true,
    };
    fields.message(field::MAPPING, &mapping)?;
    let modules = tables.functions.iter().filter_map(|function| Some(function.module?.0));
    let modules: FxIndexSet<StackModule> = modules.collect();
    for (index, StackModule { file, build }) in (1..).zip(&modules) {
        let (file, build) = ((*file).into(), (*build).into());
        fields.message(field::MAPPING, &PprofMapping { id: id(index), file, build, ..mapping })?;
    }
    for (index, (function, line)) in (0..).zip(&tables.locations) {
        let lines = vec![PprofLine { function: id(*function), line: *line }];
        let module = tables.functions[*function as usize].module;
        let (mapping, address) = module.map_or((MAPPING, 0), |(module, address)| {
            let index = modules.get_index_of(&module).unwrap_or(0);
            (MAPPING + 1 + index as u64, address)
        });
        let location = PprofLocation { id: id(index), mapping, address, lines };
        fields.message(field::LOCATION, &location)?;
    }
    for (index, function) in (0..).zip(&tables.functions) {
        let StackFunction { name, system_name, file, line, .. } = function;
        let function = PprofFunction {
            id: id(index),
            name: (*name).into(),
            system_name: (*system_name).into(),
            file: (*file).into(),
            line: *line,
        };
        fields.message(field::FUNCTION, &function)?;
    }
    write_facts(&mut tables, session, &mut fields)?;
    for text in &tables.strings {
        fields.bytes(field::STRING, text.as_bytes())?;
    }
    Ok(())
}

/// Writes what is known of the whole file.
fn write_facts(
    tables: &mut StackTables<'_>,
    session: &Session,
    fields: &mut FieldWriter<'_>,
) -> io::Result<()> {
    fields.number(field::TIME_NANOS, tables.start_nanos())?;
    fields.number(field::DURATION_NANOS, tables.length_nanos())?;
    fields.message(field::PERIOD_TYPE, &value_type(tables, CPU, NANOSECONDS))?;
    fields.number(field::PERIOD, tables.period_nanos())?;
    for comment in comments::comments(&session.processes) {
        fields.number(field::COMMENT, tables.string(&comment).into())?;
    }
    fields.number(field::DEFAULT_SAMPLE_TYPE, tables.string(CPU).into())
}

fn value_type(tables: &mut StackTables<'_>, name: &str, unit: &str) -> PprofValueType {
    PprofValueType { name: tables.string(name).into(), unit: tables.string(unit).into() }
}

fn label(label: &StackLabel) -> PprofLabel {
    let key = label.key.into();
    match label.value {
        StackLabelValue::Text(text) => PprofLabel { key, text: text.into(), number: 0 },
        StackLabelValue::Number(number) => PprofLabel { key, text: 0, number },
    }
}

/// Returns the id of what has an index: ids begin at 1.
fn id(index: u32) -> u64 {
    u64::from(index) + 1
}

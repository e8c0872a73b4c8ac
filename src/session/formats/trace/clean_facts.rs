//! Takes secrets out of the headers of recordings that older versions have written.

use cpu_prof_core::base::outside_text::process_label;
use cpu_prof_core::profile::program::Program;
use serde_json::{Map, Value};

/// Takes secrets out of the facts about a process.
pub fn clean_facts(facts: &mut Map<String, Value>) {
    let texts = |key| serde_json::from_value::<Vec<String>>(facts.get(key)?.clone()).ok();
    let (argv, exec_argv) = (texts("argv"), texts("execArgv"));
    let program = Program {
        argv: argv.unwrap_or_default(),
        exec_argv: exec_argv.unwrap_or_default(),
        ..Program::default()
    };
    let Program { argv, exec_argv, .. } = program.without_secrets();
    for (key, list) in [("argv", argv), ("execArgv", exec_argv)] {
        facts.get_mut(key).into_iter().for_each(|value| *value = list.clone().into());
    }
    if let Some(label) = facts.get_mut("label")
        && let Some(text) = label.as_str()
    {
        *label = process_label(text).into();
    }
}

//! The numbers that decide what the first sentence says. Parts are of 1, times are microseconds.

// When a run says anything.

/// Work below which shares are those of a few samples.
pub(super) const ENOUGH_WORK_US: f64 = 30_000.0;
/// Work of a whole run below which its start-up is not worth a sentence.
pub(super) const ENOUGH_START_UP_US: f64 = 20_000.0;
/// Time of something beside JavaScript that a person notices.
pub(super) const NOTICED_US: f64 = 100_000.0;
/// Idle time that a person notices.
pub(super) const NOTICED_IDLE_US: f64 = 300_000.0;
/// Part of the run's length that such time needs too: in a long run, 100 ms are nothing.
pub(super) const NOTICED_PART: f64 = 0.15;

// What the run's time is, before its work is looked at.

/// Part of the CPU time at which native threads or other programs are the answer, and nothing else.
pub(super) const MOST_OF_CPU: f64 = 0.6;
/// Part of that CPU time that one kind of threads needs to be named: half of it, or the name explains less than it
/// hides.
pub(super) const MOST_OF_NATIVE: f64 = 0.5;
/// Part of that CPU time that one process needs as the one that started the others.
pub(super) const MOST_OF_OTHERS: f64 = 0.6;
/// Part of the CPU time of programs without a recording that Node processes need to be told alone.
pub(super) const ONLY_NODES: f64 = 0.9;
/// Part of it that Node processes need to be told beside other programs.
pub(super) const SOME_NODES: f64 = 0.1;
/// Part of the length at which a blocked thread is the answer: it stops all else.
pub(super) const BLOCKED_PART: f64 = 0.4;
/// Part of the length at which waiting is the answer.
pub(super) const IDLE_PART: f64 = 0.6;
/// Part of the length that the work of a run that waits needs to be told too.
pub(super) const WORK_BESIDE_WAITING: f64 = 0.05;
/// Part of the work at which collections are the answer.
pub(super) const GC_PART: f64 = 0.35;
/// Part of the work at which collections are told of a killed process: its heap may have been full.
pub(super) const GC_OF_KILLED: f64 = 0.3;
/// Part of the collections that one function needs to be named.
pub(super) const MOST_OF_GC: f64 = 0.5;

// Waiting for a core.

/// Part of the busy time at which waiting for a core is told.
pub(super) const WITHOUT_CORE: f64 = 0.3;
/// Part of that waiting at which the reason is a stop of the process.
pub(super) const STOPPED_PART: f64 = 0.5;
/// Cores at work, while threads wait, below which another program has the others.
pub(super) const NEARLY_ONE_CORE: f64 = 0.9;
/// Part of the length below which a run never rested.
pub(super) const HARDLY_RESTED: f64 = 0.2;

// Whose the work is.

/// Part of the work that a function or an owner needs to be the answer.
pub(super) const ENOUGH_PART: f64 = 0.25;
/// Part of the work at which something is the answer, whatever else has more.
pub(super) const LARGE_PART: f64 = 0.4;
/// Part of the work at which start-up, or native code outside of JavaScript, is the answer.
pub(super) const HALF: f64 = 0.5;
/// How much of a function's part its owner needs to be named first: the owner's work contains the function's.
pub(super) const AS_LARGE: f64 = 0.9;
/// Part of an owner's work that a function needs to be named within.
pub(super) const MOST_OF_OWNER: f64 = 0.3;
/// Part of the work that the largest function needs to be named where nothing is large.
pub(super) const WORTH_A_NAME: f64 = 0.05;
/// Part of the work that loading needs to be told where no function is worth it.
pub(super) const LOADING_PART: f64 = 0.15;
/// Part of the work that a share needs in a list.
pub(super) const SHARE: f64 = 0.02;
/// Shares that a list has.
pub(super) const ENOUGH_SHARES: usize = 3;
/// Shares that a list has if fewer are less than half of the work: more are a table.
pub(super) const MOST_SHARES: usize = 6;
/// How much larger the part of the wall time is than that of the work for a function that runs while nothing else
/// does.
pub(super) const ALONE: f64 = 0.1;
/// Part of all start-up that one process needs to be named.
pub(super) const MOST_OF_START_UP: f64 = 0.2;

// What is told of a function.

/// Part of a function's time that a caller, or a few built-in functions, need to be named.
pub(super) const MOST_OF_FUNCTION: f64 = 0.6;
/// Part of a function's time that each of these built-in functions has.
pub(super) const NOTABLE_OF_FUNCTION: f64 = 0.1;
/// Built-in functions that are named.
pub(super) const MAX_BUILT_INS: usize = 3;
/// Part of a function's time that says where the function ran.
pub(super) const NEARLY_ALL: f64 = 0.9;
/// Part of a function's time that one thread needs to be told alone.
pub(super) const IN_ONE: f64 = 0.75;

// Native code.

/// Part of the native threads' time that a module needs to be named.
pub(super) const MOST_OF_THREADS: f64 = 0.5;
/// Part of that time that a function of the module needs to be named.
pub(super) const NOTABLE_OF_THREADS: f64 = 0.25;
/// Part of the work outside of JavaScript that a module, or a purpose, needs to be named.
pub(super) const MOST_OF_OUTSIDE: f64 = 0.4;
/// Part of that work that a function of the module needs to be named.
pub(super) const NOTABLE_OF_OUTSIDE: f64 = 0.15;

// Labels.

/// Part of the work that a label needs to be the answer.
pub(super) const LABEL_PART: f64 = 0.4;
/// Part of the work that another label, or work without labels, needs for a label to say anything.
pub(super) const OTHER_LABELS: f64 = 0.02;
/// Part of a label's work that a function needs to be named.
pub(super) const MOST_OF_LABEL: f64 = 0.3;
/// How much of the label's part a function needs to explain more than the label does.
pub(super) const MORE_THAN_LABEL: f64 = 1.1;

// The end of a killed process.

/// Time in a function at the end that a person notices, microseconds.
pub(super) const LAST_FUNCTION_US: i64 = 200_000;
/// Part of the recording that this time has.
pub(super) const LAST_FUNCTION_PART: f64 = 0.02;
/// Part of the last samples that show the function.
pub(super) const NEARLY_ALWAYS: f64 = 0.7;

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    /// Returns the numbers with a point in code, without comments and tests.
    fn numbers(text: &str) -> Vec<String> {
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let code = code.lines().map(|line| line.split("//").next().unwrap_or_default());
        let is_number_part = |c: char| c.is_ascii_digit() || matches!(c, '.' | '_');
        let words: Vec<String> = code
            .flat_map(|line| line.split(|c: char| !is_number_part(c)))
            // Ranges and fields of tuples have points, too.
            .filter(|word| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.'))
            .filter(|word| word.replace('_', "").parse::<f64>().is_ok())
            .map(str::to_owned)
            .collect();
        words.into_iter().filter(|word| !matches!(word.as_str(), "0.0" | "1.0")).collect()
    }

    #[test]
    fn no_rule_has_a_threshold_of_its_own() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("analysis/sentence");
        let mut found = Vec::new();
        for file in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            // Words have the numbers of units.
            if !matches!(name.as_str(), "thresholds.rs" | "words.rs") {
                let numbers = numbers(&fs::read_to_string(&file).unwrap());
                found.extend(numbers.into_iter().map(|number| format!("{name}: {number}")));
            }
        }
        assert_eq!(found, Vec::<String>::new());
        assert_eq!(numbers("a[0..n] >= 0.3 * 1.0 // 0.4"), ["0.3"]);
    }
}

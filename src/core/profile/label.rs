//! Labels: texts that name processes, threads and recordings on one line.

/// Returns the end of a process's label: `(pid 4242)`, `(pid unknown)`.
pub fn pid_mark(pid: i64) -> String {
    match pid {
        0 => "(pid unknown)".to_owned(),
        pid => format!("(pid {pid})"),
    }
}

/// Returns the name of a thread with the label of its recording: `main: big file`.
pub fn labelled(name: &str, recording_label: &str) -> String {
    format!("{name}: {}", shortened(recording_label))
}

/// Returns a text on one line of at most 80 characters.
pub fn shortened(text: &str) -> String {
    const MAX: usize = 80;
    // URLs drop newlines and tabs, so spaces keep words apart.
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().count() <= MAX {
        return text;
    }
    let mut short: String = text.chars().take(MAX - 1).collect();
    short.push('…');
    short
}

//! The ids in the name of a `.cpuprofile` that does not tell its process and thread itself.
//!
//! Node's own recordings have the name `CPU.<date>.<time>.<pid>.<thread>.<number>.cpuprofile`. Other
//! names tell nothing: `react-18.2.0.cpuprofile` has a version.

/// Returns the process id and the thread id in a file's name.
pub fn ids_from_file_name(name: &str) -> Option<(i64, i64)> {
    let stem = name.strip_suffix(".gz").unwrap_or(name).strip_suffix(".cpuprofile")?;
    let number = |part: &str| -> Option<i64> {
        part.parse().ok().filter(|_| part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    match stem.split('.').collect::<Vec<_>>().as_slice() {
        ["CPU", date, time, pid, thread, _] if date.len() == 8 && time.len() == 6 => {
            number(pid).zip(number(thread))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_node_has_the_ids_of_process_and_thread() {
        for (name, ids) in [
            ("CPU.20260304.050607.4242.3.001.cpuprofile", Some((4242, 3))),
            ("CPU.20260304.050607.4242.0.001.cpuprofile.gz", Some((4242, 0))),
            ("CPU.20260304.050607.x.0.001.cpuprofile", None),
            ("CPU.20260304.050607.+4.0.001.cpuprofile", None),
            ("CPU.20260304.050607.4242.0.001.trace.json", None),
            ("out.4242.0.cpuprofile", None),
            ("react-18.2.0.cpuprofile", None),
            ("app.2024.11.cpuprofile", None),
            ("1.2", None),
            ("", None),
        ] {
            assert_eq!(ids_from_file_name(name), ids, "{name}");
        }
    }
}

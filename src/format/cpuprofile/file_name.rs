//! The ids in the name of a `.cpuprofile`, whose contents do not name the process and the thread.
//!
//! Recordings have the name `CPU.<date>.<time>.<pid>.<thread>.<number>.cpuprofile`, as Node's own.
//! Converted files have the name `<name>.<pid>.<thread>.cpuprofile`.

/// Returns the process id and the thread id in a file's name, and the text before them.
pub(crate) fn ids_from_file_name(name: &str) -> (Option<(i64, i64)>, &str) {
    let stem = name.strip_suffix(".gz").unwrap_or(name);
    let stem = stem.strip_suffix(".cpuprofile").unwrap_or(stem);
    let number =
        |part: &str| part.parse().ok().filter(|_| part.bytes().all(|byte| byte.is_ascii_digit()));
    let parts: Vec<&str> = stem.split('.').collect();
    match parts.as_slice() {
        ["CPU", date, time, pid, thread, _] if date.len() == 8 && time.len() == 6 => {
            (number(pid).zip(number(thread)), "node")
        }
        [first, .., pid, thread] => match number(pid).zip(number(thread)) {
            Some(ids) => (Some(ids), first),
            None => (None, stem),
        },
        _ => (None, stem),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_the_ids_of_process_and_thread() {
        for (name, ids) in [
            ("CPU.20260304.050607.4242.3.001.cpuprofile", (Some((4242, 3)), "node")),
            ("out.4242.0.cpuprofile.gz", (Some((4242, 0)), "out")),
            ("build.cpuprofile", (None, "build")),
            ("a.b.c.cpuprofile", (None, "a.b.c")),
            ("1.2", (None, "1.2")),
            ("", (None, "")),
        ] {
            assert_eq!(ids_from_file_name(name), ids, "{name}");
        }
    }
}

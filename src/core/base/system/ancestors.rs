//! The processes above this one.

/// The most processes that are looked at: a look takes some microseconds.
const MAX: usize = 12;

/// Returns the pids of this process's parent, of the parent's parent and so on. A shell between two
/// Node processes is one of them.
pub fn ancestors() -> Vec<u32> {
    let parent = std::os::unix::process::parent_id();
    std::iter::successors(Some(parent), |pid| parent_of(*pid))
        .take_while(|pid| *pid > 1)
        .take(MAX)
        .collect()
}

fn parent_of(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses can contain anything.
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parent_is_the_first() {
        let ancestors = ancestors();
        let parent = std::os::unix::process::parent_id();
        assert!(parent <= 1 || ancestors[0] == parent);
        assert!(ancestors.len() <= MAX);
        assert_eq!(parent_of(std::process::id()), Some(parent));
        assert_eq!(parent_of(u32::MAX), None);
    }
}

//! The names by which a server knows profiles: of the service, and of what all have in common.

use std::collections::BTreeMap;

use cpu_prof_remote::push::query::PushMeta;

/// The tag with the name of the machine.
const HOST: &str = "host";

/// The names of all profiles.
#[derive(Debug, Clone, Default)]
pub(crate) struct ProfileNames {
    /// Name of the service; none for that of each process.
    pub service: Option<String>,
    /// Labels of all profiles.
    pub tags: BTreeMap<String, String>,
}

impl ProfileNames {
    /// Adds the name of this machine, unless a tag has one.
    pub(crate) fn with_host(mut self) -> Self {
        let host = || gethostname::gethostname().to_string_lossy().into_owned();
        self.tags.entry(HOST.into()).or_insert_with(host);
        self
    }

    /// Returns the attributes of a process for OpenTelemetry.
    pub(super) fn attributes(&self, process: &str, pid: i64) -> Vec<(String, String)> {
        let mut all = BTreeMap::from([(
            "service.name".to_owned(),
            self.service.clone().unwrap_or_else(|| process.to_owned()),
        )]);
        if pid != 0 {
            all.insert("process.pid".into(), pid.to_string());
        }
        let own = self.tags.iter().map(|(key, value)| {
            let key = if key == HOST { "host.name" } else { key };
            (key.to_owned(), value.clone())
        });
        all.extend(own);
        all.into_iter().collect()
    }

    /// Returns what Pyroscope gets to know of a process, beside the times. A pid would make a series of its own.
    pub(super) fn meta(&self, process: &str) -> PushMeta {
        let label = [("process".to_owned(), process.to_owned())];
        let label = label.into_iter().filter(|_| self.service.is_some());
        PushMeta {
            name: self.service.clone().unwrap_or_else(|| process.to_owned()),
            labels: label.chain(self.tags.clone()).collect(),
            ..PushMeta::default()
        }
    }
}

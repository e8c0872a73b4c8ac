//! The work for each label: for whole sets, or for the values of one key.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::frame_index::{FrameIndex, FrameKind};
use super::json::{ReportCost, ReportPlace, as_ms};
use super::process::session_view::SessionView;
use cpu_prof_core::base::cold_sort::ColdSort;
use cpu_prof_core::profile::label_table::LabelSet;
use cpu_prof_session::model::thread_profile::{NodeTimes, ThreadProfile};

/// Keys that name the work of a server, the clearest first.
const CLEAR_KEYS: [&str; 2] = ["route", "http"];

/// What costs are summed up by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LabelBy {
    /// Whole sets.
    Set,
    /// The values of a key.
    Key(String),
}

impl LabelBy {
    /// Returns what sums costs up by a key; by whole sets for an empty key.
    pub fn of_key(key: String) -> Self {
        match key.is_empty() {
            true => Self::Set,
            false => Self::Key(key),
        }
    }
}

/// The work for a set or a value.
#[derive(Debug, Clone, Default)]
pub struct LabelCost {
    /// The set, or the value with its key; empty for work without.
    pub labels: LabelSet,
    pub cost: ReportCost,
    /// Time of functions, with the time of Node's and native functions that they call: microseconds.
    functions: FxHashMap<usize, u64>,
}

/// A row of a report.
#[derive(Debug, Serialize)]
pub struct ReportLabel<'a> {
    pub name: String,
    pub labels: &'a LabelSet,
    #[serde(flatten)]
    pub cost: ReportCost,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hottest: Option<ReportHottest<'a>>,
}

/// The function with the most work for a label.
#[derive(Debug, Serialize)]
pub struct ReportHottest<'a> {
    #[serde(flatten)]
    pub place: ReportPlace<'a>,
    #[serde(rename = "selfMs", serialize_with = "as_ms")]
    pub self_us: u64,
}

/// The work for each label set of a session.
#[derive(Debug, Default)]
pub struct LabelCosts {
    /// By the numbers of the sets; empty if no sample has labels.
    sets: Vec<LabelCost>,
}

impl LabelCosts {
    /// Returns the costs of all processes but launchers.
    pub fn of(view: &SessionView<'_>) -> Self {
        let &SessionView { session, ref index, .. } = view;
        let mut profiles = view.shown_profiles();
        if !profiles.any(|profile| !profile.labels.is_empty()) {
            return Self::default();
        }
        let sets = [LabelSet::default()].into_iter().chain(session.labels.list().iter().cloned());
        let sets = sets.map(|labels| LabelCost { labels, ..LabelCost::default() });
        let mut costs = Self { sets: sets.collect() };
        let is_code = index.code_functions();
        for profile in view.shown_profiles() {
            costs.add(profile, index, &is_code);
        }
        // A filter can have left nothing with labels.
        let has_labels = |of: &LabelCost| !of.labels.is_empty() && of.has_time();
        if costs.sets.iter().any(has_labels) { costs } else { Self::default() }
    }

    fn add(&mut self, profile: &ThreadProfile, index: &FrameIndex, is_code: &[bool]) {
        profile.downward(|above: Option<usize>, number, node| {
            let kind = index.kind(node.frame);
            let function = match kind {
                FrameKind::Function(function) if is_code[function] => Some(function),
                FrameKind::Function(function) => above.or(Some(function)),
                _ => above,
            };
            let times = profile.times(node);
            if times.has_time() && !matches!(kind, FrameKind::Idle | FrameKind::Unrecorded) {
                self.sets[profile.labels(number) as usize].add(times, function);
            }
            // Node's code that starts the program's stands for nothing below.
            function.filter(|function| is_code[*function])
        });
    }

    /// Returns the costs by whole sets, or by the values of a key, the most work first. Work without a label is
    /// one of them.
    pub fn by(&self, by: &LabelBy) -> Vec<LabelCost> {
        let mut list: Vec<LabelCost> = match by {
            LabelBy::Set => self.sets.clone(),
            LabelBy::Key(key) => {
                let mut values: FxHashMap<Option<&str>, LabelCost> = FxHashMap::default();
                for of_set in &self.sets {
                    let value = of_set.labels.get(key);
                    let labels = || value.map(|value| (key, value)).into_iter().collect();
                    let of_value = values
                        .entry(value)
                        .or_insert_with(|| LabelCost { labels: labels(), ..LabelCost::default() });
                    of_value.join(of_set);
                }
                values.into_values().collect()
            }
        };
        list.retain(LabelCost::has_time);
        list.sort_by_cached_key(|LabelCost { cost, labels, .. }| {
            (Reverse((cost.self_us, cost.blocked_us, cost.waiting_us)), labels.to_string())
        });
        list
    }

    /// Returns all keys, the one that tells the most about the work first: a key that names the work of a server,
    /// or that with the most labelled work, with several but few values.
    pub fn keys(&self) -> Vec<&str> {
        let mut keys: FxHashMap<&str, (u64, BTreeSet<&str>)> = FxHashMap::default();
        for of_set in self.sets.iter().filter(|of| of.has_time()) {
            for (key, value) in of_set.labels.iter() {
                let (us, values) = keys.entry(key).or_default();
                *us = us.saturating_add(of_set.cost.self_us);
                values.insert(value);
            }
        }
        let mut list: Vec<_> = keys.into_iter().collect();
        list.cold_sort_by_key(|(key, (us, values))| {
            let place = CLEAR_KEYS.iter().position(|clear| clear == key);
            let place = place.unwrap_or(CLEAR_KEYS.len());
            (place, values.len() < 2, Reverse(*us), values.len(), *key)
        });
        list.into_iter().map(|(key, _)| key).collect()
    }
}

impl LabelCost {
    fn has_time(&self) -> bool {
        let ReportCost { self_us, blocked_us, waiting_us, .. } = self.cost;
        self_us > 0 || blocked_us > 0 || waiting_us > 0
    }

    fn add(&mut self, times: NodeTimes, function: Option<usize>) {
        let cost = &mut self.cost;
        let NodeTimes { self_us, blocked_us, waiting_us, critical_us } = times;
        cost.self_us = cost.self_us.saturating_add(self_us);
        // Labels are not nested: a set has all that its samples have.
        cost.total_us = cost.self_us;
        cost.blocked_us = cost.blocked_us.saturating_add(blocked_us);
        cost.waiting_us = cost.waiting_us.saturating_add(waiting_us);
        cost.critical_us = cost.critical_us.saturating_add(critical_us);
        if let Some(function) = function.filter(|_| self_us > 0) {
            *self.functions.entry(function).or_default() += self_us;
        }
    }

    fn join(&mut self, other: &Self) {
        let ReportCost { self_us, blocked_us, waiting_us, critical_us, .. } = other.cost;
        self.add(NodeTimes { self_us, blocked_us, waiting_us, critical_us }, None);
        for (function, us) in &other.functions {
            *self.functions.entry(*function).or_default() += us;
        }
    }

    /// Returns the function with the most work for the label, and that time: microseconds.
    pub(crate) fn hottest(&self) -> Option<(usize, u64)> {
        let all = self.functions.iter().map(|(function, us)| (*function, *us));
        all.max_by_key(|(function, us)| (*us, Reverse(*function)))
    }

    /// Returns the label's name in a table by `by`: `route=/x · tenant=t1`, or `/x`.
    pub fn name(&self, by: &LabelBy) -> String {
        match by {
            LabelBy::Set if self.labels.is_empty() => "(no labels)".to_owned(),
            LabelBy::Set => self.labels.to_string(),
            LabelBy::Key(key) => match self.labels.get(key) {
                Some(value) => value.to_owned(),
                None => format!("(no {key})"),
            },
        }
    }

    /// Returns the row of a report.
    pub fn row<'a>(&'a self, by: &LabelBy, index: &'a FrameIndex) -> ReportLabel<'a> {
        let hottest = self
            .hottest()
            .map(|(function, self_us)| ReportHottest { place: index.place(function), self_us });
        ReportLabel { name: self.name(by), labels: &self.labels, cost: self.cost, hottest }
    }
}

//! What is wrong with a trace or a profile: broken JSON, events against the rules of their phases,
//! samples of unknown nodes, and what DevTools or Perfetto would not show.

mod contents;
mod cpuprofile;
mod event_text;
mod events;
mod fields;
mod list;
pub(crate) mod one_event;
mod problems;
mod profiles;
pub(crate) mod run;
mod spans;
mod strict_text;

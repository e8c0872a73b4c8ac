//! What is wrong with a trace or a profile: broken JSON, events against the rules of their phases,
//! samples of unknown nodes, and what DevTools or Perfetto would not show.

mod cpuprofile;
mod events;
pub(crate) mod one_event;
mod phases;
mod problems;
mod profiles;
pub(crate) mod run;
mod spans;

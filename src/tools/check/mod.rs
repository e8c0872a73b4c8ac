//! What is wrong with a trace or a profile: broken JSON, events against the rules of their phases,
//! samples of unknown nodes, and what DevTools or Perfetto would not show.

pub mod check;
mod contents;
mod cpuprofile;
mod events;
mod profiles;
mod sample_labels;
mod samples;
mod spans;

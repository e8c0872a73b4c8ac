//! The functions that JavaScript calls to work on recordings.

mod check;
mod compare;
mod convert;
mod end;
mod files;
mod follow;
mod lake;
mod merge;
mod page;
mod push;
mod report;
mod run;
mod selection;
mod work;

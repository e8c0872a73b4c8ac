//! Where the files of a lake are: a folder, or a bucket of an object store. One protocol for both.

pub(crate) mod address;
mod connect;
mod credentials;
pub mod failure;
mod http;
mod limits;
pub(crate) mod objects;
mod pages;
mod xml;

pub use self::limits::TIME_VARIABLE;

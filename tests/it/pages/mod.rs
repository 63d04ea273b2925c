//! The pages in a real browser, and the documents as agents get them.

mod agreed;
mod browser;
mod documents;
mod live;
mod look;
mod stubbed;

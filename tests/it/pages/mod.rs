//! The pages in a real browser, and the documents as agents get them.

mod agreed;
mod browser;
mod docs;
mod documents;
mod live;
mod look;
mod narrow;
mod premium;
mod seals;
mod stubbed;
mod tabs;

//! Both stores against the rules, and the one on disk against damage.

mod damage;
mod disk;
mod dropped;
mod erasure;
mod faults;
mod heads;
mod rules;
mod shapes;

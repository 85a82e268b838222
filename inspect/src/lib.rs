//! Facts about programs and their states, which the debugger, plots and logs share. This crate prints nothing, and
//! depends on neither a terminal nor a session.
//!
//! | module | content |
//! |---|---|
//! | [`memory`], [`cell_set`], [`listing`] | facts about a program: names, cells, source text |
//! | [`access`], [`cotangents`] | facts about a step: cells that it accesses, adjoints that it changes |
//! | [`expression`], [`points`] | user input: expressions, breakpoints, watchpoints |
//! | [`follow`] | runs with observers |
//! | [`ancillas`], [`trace`] | an observer that counts cells in use; numbers over time in bounded memory |

#![deny(missing_docs)]

pub mod access;
pub mod ancillas;
pub mod cell_set;
pub mod cotangents;
pub mod expression;
pub mod follow;
pub mod listing;
pub mod memory;
pub mod points;
pub mod trace;

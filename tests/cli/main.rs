//! The `reviver` command as its users meet it: what goes in, what comes out on which stream, and the
//! exit code. What programs compute is tested elsewhere.

#[cfg(feature = "arrow")]
mod arrow;
mod bad_input;
mod batch;
mod bench;
mod bennett;
mod book;
mod book_numbers;
mod both_ways;
mod build;
mod chapters;
mod class;
mod commands;
mod constants;
mod course;
mod debugger;
mod debugger_page;
mod derivatives;
mod devices;
mod documents;
mod engines;
mod explain;
mod first_hour;
mod images;
mod json_errors;
mod levels;
mod limits;
mod memory;
mod mistakes;
mod notation;
mod output_files;
mod overwriting;
mod permissions;
mod pictures;
mod run;
mod signals;
mod stacks;
mod states;
mod strategies;
mod support;
mod tables;
mod tasks;
mod testing;
mod transcripts;
mod ways_back;

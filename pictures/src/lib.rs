//! Draws pictures as SVG. The input is plain data, such as numbers and texts, and the output is a text. This
//! crate depends on no program, machine or file.
//!
//! | module | purpose |
//! |---|---|
//! | [`plot`], [`text_plot`] | curves over steps, or over one another: as a picture, and in characters |
//! | [`flow_chart`] | control flow with its branch pairs: tests as diamonds, assertions as circles |
//! | [`call_tree`] | calls with their callers, their counts and their steps |
//! | [`memory_graph`], [`memory_page`], [`memory_text`] | cells as lines, and statements that access them: as a picture, and in characters |
//! | [`circuit`] | gates on wires |
//! | [`tradeoff`] | costs of several methods: steps over memory, and erased bits |
//! | [`palette`], [`canvas`], [`document`] | colours for light and dark backgrounds; shapes; the frame of a picture |

#![deny(missing_docs)]

pub mod call_tree;
pub mod canvas;
pub mod circuit;
pub mod document;
pub mod flow_chart;
pub mod memory_graph;
pub mod memory_page;
pub mod memory_text;
mod memory_words;
pub mod numbers;
pub mod palette;
pub mod plot;
pub mod text_plot;
pub mod tradeoff;

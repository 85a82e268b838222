//! Pictures as SVG, of plain data: numbers and texts go in, a text comes out. Knows no program, no machine and no file.
//!
//! | module | what it is |
//! |---|---|
//! | [`plot`], [`text_plot`] | curves over steps, or over one another: as a picture, and in characters |
//! | [`flow_chart`] | control flow with its branch pairs: tests as diamonds, assertions as circles |
//! | [`call_tree`] | who called whom, and how many steps that took |
//! | [`circuit`] | gates on wires |
//! | [`tradeoff`] | what several methods take: steps over memory, and erased bits |
//! | [`palette`], [`canvas`], [`document`] | colours on light and dark ground, shapes, and the frame of every picture |

pub mod call_tree;
pub mod canvas;
pub mod circuit;
pub mod document;
pub mod flow_chart;
pub mod numbers;
pub mod palette;
pub mod plot;
pub mod text_plot;
pub mod tradeoff;

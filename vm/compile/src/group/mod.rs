//! Gradients of several lanes side by side: a *group*, whose lanes make the same steps, each on cells of its own. One piece of code makes a step for
//! all of them, and for several losses at once on the way back. Where lanes would part, or anything is wrong with one of them, a group is given up, and
//! its lanes go alone.
//!
//! | module | what it is |
//! |---|---|
//! | [`form`] | a form with what differs between lanes, and between losses |
//! | [`room`] | the cells of a group |
//! | [`routes`] | both ways, and the judge |

pub mod form;
pub mod room;
pub mod routes;

//! C text against the interpreter: the same states, statuses, steps and counters, to the last bit, there, back and for gradients.
//! Where no C compiler is there, it says so and asks nothing.

mod fixed_point;
mod journeys;
mod recursions;
mod statements;
mod warnings;

//! The debugger's home. Nothing yet: stepping, timelines and panes come with their own milestone.
//! The machine already offers what they rest on: signed steps, travel to any step in both
//! directions, cloneable states, and residues.

//! Batches of hand-written shaders.

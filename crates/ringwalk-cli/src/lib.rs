//! Placeholder.
pub mod du;

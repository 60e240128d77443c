//! A tree that a walk fills while somebody looks at it.

//! Files and directories with the same contents.

mod changed;
mod editing;
mod killed;
mod plain;
mod sharing;
mod support;
mod without_lease;

// Ringwalk: reads directory trees and their metadata at the speed the kernel and the disk allow.
// This file is generated (cargo run -p xtask -- header): changes belong in crates/ringwalk-capi.

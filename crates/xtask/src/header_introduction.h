// Ringwalk: reads directory trees and their metadata at the speed the kernel and the disk allow.
// This file is generated (cargo run -p xtask -- header): changes belong in crates/ringwalk-capi.
//
// A walk is opened with options, and then either read batch by batch (ringwalk_next_batch, ringwalk_release), or run with
// a callback (ringwalk_run). It is closed in the end, wherever it is.
//
//     struct ringwalk_options options = {.size = sizeof options, .roots = roots, .fields = RINGWALK_FIELD_SIZE};
//     struct ringwalk_walk *walk;
//     struct ringwalk_batch batch;
//     int got = ringwalk_open(&options, &walk);
//
//     while (got >= 0 && (got = ringwalk_next_batch(walk, &batch, sizeof batch)) > 0) {
//         for (size_t i = 0; i < batch.entry_count; i++)
//             if (batch.entries[i].metadata)
//                 bytes += batch.entries[i].metadata->size;
//         if (batch.kind == RINGWALK_ERROR)
//             fprintf(stderr, "%s\n", batch.error->message);
//         ringwalk_release(&batch);
//     }
//     ringwalk_close(walk);
//
// Results. Functions return 0 or a positive number, or -errno. What cannot be read is no failure of a function: it comes
// among the batches, and the walk goes on. No function prints anything, changes the working directory or a signal's
// handler, or sets errno on purpose. -ENOTRECOVERABLE is a mistake of this library, told on standard error.
//
// Handles. Walks, and the ids of batches, are numbers that are looked up. So what has been closed or released, closing or
// releasing again included, is -EBADF: on machines of 64 bits always, on those of 32 bits until half a million more walks
// have been opened. What a batch points to is memory, though: names that are read after they were released are as bad
// as any memory that was freed.
//
// Threads. Every function may be called by every thread, also for the same walk; ringwalk_cancel by signal handlers too. A
// walk has threads of its own, which are gone when it is at its end or closed. Those of ringwalk_next_batch take no signals;
// those of ringwalk_run, which call back, take the signals of the thread that called it.
//
// Forks. To a child process the walks and batches of its parent are not open (-EBADF), and it has no part in them; what
// they hold in its memory stays until it ends or executes something. It may open walks of its own. A child that was forked
// in a callback must not return from it.
//
// Names are bytes in no particular encoding. Sizes are in bytes, except for blocks of 512 bytes. Times are since 1970-01-01 UTC.
//
// Versions. Structs only grow at their end, and functions are told the sizes that a program was built with; struct
// ringwalk_entry, ringwalk_metadata and ringwalk_error stay as they are while the library is libringwalk.so.0. Symbols
// have versions.

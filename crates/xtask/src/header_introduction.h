// Ringwalk: reads directory trees and their metadata at the speed the kernel and the disk allow.
// This file is generated (cargo run -p xtask -- header): changes belong in crates/ringwalk-capi.
//
// The header needs C99 or C++98.
//
// A program opens a walk with options. Then it reads the walk batch by batch (ringwalk_next_batch,
// ringwalk_release), or runs it with a callback (ringwalk_run). It can close the walk at any point.
//
//     struct ringwalk_options options = {
//         .size = sizeof options, .roots = roots, .fields = RINGWALK_FIELD_SIZE};
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
// Results. Functions return 0 or a positive number, or a negative errno. A file or directory that
// cannot be read does not make a function fail: the error comes among the batches, and the walk
// continues. No function prints, changes the working directory or a signal handler, or sets errno
// on purpose. -ENOTRECOVERABLE means a bug in this library, which it reports on standard error.
//
// Handles. Walks, and the ids of batches, are numbers that the library looks up. So a walk or batch
// that is already closed or released is -EBADF, also when it is closed or released again. This
// holds always on 64-bit machines; on 32-bit machines, until half a million more walks have been
// opened. The memory that a batch points to has no such protection: reading names after their
// release is the same as reading memory after free(3).
//
// Threads. Every thread can call every function, also for the same walk; signal handlers can call
// ringwalk_cancel. A walk has its own threads, which end when the walk ends or is closed. Threads
// of ringwalk_next_batch take no signals. Threads of ringwalk_run make callbacks, and take the
// signals of the thread that called it.
//
// Forks. In a child process, walks and batches of the parent are not open (-EBADF). Their memory
// stays in the child until it ends or calls execve(2). A child can open its own walks. A child that
// was forked in a callback must not return from the callback.
//
// Units. Names are bytes in no particular encoding. Sizes are in bytes; blocks are of 512 bytes.
// Times are since 1970-01-01 UTC.
//
// Versions. A struct only grows at its end or into reserved space, and functions take the sizes
// that a program was built with. The size and the offsets of struct ringwalk_entry,
// ringwalk_metadata, ringwalk_error and ringwalk_leftover stay the same while the library is
// libringwalk.so.0. Symbols have versions.

/* SPDX-License-Identifier: GPL-2.0-only */
/* The folder of the tests of reading by the submitting task, without a thread of io-wq. */
#ifndef RINGWALK_NOWAIT_H
#define RINGWALK_NOWAIT_H

#include "test.h"

/* The names of its files begin so; a number of 6 digits follows. */
#define NOWAIT_PREFIX	"a-file-with-some-name-"

/*
 * Makes the folder with @count files. Writes its path to @path (512 bytes), and returns a
 * descriptor open for reading. Skips the test on file systems that only threads read.
 */
int nowait_folder(const struct env *env, unsigned int count, char *path);

#endif

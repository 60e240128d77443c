/* SPDX-License-Identifier: GPL-2.0-only */
/* Runs the 32-bit programs of the folder compat. */
#ifndef RINGWALK_PROGRAM32_H
#define RINGWALK_PROGRAM32_H

/**
 * struct program32 - one of the programs.
 * @path: where it is
 */
struct program32 {
	char path[512];
};

/* Finds it beside the test. Skips the test if the compiler could not make it. */
struct program32 program32_find(const char *name);

/*
 * Runs it with @arguments, which end with NULL; the first is argv[1]. Returns its wait status.
 * Skips the test if this kernel runs no 32-bit programs.
 */
int program32_run(const struct program32 *program, const char *const *arguments);

#endif

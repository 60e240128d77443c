/* SPDX-License-Identifier: GPL-2.0-only */
/* A folder of FUSE, which the program fuse_readdir serves. */
#ifndef RINGWALK_FUSE_H
#define RINGWALK_FUSE_H

#include <sys/types.h>

#include "test.h"

/**
 * struct fuse - a mounted folder of FUSE.
 * @path: where it is mounted
 * @server: the server's process
 * @end: the server ends when this is closed
 */
struct fuse {
	char path[600];
	pid_t server;
	int end;
};

/*
 * Mounts the server's folder in @env's folder. @options are those of fuse_readdir, NULL at the end.
 * Skips the test if the kernel has no FUSE.
 */
void fuse_open(struct fuse *fuse, const struct env *env, const char *const *options);
/* Ends the server, which unmounts the folder. */
void fuse_close(struct fuse *fuse);
/* Ends the server at once. Requests that wait for it fail. */
void fuse_abort(struct fuse *fuse);

#endif

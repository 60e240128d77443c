/* SPDX-License-Identifier: GPL-2.0-only */
/* Fills submission entries, as liburing's functions of these names do. */
#ifndef PREP_H
#define PREP_H

#include <stdint.h>

#include <linux/io_uring.h>
/* @readdirplus */
#include <linux/readdirplus.h>
/* @end */

static inline void io_uring_prep_getdents(struct io_uring_sqe *sqe, int fd, void *buf,
					  unsigned int nbytes, uint64_t offset)
{
	sqe->opcode = IORING_OP_GETDENTS;
	sqe->fd = fd;
	sqe->addr = (uintptr_t)buf;
	sqe->len = nbytes;
	sqe->off = offset;
}

/* @readdirplus */
static inline void io_uring_prep_readdirplus(struct io_uring_sqe *sqe, int fd, void *buf,
					     unsigned int nbytes, uint64_t offset,
					     const struct readdirplus_args *args)
{
	sqe->opcode = IORING_OP_READDIRPLUS;
	sqe->fd = fd;
	sqe->addr = (uintptr_t)buf;
	sqe->len = nbytes;
	sqe->off = offset;
	sqe->addr3 = (uintptr_t)args;
	sqe->readdirplus_size = sizeof(*args);
}

/* @end */
#endif

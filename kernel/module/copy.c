// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies output to the caller, a word at a time. Records are whole, aligned words, with more than a
 * hundred bytes for each entry, so the cost of the copy matters. Not all processors copy strings of
 * bytes fast; an emulated one needs an instruction for each byte.
 */
#include <linux/align.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/uaccess.h>

#include "internal.h"

/* Bytes between two points where other tasks may run. Faults are handled at any byte. */
#define RINGWALK_COPY_CHUNK	4096

static int ringwalk_copy_chunk(u64 __user *to, const u64 *from, size_t words)
{
	if (!user_write_access_begin(to, words * sizeof(*to)))
		return -EFAULT;
	for (; words >= 4; words -= 4, to += 4, from += 4) {
		unsafe_put_user(from[0], to, fault);
		unsafe_put_user(from[1], to + 1, fault);
		unsafe_put_user(from[2], to + 2, fault);
		unsafe_put_user(from[3], to + 3, fault);
	}
	for (; words; words--, to++, from++)
		unsafe_put_user(*from, to, fault);
	user_write_access_end();
	return 0;
fault:
	user_write_access_end();
	return -EFAULT;
}

/**
 * ringwalk_copy_out - copies records to the caller
 * @to: address in the caller's memory
 * @from: records
 * @len: bytes of them, a multiple of 8
 *
 * Return: 0 or -EFAULT.
 */
int ringwalk_copy_out(u64 to, const char *from, size_t len)
{
	size_t at;

	/* Some machines cannot write unaligned words. */
	if (!IS_ALIGNED(to, sizeof(u64)))
		return copy_to_user(u64_to_user_ptr(to), from, len) ? -EFAULT : 0;
	for (at = 0; at < len; at += RINGWALK_COPY_CHUNK) {
		size_t chunk = min_t(size_t, len - at, RINGWALK_COPY_CHUNK);

		if (ringwalk_copy_chunk(u64_to_user_ptr(to + at), (const u64 *)(from + at),
					chunk / sizeof(u64)))
			return -EFAULT;
		cond_resched();
	}
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Output copied to the caller, a word at a time. Records are whole, aligned words, and there are a
 * hundred and more bytes of them for each entry, so the copy counts: processors that copy strings
 * of bytes fast are not the only ones. Emulated ones need an instruction for each byte of those.
 */
#include <linux/align.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/uaccess.h>

#include "internal.h"

/* Bytes between two checks for others to run; faults are taken at any of them. */
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
 * ringwalk_copy_out - gives records to the caller
 * @to: address in the caller's memory
 * @from: records
 * @len: bytes of them, a multiple of 8
 *
 * Return: 0 or -EFAULT.
 */
int ringwalk_copy_out(u64 to, const char *from, size_t len)
{
	size_t at;

	/* Words need not be writable there on every machine. */
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

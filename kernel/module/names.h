/* SPDX-License-Identifier: GPL-2.0-only */
/* Checks that all readers of directories share: of a name, and when to stop. */
#ifndef RINGWALK_NAMES_H
#define RINGWALK_NAMES_H

#include <linux/limits.h>
#include <linux/sched/signal.h>
#include <linux/string.h>

#include "internal.h"

/*
 * Returns true if a signal ends the request before the next entry. Before the first entry only a
 * signal that kills the task does, so that a caller with many signals gets on. Skipped entries
 * count: a server may list nothing else for ever.
 */
static inline bool ringwalk_names_stopped(const struct ringwalk_names *names)
{
	return unlikely(ringwalk_stopped()) &&
	       (names->entries || names->skipped || fatal_signal_pending(current));
}

/*
 * Returns true if an actor must stop before an entry of this length: it is invalid, or a signal
 * ends the request. getdents64(2) refuses the same lengths.
 */
static inline bool ringwalk_names_refuse(struct ringwalk_names *names, int len)
{
	if (unlikely(len <= 0 || len >= PATH_MAX))
		names->error = -EIO;
	else if (ringwalk_names_stopped(names))
		names->error = -EINTR;
	return names->error;
}

#define RINGWALK_EACH_BYTE(byte)	(0x0101010101010101ULL * (byte))

/* Returns true if a byte of the word is a slash. */
static inline bool ringwalk_has_slash(u64 word)
{
	u64 zeros = word ^ RINGWALK_EACH_BYTE('/');

	return (zeros - RINGWALK_EACH_BYTE(0x01)) & ~zeros & RINGWALK_EACH_BYTE(0x80);
}

/*
 * Returns true if an actor must stop before an entry because of its name. Names of damaged file
 * systems may have slashes. getdents64(2) refuses them, and a lookup would leave the directory.
 */
static inline bool ringwalk_names_slash(struct ringwalk_names *names, const char *name, u32 len)
{
	bool slash = false;
	u32 at = 0;
	u64 word;

	if (len < sizeof(word)) {
		while (at < len)
			slash |= name[at++] == '/';
	} else {
		/* The last word may overlap the previous one. */
		for (; at < len - sizeof(word); at += sizeof(word)) {
			memcpy(&word, name + at, sizeof(word));
			slash |= ringwalk_has_slash(word);
		}
		memcpy(&word, name + len - sizeof(word), sizeof(word));
		slash |= ringwalk_has_slash(word);
	}
	if (unlikely(slash))
		names->error = -EIO;
	return slash;
}

#endif /* RINGWALK_NAMES_H */

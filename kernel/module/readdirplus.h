/* SPDX-License-Identifier: GPL-2.0-only */
/* Records of READDIRPLUS, of which READTREE's groups consist as well. */
#ifndef RINGWALK_READDIRPLUS_H
#define RINGWALK_READDIRPLUS_H

#include "internal.h"

/*
 * struct ringwalk_plus - a directory that is read with metadata
 * @names: the reader of names
 * @wanted: the wanted data of every entry
 * @below: where subdirectories are remembered, NULL if they are not
 * @deadline: when the lookups end; KTIME_MAX for never
 */
struct ringwalk_plus {
	struct ringwalk_names names;
	const struct ringwalk_wanted *wanted;
	struct ringwalk_below *below;
	ktime_t deadline;
};

bool ringwalk_plus_actor(struct dir_context *ctx, const char *name, int len, loff_t offset,
			 u64 ino, unsigned int type);
int ringwalk_plus_lookup(struct ringwalk_plus *plus, struct file *dir, u32 *flags);

#endif /* RINGWALK_READDIRPLUS_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Comparison of records with getdents64(2), statx(2), llistxattr(2) and lgetxattr(2). selftest.c
 * shows that each byte counts.
 */
#ifndef RINGWALK_COMPARE_H
#define RINGWALK_COMPARE_H

#include "list.h"
#include "records.h"
#include "transport.h"

/**
 * struct compare - a request and its folder.
 * @fd: the folder
 * @path: the same
 * @fields: of the request
 * @flags: of the request
 * @ours
 * @no_names: records have no names (STAT_BATCH)
 * @no_mnt_id: mount ids are not given (the module cannot)
 * @end
 */
struct compare {
	int fd;
	const char *path;
	const struct ringwalk_fields *fields;
	uint32_t flags;
/* @ours */
	bool no_names;
	bool no_mnt_id;
/* @end */
};

/* Returns NULL if @record agrees with the system calls about @expected, or a message. */
const char *compare_record(const struct compare *compare, const struct record *record,
			   const struct dirent_record *expected);

/*
 * Returns NULL if @len bytes at @buf are @entries records of the entries of @list from @first on,
 * or a message.
 */
const char *compare_batch(const struct compare *compare, const void *buf, size_t len,
			  unsigned int entries, const struct list *list, size_t first);

#endif

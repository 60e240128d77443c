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
 * @names: records have names (READDIRPLUS)
 * @mnt_id: mount ids are given (by the opcode; the module cannot)
 */
struct compare {
	int fd;
	const char *path;
	const struct ringwalk_fields *fields;
	uint32_t flags;
	bool names;
	bool mnt_id;
};

/* Returns NULL if @record agrees with the system calls about @expected, or a message. */
const char *compare_record(const struct compare *compare, const struct record *record,
			   const struct dirent_record *expected);

/*
 * Returns NULL if @len bytes at @buf are @entries records of the entries of @list from @first on,
 * or a message.
 */
const char *compare_batch(const struct compare *compare, const void *buf, size_t len, unsigned int entries,
			  const struct list *list, size_t first);

/* The extended attributes of a record; in compare_xattr.c. */
const char *compare_xattrs(const struct compare *compare, const struct record *record, const char *name);

#endif

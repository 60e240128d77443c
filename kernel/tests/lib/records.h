/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decodes records of READDIRPLUS and STAT_BATCH, and checks every length and every byte of padding.
 */
#ifndef RINGWALK_RECORDS_H
#define RINGWALK_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/ringwalk.h>

/**
 * struct record - the parts of one record; missing parts are NULL.
 * @next: where the next one begins
 * @xattrs: @entry->xattr_len bytes
 */
struct record {
	const struct ringwalk_entry *entry;
	const struct ringwalk_stat *stat;
	const struct ringwalk_time *atime, *mtime, *ctime, *btime;
	const uint64_t *mnt_id;
	const uint32_t *dioalign;
	const uint64_t *subvol;
	const char *name;
	const char *xattrs;
	const char *next;
};

/* Decodes the record at @at, with @left bytes left. Returns NULL or a message. */
const char *record_parse(const void *at, size_t left, const struct ringwalk_fields *fields,
			 struct record *record);

/* Decodes the attribute at @at. Returns NULL or a message. */
const char *xattr_parse(const char *at, size_t left, const struct ringwalk_xattr **xattr,
			const char **name, const char **value);

/*
 * Returns the bytes of a record with metadata for @fields, a name of @name_len bytes (0 for none)
 * and
 * @xattr_len bytes of attributes.
 */
size_t record_len(const struct ringwalk_fields *fields, size_t name_len, size_t xattr_len);

#endif

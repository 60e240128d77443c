/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What getdents64(2) says of a folder, as the truth that requests are compared with.
 */
#ifndef RINGWALK_LIST_H
#define RINGWALK_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "sys.h"

/**
 * struct list - the records of a folder.
 * @at: the records, in order
 * @count: how many
 * @bytes: memory that they are in
 * @len: bytes of records in it
 */
struct list {
	struct dirent_record **at;
	size_t count;
	char *bytes;
	size_t len;
};

/* Reads the whole folder from its beginning through @fd, whose position is moved to its end. */
void list_read(struct list *list, int fd);
/* The same through an open file of its own, so that the position of @fd stays. */
void list_read_apart(struct list *list, int fd);
void list_free(struct list *list);

/* Appends @len bytes of records (for lists read by requests). Stops the test if they are malformed. */
void list_append(struct list *list, const void *records, size_t len);

/* Appends a record made up for STAT_BATCH. */
void list_add(struct list *list, const char *name, uint64_t ino, uint64_t off, uint8_t type);

/* Index of @name, or -1. */
long list_find(const struct list *list, const char *name);

/*
 * Whether two cookies mean the same. btrfs has two that mean the end: INT_MAX, and LLONG_MAX when somebody has looked there
 * again, as GETDENTS does to tell the end.
 */
bool list_same_cookie(uint64_t a, uint64_t b);

/* NULL if both lists are the same from @first of @expected on, cookies included; else what differs. */
const char *list_differs(const struct list *got, const struct list *expected, size_t first);

#endif

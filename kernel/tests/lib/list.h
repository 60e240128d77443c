/* SPDX-License-Identifier: GPL-2.0-only */
/* The records of getdents64(2) of a folder, with which requests are compared. */
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
 * @by_name: the numbers of the records in the order of their names, once one was looked for
 */
struct list {
	struct dirent_record **at;
	size_t count;
	char *bytes;
	size_t len;
	unsigned int *by_name;
};

/* Reads the whole folder through @fd from the beginning. The position of @fd moves to the end. */
void list_read(struct list *list, int fd);
/* Reads from the position of @fd on, until the end or an error. Returns 0 or the negative errno. */
long list_read_on(struct list *list, int fd);
/* As list_read() does, through another open file, so that the position of @fd stays. */
void list_read_apart(struct list *list, int fd);
void list_free(struct list *list);

/*
 * Appends @len bytes of records (for lists read by requests). Stops the test if they are malformed.
 */
void list_append(struct list *list, const void *records, size_t len);

/* Appends an invented record for STAT_BATCH. */
void list_add(struct list *list, const char *name, uint64_t ino, uint64_t off, uint8_t type);

/* Index of @name, or -1. Not for several threads at once. */
long list_find(struct list *list, const char *name);

/*
 * Returns true if two cookies mean the same. btrfs has two for the end: INT_MAX, and LLONG_MAX
 * after another read at the end, as GETDENTS makes to detect the end.
 */
bool list_same_cookie(uint64_t a, uint64_t b);

/*
 * Returns NULL if both lists are the same from @first of @expected on, including cookies, or a
 * message.
 */
const char *list_differs(const struct list *got, const struct list *expected, size_t first);

#endif

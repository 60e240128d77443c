/* SPDX-License-Identifier: GPL-2.0-only */
/* Requests for names: GETDENTS. */
#ifndef RINGWALK_NAMES_H
#define RINGWALK_NAMES_H

#include "list.h"
#include "transport.h"

/* A request for names from the current position on. */
struct ringwalk_getdents request_getdents(int fd, void *buf, uint32_t len);

/*
 * Reads names by GETDENTS with buffers of @len bytes from the current position to the end. Returns
 * 0 or a negative errno.
 */
long request_all_names(struct transport *transport, int fd, uint32_t len, struct list *list);

/* Checks that these names are @list from entry number @first on. */
void request_check_names(struct transport *transport, int fd, uint32_t len, const struct list *list,
			 size_t first, const char *what);

#endif

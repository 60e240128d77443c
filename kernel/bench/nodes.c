// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "nodes.h"

static struct node *newest;

void push_node(struct node *parent, const char *name)
{
	size_t length = strlen(name) + 1;
	struct node *node = malloc(sizeof(*node) + length);

	if (!node)
		die("malloc");
	node->parent = parent;
	node->fd = -1;
	node->users = 1;
	memcpy(node->name, name, length);
	if (parent)
		parent->users++;
	node->next = newest;
	newest = node;
}

struct node *pop_node(void)
{
	struct node *node = newest;

	if (node)
		newest = node->next;
	return node;
}

int parent_fd(const struct node *node)
{
	return node->parent ? node->parent->fd : AT_FDCWD;
}

int drop_node(struct node *node)
{
	int fd;

	if (!node || --node->users)
		return -1;
	fd = node->fd;
	free(node);
	return fd;
}

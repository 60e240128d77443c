/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Directories still to be read, the newest first, each opened relative to its parent: no path is ever built.
 *
 * A directory keeps its descriptor until its last child is opened: `users` counts the unopened children and the reading itself.
 */
#ifndef RINGWALK_BENCH_NODES_H
#define RINGWALK_BENCH_NODES_H

struct node {
	struct node *parent;
	struct node *next;
	int fd;
	int users;
	char name[];
};

/* Puts a directory found in `parent`, null for the root, on the stack. */
void push_node(struct node *parent, const char *name);

/* The newest directory, or null when there is none. */
struct node *pop_node(void);

/* What a directory is opened relative to. */
int parent_fd(const struct node *node);

/* Lets go of a directory (null is none). Returns its descriptor if that was its last user, to be closed by the caller, else -1. */
int drop_node(struct node *node);

#endif

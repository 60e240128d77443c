/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Directories still to be read, the newest first, each opened relative to its parent: no path is
 * ever built.
 *
 * A directory keeps its descriptor until its last child is opened: `users` counts the unopened
 * children and the reading itself.
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

/* Puts a directory of `parent` on the stack; null for the root. */
void push_node(struct node *parent, const char *name);

/* Returns the newest directory, or null if there is none. */
struct node *pop_node(void);

/* Returns the descriptor relative to which a directory is opened. */
int parent_fd(const struct node *node);

/*
 * Removes a user of a directory (null is none). If it was the last one, returns the descriptor,
 * which the caller closes; else -1.
 */
int drop_node(struct node *node);

#endif

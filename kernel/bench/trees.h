/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads whole trees by READTREE of the module, for rwbench. */
#ifndef RINGWALK_BENCH_TREES_H
#define RINGWALK_BENCH_TREES_H

#include "nodes.h"

/* Called for each entry but "." and "..". */
typedef void (*tree_entry)(const struct ringwalk_entry *entry);

/*
 * Reads the open directory of a node, and those below it, as far as the kernel gives them. Pushes
 * the others, with their paths relative to the node. Returns the number of directories read, and
 * adds the number of requests to `calls`.
 */
uint64_t read_trees(struct node *node, tree_entry each, uint64_t *calls);

/* Opens the module's device. */
void start_trees(void);

#endif

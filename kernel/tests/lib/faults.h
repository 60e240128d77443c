/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory handled by userfaultfd(2): the first access to a page waits until the test gives the page.
 */
#ifndef RINGWALK_FAULTS_H
#define RINGWALK_FAULTS_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of a page. */
#define FAULTS_PAGE	4096

/**
 * struct faults - the memory.
 * @fd: descriptor that reports accesses
 * @memory: @len bytes, a number of pages
 * @len: its size
 */
struct faults {
	int fd;
	char *memory;
	size_t len;
};

/* Skips the test if the kernel has no userfaultfd. */
void faults_open(struct faults *faults, size_t len);
void faults_close(struct faults *faults);

/*
 * Waits for the next access, at most @milliseconds. Returns the page that is accessed, or NULL if
 * there was no access.
 */
char *faults_wait(struct faults *faults, int milliseconds);

/* Gives a page of zeros, so that the access to it goes on. Returns 0 or a negative errno. */
int faults_give(struct faults *faults, char *page);
/* Unmaps a page. The access to it fails. */
void faults_unmap(struct faults *faults, char *page);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's log as /dev/kmsg gives it, a record at a time. */
#ifndef RINGWALK_KERNEL_LOG_H
#define RINGWALK_KERNEL_LOG_H

/*
 * Reads the records from the position of @fd, which is /dev/kmsg, to the end. Returns 1 if one
 * reports a fault of the kernel (oops, warning, lockdep, KASAN, hung task) or if records were lost,
 * 0 if neither is so, or a negative error. Prints the first such record, or that some were lost.
 */
int kernel_log_faults(int fd);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* Results of a test in the way of liburing's tests: one exit status for all runs. */
#ifndef REPORT_H
#define REPORT_H

#include "helpers.h"
#include "test.h"

static unsigned int report_failed, report_skipped, report_runs;

static inline void report_absent(const char *why)
{
	fprintf(stderr, "%s: skipped, %s\n", test.name, why);
	exit(T_EXIT_SKIP);
}

static inline void report_begin(unsigned int runs)
{
	report_runs = runs;
}

static inline void report(const char *run, int status)
{
	if (status == EXIT_SKIP)
		report_skipped++;
	else if (status != EXIT_PASS)
		report_failed++;
	if (status != EXIT_PASS)
		fprintf(stderr, "%s, %s: status %d\n", test.name, run, status);
}

static inline int report_end(void)
{
	if (report_failed)
		return T_EXIT_FAIL;
	return report_skipped == report_runs ? T_EXIT_SKIP : T_EXIT_PASS;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* Results of a test in the format of the kernel's selftests. */
#ifndef REPORT_H
#define REPORT_H

#include "kselftest.h"
#include "test.h"

static inline void report_absent(const char *why)
{
	ksft_print_header();
	ksft_exit_skip("%s\n", why);
}

static inline void report_begin(unsigned int runs)
{
	ksft_print_header();
	ksft_set_plan(runs);
}

static inline void report(const char *run, int status)
{
	if (status == EXIT_SKIP)
		ksft_test_result_skip("%s, %s\n", test.name, run);
	else
		ksft_test_result(status == EXIT_PASS, "%s, %s\n", test.name, run);
}

static inline int report_end(void)
{
	ksft_finished();
}

#endif

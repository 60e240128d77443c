// Adds classes of characters and intervals to Emacs's syntax of regular expressions, in the program
// that it is loaded into. GNU find before 4.11 then reads the expressions as later versions do.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <regex.h>

reg_syntax_t re_set_syntax(reg_syntax_t syntax)
{
	reg_syntax_t (*real)(reg_syntax_t) = dlsym(RTLD_NEXT, "re_set_syntax");

	if ((syntax & ~(RE_DOT_NEWLINE | RE_ICASE)) == 0)
		syntax |= RE_CHAR_CLASSES | RE_INTERVALS;
	return real(syntax);
}

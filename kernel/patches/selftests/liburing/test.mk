readdir_targets := $(filter readdir-%.t,$(test_targets))
readdir_lib := $(wildcard $(root)/test/readdir/*.c)

$(readdir_targets): %.t: %.c $(readdir_lib) $(helpers) helpers.h $(LIBURING)
	$(QUIET_CC)$(CC) $(CPPFLAGS) $(CFLAGS) -I$(root)/test -o $@ $< $(readdir_lib) $(helpers) $(LDFLAGS)


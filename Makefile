# Building, testing and installing Ringwalk. `make help` lists the targets.

PREFIX ?= /usr/local
DESTDIR ?=
# Where the C library goes; Debian has a folder for each architecture.
LIBDIR ?= $(PREFIX)/lib
# Set to 1 to install links named du and find as well, which take GNU's places in the PATH.
DU_LINK ?=
FIND_LINK ?=

CARGO ?= cargo
# The Python of the end-to-end tests: Debian's, or any other that has pytest.
PYTHON ?= /usr/bin/python3
# Workers of pytest-xdist in `make e2e` and `make python`: one more than processors, since some
# tests wait; 9 at most.
TEST_WORKERS ?= $(shell n=$$(nproc); echo $$(( (n < 8 ? n : 8) + 1 )))
# Seconds that `make fuzz` runs, all targets together.
FUZZ_SECONDS ?= 20
# The names of files in fuzz/fuzz_targets.
FUZZ_TARGETS ?= $(patsubst fuzz/fuzz_targets/%.rs,%,$(wildcard fuzz/fuzz_targets/*.rs))
# More arguments for pytest, such as `-k races`; `-n 0` runs the tests in one process.
PYTEST ?=
# With LONG=1 the targets of tests run the long tests too.
LONG_TOO = $(if $(LONG),-m "")

# The rust-version of Cargo.toml.
MSRV = $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
HOST = $(shell rustc -vV | sed -n 's/^host: //p')
TARGET_DIR := $(or $(CARGO_TARGET_DIR),target)
TOOLS := $(CURDIR)/target/tools
# The profile of cargo for the program and the C library: `dist` is what users get. The tests use
# `dev`.
PROFILE ?= dist
BUILT := $(TARGET_DIR)/$(PROFILE:dev=debug)
PROGRAM := $(BUILT)/ringwalk
ASSETS := $(TARGET_DIR)/assets
CAPI := $(TARGET_DIR)/capi/$(PROFILE)
# Libraries that Rust's standard library needs: `cargo rustc ... -- --print native-static-libs`. The
# C compiler itself adds -lgcc_s, or -lgcc_eh to a static program.
CAPI_NEEDS := -lutil -lrt -lpthread -lm -ldl -lc
# For recipes that must not run with `make -n`: make runs a line with $(MAKE) in it all the same.
MAKE_NAME := $(MAKE)
VERSION = $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)
# The walk by tokio for measurements in guests. It is a separate workspace, because only it needs
# tokio.
TRAVERSE := kernel/bench/traverse/Cargo.toml
# Separate workspaces, because they need more of tokio and a web server: programs of the bench, and
# an example.
LISTING := bench/listing/Cargo.toml
WEB_EXAMPLE := crates/ringwalk/examples/axum_listing/Cargo.toml
# Tests of directories as tasks in every runtime: a workspace of its own, too.
RUNTIMES := tests/runtimes/Cargo.toml
APART := $(TRAVERSE) $(LISTING) $(WEB_EXAMPLE) $(RUNTIMES)
TO = $(DESTDIR)$(PREFIX)
LIB = $(DESTDIR)$(LIBDIR)
DOC = $(TO)/share/doc/ringwalk
STRIP ?= strip
# The address for links that lead out of the installed documentation.
REPOSITORY = $(shell sed -n 's/^repository = "\(.*\)"/\1/p' Cargo.toml)/blob/main

# The commands of `install` and `uninstall` take these folders as single words of the shell. The
# check of their characters reads them from the environment, so that they are no commands there.
PLACE_CHARACTERS := A-Za-z0-9_./+~@:-
install uninstall: export RINGWALK_PLACES = $(PREFIX):$(LIBDIR):$(DESTDIR)
define check_places
$(foreach name,PREFIX LIBDIR,$(if $(filter-out /%,$(or $($(name)),none))$(word 2,$($(name))),\
	$(error $(name) must be an absolute path without spaces, and is '$($(name))')))
$(if $(word 2,$(DESTDIR)),$(error DESTDIR must be a path without spaces, and is '$(DESTDIR)'))
$(foreach name,DU_LINK FIND_LINK,$(if $(filter-out 0 1,$($(name))),\
	$(error $(name) must be 1 for the link, or 0, and is '$($(name))')))
@case "$$RINGWALK_PLACES" in *[!$(PLACE_CHARACTERS)]*) \
	echo "make $@: PREFIX, LIBDIR and DESTDIR may have the characters $(PLACE_CHARACTERS) only: $$RINGWALK_PLACES" >&2; \
	exit 2;; esac
endef

# Programs find the library by the cache of the dynamic linker. Only root may write the cache, and
# files below DESTDIR are not yet in their place.
FOR_ROOT := PATH="$$PATH:/usr/sbin:/sbin"
LDCONFIG := $(FOR_ROOT) ldconfig
define update_linker
@test -n "$(DESTDIR)" -o "$$(id -u)" != 0 || ! $(FOR_ROOT) command -v ldconfig >/dev/null || $(LDCONFIG)
endef

export PATH := $(TOOLS)/bin:$(TOOLS)/python/bin:$(PATH)

.PHONY: build assets capi setup checks quick test test-long unit runtimes sanitize fuzz e2e python kernel fmt lint \
	msrv deny bench \
	package dist dist-check install uninstall clean help

build: ## build the program, its man pages and completions, and the C library (the default)
	$(CARGO) build --profile $(PROFILE) --locked -p ringwalk-cli
	$(MAKE) --no-print-directory assets capi

assets: ## generate man pages and completions only
	$(CARGO) run --quiet --locked -p xtask -- assets $(ASSETS)

# rustc would link a shared library with a version script of its own, and a linker takes only one.
# So rustc makes the static library, and the linker makes the shared one from it. `nodelete` keeps
# the library loaded, since threads of walks may run in it.
capi: ## build the C library, shared and static
	$(CARGO) rustc --quiet --locked -p ringwalk-capi --lib --crate-type staticlib --profile $(PROFILE)
	install -D -m 644 $(BUILT)/libringwalk_capi.a $(CAPI)/libringwalk.a
	$(CC) -shared -o $(CAPI)/libringwalk.so.$(VERSION) -Wl,-soname,libringwalk.so.0 \
		-Wl,--version-script=crates/ringwalk-capi/ringwalk.map \
		-Wl,--whole-archive $(CAPI)/libringwalk.a -Wl,--no-whole-archive -Wl,--gc-sections \
		-Wl,-z,defs,-z,nodelete,-z,relro,-z,now -Wl,--as-needed $(CAPI_NEEDS)
	ln -sf libringwalk.so.$(VERSION) $(CAPI)/libringwalk.so.0
	ln -sf libringwalk.so.0 $(CAPI)/libringwalk.so

setup: ## install the tools of the tests, with LONG=1 those of test-long too
	@scripts/setup $(if $(LONG),--long)

checks: ## install the tools of the tests and of lint, deny and .ci/run
	@scripts/setup --checks

quick: ## test and lint what has changed, in two minutes and without root
	@command -v $(PYTHON) >/dev/null || \
		{ echo "make quick: $(PYTHON) is missing: apt-get install python3 python3-pytest" >&2; exit 2; }
	@PYTHON=$(PYTHON) MAKE="$(MAKE_NAME)" $(PYTHON) scripts/quick

# Both go on after a failed step, and end with a table of the steps, and the failures.
test: ## install missing tools and run the tests of a change
	@PYTHON=$(PYTHON) MAKE="$(MAKE_NAME)" scripts/steps setup unit e2e python kernel

test-long: export LONG = 1
test-long: ## install missing tools and run every test: hours
	@PYTHON=$(PYTHON) MAKE="$(MAKE_NAME)" scripts/steps setup unit runtimes sanitize fuzz e2e python kernel

# Long tests are ignored ones whose names begin with `long_`. The other ignored tests are called by
# tests, in surroundings that these make.
unit: ## unit, property and documentation tests, and those of the bench
	$(CARGO) test --workspace --locked
	$(if $(LONG),$(CARGO) test --workspace --locked --lib --bins --tests -- --ignored long_)
	$(PYTHON) -m unittest discover -s bench

runtimes: ## asynchronous directories under the runtimes of Rust
	$(CARGO) test --manifest-path $(RUNTIMES) --target-dir $(TARGET_DIR)/runtimes --locked

# Without documentation tests, which are built without the flags of the sanitizer.
sanitize: ## tests of ringwalk-sys under AddressSanitizer
	RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=address $(CARGO) test --locked -p ringwalk-sys \
		--lib --tests --target $(HOST) --target-dir $(TARGET_DIR)/sanitize

# Each target runs for its share of the time. New inputs go to the first folder; the second one
# holds the committed inputs and is only read. The longest committed input limits the length of new
# ones: 4 KiB at least, 64 KiB for images of file systems. cargo-fuzz is a tool of the long tests.
fuzz: LONG = 1
fuzz: setup ## every fuzz target, FUZZ_SECONDS for all together
	@for target in $(FUZZ_TARGETS); do \
		echo "fuzz: $$target"; \
		mkdir -p $(TARGET_DIR)/corpus/$$target && \
		RUSTC_BOOTSTRAP=1 $(CARGO) fuzz run --target $(HOST) $$target \
			$(TARGET_DIR)/corpus/$$target fuzz/corpus/$$target -- \
			-max_total_time=$$(( $(FUZZ_SECONDS) / $(words $(FUZZ_TARGETS)) + 1 )) \
			-verbosity=0 -print_final_stats=1 || exit 1; \
	done

# Without pytest-xdist the tests run in one process. Tests of one group (tests/conftest.py) run in
# one worker.
# It builds what the unit tests have built: with other packages, crates would have other features.
e2e: setup ## end-to-end tests of the debug build; without root some are skipped
	$(CARGO) build --locked --workspace --bins --examples
	$(if $(LONG),$(CARGO) build --locked --manifest-path $(WEB_EXAMPLE) --target-dir $(TARGET_DIR))
	$(MAKE) --no-print-directory capi PROFILE=dev
	parallel=$$($(PYTHON) -c 'import xdist' 2>/dev/null && \
		echo "-n $(TEST_WORKERS) --dist loadgroup"); \
	RINGWALK_CAPI=$${RINGWALK_CAPI:-$(abspath $(TARGET_DIR))/capi/dev} \
	RINGWALK_BIN=$${RINGWALK_BIN:-$(abspath $(TARGET_DIR))/debug/ringwalk} \
		$(PYTHON) -m pytest $$parallel $(LONG_TOO) $(PYTEST) </dev/null

python: CHECK_OPTIONS = -n $(TEST_WORKERS) --dist loadscope $(LONG_TOO) $(PYTEST)
python: setup ## the Python package: its wheel in an environment below target/, and its tests
	PYTHON=$(PYTHON) crates/ringwalk-python/check $(CHECK_OPTIONS)
	free=$$(crates/ringwalk-python/tests/free-threaded) && \
		{ test -z "$$free" || PYTHON=$$free crates/ringwalk-python/check $(CHECK_OPTIONS); }

# Kernels are built or fetched once for each change of their inputs: see kernel/vm/run.
kernel: setup ## the kernel module and patches, in virtual machines (STEPS: kernel/check --list)
	$(MAKE) -C kernel $(if $(LONG),$(if $(STEPS),check,check-long),check)

# Scripts of Python whose names do not end in .py.
LINT_SCRIPTS := $(shell grep -l '^\#!.*python' scripts/*)

fmt: ## format Rust and Python
	$(CARGO) fmt --all
	$(CARGO) fmt --manifest-path fuzz/Cargo.toml
	for each in $(APART); do $(CARGO) fmt --manifest-path $$each || exit 1; done
	ruff format tests kernel crates/ringwalk-python packaging $(LINT_SCRIPTS)

lint: checks ## clippy, rustdoc, ruff, shellcheck, prose, maps of files, loops of imports, commits
	$(CARGO) fmt --all --check
	$(CARGO) fmt --manifest-path fuzz/Cargo.toml --check
	for each in $(APART); do \
		$(CARGO) fmt --manifest-path $$each --check || exit 1; \
	done
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	for each in $(APART); do \
		$(CARGO) clippy --manifest-path $$each --target-dir $(TARGET_DIR)/traverse --all-targets --locked -- -D warnings || exit 1; \
	done
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --quiet --workspace --no-deps --locked \
		--document-private-items --features ringwalk/async
	scripts/check-prose
	scripts/check-maps
	scripts/check-loops
	scripts/check-commits
	ruff check . $(LINT_SCRIPTS)
	ruff format --check tests kernel crates/ringwalk-python packaging $(LINT_SCRIPTS)
	shellcheck .ci/run scripts/base scripts/setup scripts/check-commits scripts/steps scripts/dist scripts/dist-check packaging/check/*.sh packaging/check/lib.bash fuzz/ext4-corpus contrib/systemd/ringwalk-snapshots crates/ringwalk-python/check crates/ringwalk-python/tests/free-threaded
	shellcheck -s dash -e SC1007,SC2015,SC2086,SC2126 kernel/vm/guest/init kernel/tests/run

msrv: ## check that the oldest supported toolchain builds everything
	@if rustup run $(MSRV) cargo --version >/dev/null 2>&1 || \
		rustup toolchain install $(MSRV) --profile minimal; then \
		rustup run $(MSRV) cargo check --workspace --all-targets --locked \
			--target-dir $(TARGET_DIR)/msrv; \
	else \
		echo "msrv: SKIPPED: rustup cannot provide Rust $(MSRV)"; \
	fi

# The exception for the licence of the fuzzer's runtime applies in the fuzzer's workspace only.
DENY := --allow license-exception-not-encountered licenses bans sources

# Without advisories: they need a database from the network, and with them a commit could pass today
# and fail tomorrow.
deny: checks ## licences, sources and bans of dependencies
	$(CARGO) deny check $(DENY)
	$(CARGO) deny --manifest-path fuzz/Cargo.toml check $(DENY)
	for each in $(APART); do $(CARGO) deny --manifest-path $$each check $(DENY) || exit 1; done

package: ## pack every crate as the registry would get it, and build each from its package alone
	scripts/package

dist: ## build all that a release consists of in target/artefacts, from what is committed
	scripts/dist --setup

dist-check: ## install what dist has built in clean Debian bookworm and trixie (only as root)
	scripts/dist-check

bench: ## measure against the floors and the other tools that are installed
	bench/run $(BENCH)

# Builds only missing files, so that `sudo make install` after `make` runs no compiler as root. What
# is installed has no debug information; the files in $(BUILT) keep theirs. Man pages are generated
# with Debian's place of the documentation.
install: ## install below $(DESTDIR)$(PREFIX); DU_LINK=1, FIND_LINK=1 add links named du, find
	$(check_places)
	@test -x $(PROGRAM) -a -d $(ASSETS)/man -a -f $(CAPI)/libringwalk.so || $(MAKE) --no-print-directory build
	install -D -m 755 $(PROGRAM) $(TO)/bin/ringwalk
	install -D -m 755 -t $(TO)/lib/ringwalk contrib/systemd/ringwalk-snapshots
	install -D -m 644 -t $(TO)/lib/systemd/system contrib/systemd/*@.*
	install -D -m 644 -t $(TO)/share/man/man1 $(ASSETS)/man/*.1
	install -D -m 644 -t $(TO)/share/man/man3 $(ASSETS)/man/*.3
	install -D -m 644 -t $(DOC) docs/*.*
	install -D -m 644 contrib/systemd/README.md $(DOC)/systemd.md
	install -D -m 644 $(ASSETS)/completions/ringwalk.bash $(TO)/share/bash-completion/completions/ringwalk
	install -D -m 644 -t $(TO)/share/zsh/site-functions $(ASSETS)/completions/_ringwalk
	install -D -m 644 -t $(TO)/share/fish/vendor_completions.d $(ASSETS)/completions/ringwalk.fish
	install -D -m 644 -t $(TO)/include crates/ringwalk-capi/include/ringwalk.h
	install -D -m 644 -t $(LIB) $(CAPI)/libringwalk.a $(CAPI)/libringwalk.so.$(VERSION)
	cp -P $(CAPI)/libringwalk.so.0 $(CAPI)/libringwalk.so $(LIB)
	install -D -m 644 crates/ringwalk-capi/ringwalk.pc.in $(LIB)/pkgconfig/ringwalk.pc
	$(STRIP) $(TO)/bin/ringwalk
	$(STRIP) --strip-debug $(LIB)/libringwalk.a
	$(STRIP) --strip-unneeded $(LIB)/libringwalk.so.$(VERSION)
	sed -i 's,@PREFIX@,$(PREFIX),; s,@LIBDIR@,$(LIBDIR:$(PREFIX)/%=$${exec_prefix}/%),; s,@VERSION@,$(VERSION),; s,@PRIVATE@,$(CAPI_NEEDS),' \
		$(LIB)/pkgconfig/ringwalk.pc $(TO)/lib/systemd/system/ringwalk-snapshots@.*
	sed -i 's,/usr/share/doc,$(subst -,\\-,$(PREFIX))/share/doc,g' $(TO)/share/man/man[13]/ringwalk*.[13]
	sed -i 's,](\.\./,]($(REPOSITORY)/,g; s,](decisions/,]($(REPOSITORY)/docs/decisions/,g' $(DOC)/*.md
	$(if $(filter 1,$(DU_LINK)),ln -sf ringwalk $(TO)/bin/du)
	$(if $(filter 1,$(FIND_LINK)),ln -sf ringwalk $(TO)/bin/find)
	$(update_linker)
	@test -n "$(DESTDIR)" || $(LDCONFIG) -p 2>/dev/null | grep -qF '=> $(LIBDIR)/libringwalk.so.0' || \
		echo "make install: the dynamic linker does not know $(LIBDIR)/libringwalk.so.0 yet: run ldconfig" \
			"as root. If no file in /etc/ld.so.conf.d names $(LIBDIR), add one first, or set" \
			"LD_LIBRARY_PATH=$(LIBDIR)."

# Leaves folders that others may use, also if they are empty. Pages and libraries of other versions
# go too.
uninstall: ## remove what install has put below $(DESTDIR)$(PREFIX)
	$(check_places)
	for link in du find; do \
		test "$$(readlink $(TO)/bin/$$link)" != ringwalk || rm $(TO)/bin/$$link || exit 1; \
	done
	rm -f $(addprefix $(DOC)/,$(notdir $(wildcard docs/*.*)) systemd.md) $(TO)/lib/ringwalk/ringwalk-snapshots
	for folder in $(DOC) $(TO)/lib/ringwalk; do \
		test ! -d $$folder || rmdir --ignore-fail-on-non-empty $$folder || exit 1; \
	done
	rm -f $(LIB)/libringwalk.a $(LIB)/libringwalk.so $(LIB)/libringwalk.so.* $(LIB)/pkgconfig/ringwalk.pc
	rm -f $(addprefix $(TO)/,bin/ringwalk include/ringwalk.h \
		lib/systemd/system/ringwalk-snapshots@.service lib/systemd/system/ringwalk-snapshots@.timer \
		share/man/man1/ringwalk.1 share/man/man1/ringwalk-*.1 \
		share/man/man3/ringwalk.3 share/man/man3/ringwalk_*.3 \
		share/bash-completion/completions/ringwalk share/zsh/site-functions/_ringwalk \
		share/fish/vendor_completions.d/ringwalk.fish)
	$(update_linker)

clean: ## remove everything built
	$(CARGO) clean
	rm -rf fuzz/target fuzz/artifacts

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "%-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

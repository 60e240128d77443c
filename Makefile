# Building, testing and installing Ringwalk. `make help` lists the targets.

PREFIX ?= /usr/local
DESTDIR ?=
# Set to 1 to install a link named du (find) as well, which takes GNU's place in the PATH.
DU_LINK ?=
FIND_LINK ?=

CARGO ?= cargo
# Debian's own, which python3-pytest belongs to; another one with pytest does as well.
PYTHON ?= /usr/bin/python3
# Seconds that `make fuzz` runs, all targets together.
FUZZ_SECONDS ?= 20
# By their names in fuzz/fuzz_targets.
FUZZ_TARGETS ?= $(patsubst fuzz/fuzz_targets/%.rs,%,$(wildcard fuzz/fuzz_targets/*.rs))
# More arguments for pytest, such as `-k races`.
PYTEST ?=

# The rust-version of Cargo.toml.
MSRV = $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
HOST = $(shell rustc -vV | sed -n 's/^host: //p')
TARGET_DIR := $(or $(CARGO_TARGET_DIR),target)
TOOLS := $(CURDIR)/target/tools
PROGRAM := $(TARGET_DIR)/release/ringwalk
ASSETS := $(TARGET_DIR)/assets
# The C library: of which profile (tests use that of debug builds), and where it is put together.
CAPI_PROFILE ?= release
CAPI := $(TARGET_DIR)/capi/$(CAPI_PROFILE)
# What Rust's standard library needs of the system: `cargo rustc ... -- --print native-static-libs`.
CAPI_NEEDS := -lgcc_s -lutil -lrt -lpthread -lm -ldl -lc
VERSION = $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)
# The walk by tokio that guests are measured with, a workspace of its own as nobody else needs tokio.
TRAVERSE := kernel/bench/traverse/Cargo.toml
# Workspaces of their own, as they need more of tokio, and a web server: programs of the bench, and an example.
LISTING := bench/listing/Cargo.toml
WEB_EXAMPLE := crates/ringwalk/examples/axum_listing/Cargo.toml
# Directories for tasks in every runtime, in a workspace of its own likewise.
RUNTIMES := tests/runtimes/Cargo.toml
APART := $(TRAVERSE) $(LISTING) $(WEB_EXAMPLE) $(RUNTIMES)
TO = $(DESTDIR)$(PREFIX)

export PATH := $(TOOLS)/bin:$(TOOLS)/python/bin:$(PATH)

.PHONY: build assets capi setup checks test unit sanitize fuzz e2e python kernel fmt lint msrv deny bench \
	install clean help

build: ## build the program, its man pages and completions, and the C library (the default)
	$(CARGO) build --release --locked -p ringwalk-cli
	$(MAKE) --no-print-directory assets capi

assets: ## generate man pages and completions only
	$(CARGO) run --quiet --locked -p xtask -- assets $(ASSETS)

# rustc would link a shared library by a version script of its own, and a linker takes only one; so it makes the static one, from which
# the linker takes what is exported. It stays loaded, as threads of walks may be running in it.
capi: ## build the C library, shared and static
	$(CARGO) rustc --quiet --locked -p ringwalk-capi --lib --crate-type staticlib --profile $(CAPI_PROFILE)
	install -D -m 644 $(TARGET_DIR)/$(CAPI_PROFILE:dev=debug)/libringwalk_capi.a $(CAPI)/libringwalk.a
	$(CC) -shared -o $(CAPI)/libringwalk.so.$(VERSION) -Wl,-soname,libringwalk.so.0 \
		-Wl,--version-script=crates/ringwalk-capi/ringwalk.map \
		-Wl,--whole-archive $(CAPI)/libringwalk.a -Wl,--no-whole-archive -Wl,--gc-sections \
		-Wl,-z,defs,-z,nodelete,-z,relro,-z,now -Wl,--as-needed $(CAPI_NEEDS)
	ln -sf libringwalk.so.$(VERSION) $(CAPI)/libringwalk.so.0
	ln -sf libringwalk.so.0 $(CAPI)/libringwalk.so

setup: ## install what the tests need (Debian packages, cargo-fuzz)
	scripts/setup

checks: ## install what the tests and lint, deny and .ci/run need
	scripts/setup --checks

test: setup unit sanitize fuzz e2e python kernel ## install what is missing and run every test

unit: ## unit, property and documentation tests, and those of the bench
	$(CARGO) test --workspace --locked
	$(CARGO) test --manifest-path $(RUNTIMES) --target-dir $(TARGET_DIR)/runtimes --locked
	$(PYTHON) -m unittest discover -s bench

# Documentation tests stay out: they are built without the sanitizer's flags.
sanitize: ## tests of ringwalk-sys under AddressSanitizer
	RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=address $(CARGO) test --locked -p ringwalk-sys \
		--lib --tests --target $(HOST) --target-dir $(TARGET_DIR)/sanitize

# All are built once; each runs for its share. New inputs go to the first folder; the committed ones are only read.
# Inputs get as long as the longest of these, 4 KiB at least: 64 KiB for images of file systems.
fuzz: setup ## every fuzz target, FUZZ_SECONDS for all together
	@for target in $(FUZZ_TARGETS); do \
		echo "fuzz: $$target"; \
		mkdir -p $(TARGET_DIR)/corpus/$$target && \
		RUSTC_BOOTSTRAP=1 $(CARGO) fuzz run --target $(HOST) $$target \
			$(TARGET_DIR)/corpus/$$target fuzz/corpus/$$target -- \
			-max_total_time=$$(( $(FUZZ_SECONDS) / $(words $(FUZZ_TARGETS)) + 1 )) \
			-verbosity=0 -print_final_stats=1 || exit 1; \
	done

e2e: setup ## end-to-end tests of the debug build (all of them only as root)
	$(CARGO) build --locked -p ringwalk-cli -p xtask
	$(CARGO) build --locked -p ringwalk --features async --example read_dir --example traverse
	$(CARGO) build --locked --manifest-path $(WEB_EXAMPLE) --target-dir $(TARGET_DIR)
	$(MAKE) --no-print-directory capi CAPI_PROFILE=dev
	RINGWALK_CAPI=$${RINGWALK_CAPI:-$(abspath $(TARGET_DIR))/capi/dev} \
	RINGWALK_BIN=$${RINGWALK_BIN:-$(abspath $(TARGET_DIR))/debug/ringwalk} \
		$(PYTHON) -m pytest $(PYTEST) </dev/null

python: setup ## the Python package: its wheel in an environment below target/, and its tests
	PYTHON=$(PYTHON) crates/ringwalk-python/check $(PYTEST)
	free=$$(crates/ringwalk-python/tests/free-threaded) && \
		{ test -z "$$free" || PYTHON=$$free crates/ringwalk-python/check $(PYTEST); }

# The kernels are built, or fetched, once for each change of what they are made of: see kernel/vm/run.
kernel: setup ## the kernel module and patches, in virtual machines (STEPS for some: kernel/check --list)
	$(MAKE) -C kernel check

fmt: ## format Rust and Python
	$(CARGO) fmt --all
	$(CARGO) fmt --manifest-path fuzz/Cargo.toml
	for each in $(APART); do $(CARGO) fmt --manifest-path $$each || exit 1; done
	ruff format tests kernel crates/ringwalk-python

lint: checks ## clippy, rustdoc, ruff and shellcheck
	$(CARGO) fmt --all --check
	$(CARGO) fmt --manifest-path fuzz/Cargo.toml --check
	for each in $(APART); do \
		$(CARGO) fmt --manifest-path $$each --check || exit 1; \
	done
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	for each in $(APART); do \
		$(CARGO) clippy --manifest-path $$each --target-dir $(TARGET_DIR)/traverse --all-targets --locked -- -D warnings || exit 1; \
	done
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --quiet --workspace --no-deps --locked --features ringwalk/async
	ruff check .
	ruff format --check tests kernel crates/ringwalk-python
	shellcheck .ci/run scripts/setup fuzz/ext4-corpus crates/ringwalk-python/check crates/ringwalk-python/tests/free-threaded
	shellcheck -s dash -e SC1007,SC2015,SC2086,SC2126 kernel/vm/guest/init kernel/tests/run

msrv: ## check that the oldest supported toolchain builds everything
	@if rustup run $(MSRV) cargo --version >/dev/null 2>&1 || \
		rustup toolchain install $(MSRV) --profile minimal; then \
		rustup run $(MSRV) cargo check --workspace --all-targets --locked \
			--target-dir $(TARGET_DIR)/msrv; \
	else \
		echo "msrv: SKIPPED: rustup cannot provide Rust $(MSRV)"; \
	fi

# The exception for the fuzzer's runtime is met in its own workspace only.
DENY := --allow license-exception-not-encountered licenses bans sources

# Advisories are left out: they need a database from the network, and would make the same commit
# pass today and fail tomorrow.
deny: checks ## licences, sources and bans of dependencies
	$(CARGO) deny check $(DENY)
	$(CARGO) deny --manifest-path fuzz/Cargo.toml check $(DENY)
	for each in $(APART); do $(CARGO) deny --manifest-path $$each check $(DENY) || exit 1; done

bench: ## measure against the floors and the other tools that are installed
	bench/run $(BENCH)

# Builds only what is not there, so that `sudo make install` after `make` runs no compiler as root.
install: ## install below $(DESTDIR)$(PREFIX); DU_LINK=1, FIND_LINK=1 add links named du, find
	@test -x $(PROGRAM) -a -d $(ASSETS)/man -a -f $(CAPI)/libringwalk.so || $(MAKE) --no-print-directory build
	install -D -m 755 $(PROGRAM) $(TO)/bin/ringwalk
	install -d $(TO)/share/man/man1
	install -m 644 $(ASSETS)/man/*.1 $(TO)/share/man/man1
	install -D -m 644 $(ASSETS)/completions/ringwalk.bash \
		$(TO)/share/bash-completion/completions/ringwalk
	install -D -m 644 $(ASSETS)/completions/_ringwalk $(TO)/share/zsh/site-functions/_ringwalk
	install -D -m 644 $(ASSETS)/completions/ringwalk.fish \
		$(TO)/share/fish/vendor_completions.d/ringwalk.fish
	install -D -m 644 crates/ringwalk-capi/include/ringwalk.h $(TO)/include/ringwalk.h
	install -d $(TO)/lib/pkgconfig
	install -m 644 $(CAPI)/libringwalk.a $(CAPI)/libringwalk.so.$(VERSION) $(TO)/lib
	cp -P $(CAPI)/libringwalk.so.0 $(CAPI)/libringwalk.so $(TO)/lib
	sed 's,@PREFIX@,$(PREFIX),; s,@VERSION@,$(VERSION),; s,@PRIVATE@,$(CAPI_NEEDS),' \
		crates/ringwalk-capi/ringwalk.pc.in >$(CAPI)/ringwalk.pc
	install -m 644 $(CAPI)/ringwalk.pc $(TO)/lib/pkgconfig/ringwalk.pc
ifeq ($(DU_LINK),1)
	ln -sf ringwalk $(TO)/bin/du
endif
ifeq ($(FIND_LINK),1)
	ln -sf ringwalk $(TO)/bin/find
endif

clean: ## remove everything built
	$(CARGO) clean
	rm -rf fuzz/target fuzz/artifacts

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9]+:.*## / { printf "%-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

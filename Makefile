# The front door. meson and ninja do the work; scripts/deps installs what is missing (Debian).
BUILD  ?= build
PREFIX ?= /usr/local
export DESTDIR

.PHONY: all demo test test-cross test-vm bench install clean fuzz check

all: configure
	@ninja -C $(BUILD)

# nothing to do, and under a second, when all is there
.PHONY: configure deps-build
deps-build:
	@scripts/deps build
configure: deps-build
	@scripts/configure $(BUILD) $(PREFIX)

# profile a real program, and look at it: prints the counts and the hottest functions, writes demo.html
demo: all
	@scripts/demo $(BUILD)

# all tests; ends with one line: N passed, N failed, N skipped
test:
	@scripts/deps build test
	@scripts/configure $(BUILD) $(PREFIX)
	@ninja -C $(BUILD)
	@tests/run $(BUILD)

# the same on other machines, as far as their compilers are there: tests/cross/run --help says what
test-cross:
	@scripts/deps build cross
	@tests/cross/run $(TARGETS)

# the live tests on other kernels, in small virtual machines: tests/vm/run --help says which
test-vm:
	@scripts/deps build cross vm
	@tests/vm/run $(GUESTS)

bench: all
	@bench/run $(BUILD)

install: all
	@meson install -C $(BUILD) --no-rebuild

# libFuzzer, SECONDS for each target
SECONDS ?= 60
fuzz:
	@scripts/deps build test
	@tests/fuzz/run $(SECONDS)

clean:
	rm -rf $(BUILD) build-* demo.html demo.data demo.data.old

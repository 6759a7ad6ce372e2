# `make run` starts it, `make test` proves it, `make bench` measures it; `make lint`, `make fuzz`,
# `make sanitize` and `make crash` look deeper. Each installs what it lacks first.
.PHONY: build run test lint fuzz fuzz-build bench bench-inbox screenshots sanitize crash clean help

BUILD := build
CXX := clang++-19
CC := clang-19
# Checkouts in different places share what is compiled without a precompiled header; in one place everything is found again.
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := 1
# What a precompiled header needs; the sources use no times of their own.
export CCACHE_SLOPPINESS := pch_defines,time_macros
# What a source includes is known from compiling it: to preprocess it first as well is a tenth of a cold build.
export CCACHE_DEPEND := 1
export NINJA_STATUS := [%f/%t, %es] 
CMAKE = cmake -S . -G Ninja -DCMAKE_CXX_COMPILER=$(CXX) -DCMAKE_C_COMPILER=$(CC) --log-level=ERROR
SETUP := tools/setup
# Installs these packages, and the inbox's own, while everything is compiled that needs none of them.
MEANWHILE = { $(SETUP) $(1) && tools/web packages; } & ninja -C $(BUILD) $(2); built=$$?; wait $$! && exit $$built
# How long each fuzz target runs, how often the crash test kills.
FUZZ_SECONDS ?= 60
FUZZ_TARGETS ?= json http api cli yaml cel shell match policy webauthn feedback git_message wire text
CRASH_CYCLES ?= 5000

help:
	@sed -n 's/^# //p' Makefile | head -2

build:
	@$(SETUP) build
	@$(CMAKE) -B $(BUILD) -DHOLDPOINT_TESTS=$(if $(wildcard /usr/include/gtest/gtest.h),ON,OFF)
	@$(call MEANWHILE,web,holdpoint_cli cel_conformance)
	@ninja -C $(BUILD) holdpoint cel_conformance

run:
	@$(SETUP) run
	@$(MAKE) --no-print-directory build
	@tools/run

test:
	@$(SETUP) build test
	@$(CMAKE) -B $(BUILD) -DHOLDPOINT_TESTS=ON
	@$(call MEANWHILE,web browser,without_page)
	@ninja -C $(BUILD)
	@AGAIN='$(AGAIN)' CTEST_FLAGS='$(CTEST_FLAGS)' RETRY='$(RETRY)' tools/test $(BUILD)

# The unit and HTTP tests under address+undefined sanitizers; those with threads under thread too.
ASAN_TESTS := base_test core_test yaml_test match_test shell_test cel_test policy_test store_test sqlite_test fault_vfs_test service_test notify_test agent_test feedback_test git_test library_test http_test api_test cli_test
TSAN_TESTS := base_test store_test sqlite_test service_test notify_test agent_test feedback_test git_test library_test http_test api_test
# Instrumented code takes the compiler three times as long to optimise as it saves the tests.
SANITIZE = $(CMAKE) -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS="-O0 -gline-tables-only" -DHOLDPOINT_TESTS=ON -DHOLDPOINT_WEB=OFF
sanitize:
	@$(SETUP) build test san
	@echo "== address, undefined"
	@$(SANITIZE) -B build-asan -DHOLDPOINT_SANITIZE=address,undefined
	@ninja -C build-asan $(ASAN_TESTS)
	@tools/run_tests build-asan $(ASAN_TESTS)
	@echo "== thread"
	@$(SANITIZE) -B build-tsan -DHOLDPOINT_SANITIZE=thread
	@ninja -C build-tsan $(TSAN_TESTS)
	@TSAN_OPTIONS=halt_on_error=1 tools/run_tests build-tsan $(TSAN_TESTS)

lint:
	@$(SETUP) build test lint
	@$(CMAKE) -B build-lint -DHOLDPOINT_TESTS=ON -DHOLDPOINT_PCH=OFF -DHOLDPOINT_WEB=OFF
	@ninja -C build-lint openapi_json
	@tools/lint build-lint

fuzz-build:
	@$(SETUP) build fuzz
	@$(CMAKE) -B build-fuzz -DHOLDPOINT_TESTS=OFF -DHOLDPOINT_WEB=OFF -DHOLDPOINT_FUZZ=ON -DHOLDPOINT_SANITIZE=address,undefined
	@ninja -C build-fuzz $(FUZZ_TARGETS:%=%_fuzz)

fuzz: fuzz-build
	@for target in $(FUZZ_TARGETS); do \
	    mkdir -p build-fuzz/found/$$target; echo "== $$target, $(FUZZ_SECONDS) s"; \
	    build-fuzz/fuzz/$${target}_fuzz -max_total_time=$(FUZZ_SECONDS) -print_final_stats=1 -verbosity=0 \
	        -artifact_prefix=build-fuzz/ build-fuzz/found/$$target fuzz/corpus/$$target || exit 1; \
	done

crash:
	@$(MAKE) --no-print-directory build-crash
	@/usr/bin/python3 tests/crash/crash_test.py --cycles $(CRASH_CYCLES)

.PHONY: build-crash
build-crash:
	@$(SETUP) build web test
	@$(CMAKE) -B $(BUILD) -DHOLDPOINT_TESTS=ON
	@ninja -C $(BUILD) holdpoint holdpoint_crash

bench:
	@$(SETUP) build web bench
	@$(CMAKE) -B $(BUILD) -DHOLDPOINT_BENCH=ON
	@ninja -C $(BUILD) holdpoint load limits bare_http fill micro policy_bench
	@bench/run $(BUILD)

# Pictures of every page, light, dark and on a phone, in build/screenshots; those of the documents are renewed.
screenshots:
	@$(MAKE) --no-print-directory build
	@$(SETUP) shots
	@HOLDPOINT_BIN=$(CURDIR)/$(BUILD)/holdpoint HOLDPOINT_WEB_URL=server tools/with_node node tests/browser/screenshots.mjs $(BUILD)/screenshots
	@tools/shrink_images $(BUILD)/screenshots docs/images

# Lighthouse on every page, and key presses with 10,000 waiting; writes bench/INBOX.md.
bench-inbox:
	@$(MAKE) --no-print-directory build
	@$(SETUP) shots
	@cd bench/inbox && { cmp -s package-lock.json node_modules/.lock || \
	    { ../../tools/with_node npm ci --no-audit --no-fund --loglevel=error && cp package-lock.json node_modules/.lock; }; }
	@HOLDPOINT_BIN=$(CURDIR)/$(BUILD)/holdpoint tools/with_node node bench/inbox/measure.mjs bench/INBOX.md

clean:
	rm -rf build build-*

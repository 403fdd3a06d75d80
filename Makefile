# The doors to everything; see "make". Work is done by scripts/, CMake presets and ctest.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help demo trial try test bench plots report test-asan test-tsan test-upstream \
  test-distributed crash crash-raw-wal matrix soak fuzz check-make check-alone shared jar deb tidy \
  tables clang-tidy docs format check-format clean

help:
	@echo 'make demo           each plugin in turn with stock RocksDB: a table and a page, in under 6'
	@echo '                    minutes after the build'
	@echo 'make trial          tries PRESET=wal-only, nvme+hdd or cache-only against what rocktier'
	@echo '                    doctor foretells'
	@echo 'make test           builds everything and runs the tests; ARGS="-R regex": some of them'
	@echo 'make bench          runs the benchmarks; NAME=plugin: one; QUICK=1: small; CHECK=1: fails'
	@echo '                    if a gate is missed; ARGS=--publish: keeps the results in the tree;'
	@echo '                    ARGS=...: further arguments of run.py'
	@echo 'make plots          draws the results'
	@echo 'make report         makes a page of the results in the tree, with each gate'
	@echo 'make tables         writes the tables and plots of the documents anew from these results'
	@echo
	@echo 'make test-asan      the tests under AddressSanitizer and UndefinedBehaviorSanitizer'
	@echo 'make test-tsan      the tests under ThreadSanitizer'
	@echo "make test-upstream  RocksDB's own tests over the plugins"
	@echo 'make crash          kills and reopens for SECONDS=300 per test'
	@echo 'make crash-raw-wal  kills a writer of raw_wal_fs ROUNDS=10000 times'
	@echo 'make matrix         stacks of plugins, killed and reopened for SECONDS=120 each;'
	@echo '                    results/matrix.jsonl has what ran; ARGS="--only regex": some of them'
	@echo 'make test-distributed'
	@echo '                    three nodes of RheaKV, killed in ROUNDS=20 rounds for each way to make'
	@echo '                    snapshots; results/distributed.jsonl has what ran'
	@echo 'make soak           all tests of kills, power losses and mistakes in turn, for HOURS=8;'
	@echo '                    results/soak/ has what ran'
	@echo 'make fuzz           runs the fuzzers of all formats for SECONDS=60 each; needs clang'
	@echo "make check-make     builds with RocksDB's own Makefile"
	@echo 'make check-alone    builds each plugin without the others'
	@echo 'make shared         librocktier.so and rocktier for rocksdbjni, or LIBRARY=/path;'
	@echo '                    PLUGINS="a b": these'
	@echo 'make try            all plugins in Java with it, in minutes'
	@echo 'make jar            a jar with it'
	@echo "make deb            Debian 13's packages of it and of the tool; needs root"
	@echo 'make tidy           checks sources and documents, in seconds'
	@echo 'make docs           makes the documents a site, and prints where it is'
	@echo 'make clang-tidy     looks for mistakes in plugin/ and tools/: minutes for a plugin;'
	@echo '                    FILES="a.cc b.cc": these ones'
	@echo 'make format         formats the sources (clang-format); check-format: only checks them'
	@echo 'make clean          removes what this clone has built'
	@echo
	@echo 'ROCKSDB_VERSION=11.8.1 this version of RocksDB in the place of 9.10.0; needs cargo'
	@echo 'ROCKSDB_SRC=/path      or a RocksDB tree of yours'
	@echo 'ROCKTIER_CACHE=/path   the folder for downloads and builds (~/.cache/rocktier)'
	@echo 'ROCKTIER_NO_INSTALL=1  checks for missing packages only'

demo:
	dir=$$(scripts/build release) && python3 test/bench/run.py --bin "$$dir/bin" --demo $(ARGS)

trial:
	dir=$$(scripts/build release db_bench rocktier) && python3 test/bench/trial.py \
	  --bin "$$dir/bin" --preset $(PRESET) $(ARGS)

test:
	scripts/test checked -- $(ARGS)

bench:
	dir=$$(scripts/build release) && python3 test/bench/run.py --bin "$$dir/bin" \
	  $(if $(NAME),--name $(NAME)) $(if $(QUICK),--quick) $(if $(CHECK),--check) $(ARGS)

plots:
	scripts/setup && python3 test/bench/plots.py

report:
	scripts/setup && python3 test/bench/report.py

test-asan:
	scripts/test asan -- $(ARGS)

test-tsan:
	scripts/test tsan -- $(ARGS)

test-upstream:
	scripts/test --long checked -- -L upstream $(ARGS)

SECONDS ?= 300
crash:
	ROCKTIER_CRASH_SECONDS=$(SECONDS) scripts/test --long checked -- -L crash $(ARGS)

ROUNDS ?= 10000
crash-raw-wal:
	ROCKTIER_CRASH_ROUNDS=$(ROUNDS) scripts/test checked -- -R crash_raw_wal $(ARGS)

matrix: SECONDS = 120
matrix:
	dir=$$(scripts/build checked) && python3 test/crash/matrix/matrix.py --build "$$dir" \
	  --scratch "$$dir/scratch/matrix" --results results/matrix.jsonl --seconds $(SECONDS) $(ARGS)

test-distributed: ROUNDS = 20
test-distributed:
	scratch=$$(mktemp -d) && python3 test/distributed/rounds.py --rounds $(ROUNDS) \
	  --scratch "$$scratch" --results results/distributed.jsonl $(ARGS) && rm -r "$$scratch"

HOURS ?= 8
soak:
	dir=$$(scripts/build checked all rocktier_long) && scripts/with-scratch "$$dir/scratch" \
	  python3 test/crash/soak.py --build "$$dir" --hours $(HOURS) $(ARGS)

fuzz: SECONDS = 60
fuzz:
	scripts/fuzz $(SECONDS) $(ARGS)

check-make:
	scripts/check-make

check-alone:
	scripts/check-alone

deb:
	scripts/deb

shared:
	ROCKTIER_TOOL=ON scripts/shared $(if $(LIBRARY),"$(LIBRARY)",$(if $(PLUGINS),"")) $(PLUGINS)

try:
	examples/java/run

jar:
	scripts/jar

tables:
	python3 test/bench/tables.py

tidy:
	python3 test/tidy/tidy.py $(ARGS)

docs:
	scripts/setup && scripts/docs

clang-tidy:
	scripts/clang-tidy $(FILES)

format:
	git ls-files '*.h' '*.cc' | xargs scripts/clang-format -i

check-format:
	git ls-files '*.h' '*.cc' | xargs scripts/clang-format --dry-run --Werror

clean:
	. scripts/env && rm -rf "$$builds"

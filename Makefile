# SPDX-License-Identifier: GPL-2.0
KVER ?= $(shell uname -r)
# Headers that scripts/setup has unpacked; those of Debian 13 in a file system of its own, as
# their build tools need its C library and compiler.
HEADERS := build/headers/usr/src/linux-headers-
ROOT := build/debian13
ROOT_HEADERS := $(ROOT)/usr/src/linux-headers-
KDIR ?= $(firstword $(wildcard $(addprefix $(CURDIR)/,$(HEADERS)$(KVER) $(ROOT_HEADERS)$(KVER))) \
	/lib/modules/$(KVER)/build)
W ?= 1
OUT := build/$(KVER)
PYTHON := build/venv/bin/python
FLAVOURS = $(sort $(patsubst /lib/modules/%/build/,%,$(wildcard /lib/modules/*/build/)) \
	$(patsubst $(HEADERS)%/Module.symvers,%,$(wildcard $(HEADERS)*/Module.symvers)) \
	$(patsubst $(ROOT_HEADERS)%/Module.symvers,%,$(wildcard $(ROOT_HEADERS)*/Module.symvers)))

# The kernel's build writes beside the sources, so it is given links to them, $(1), in a
# directory of its own, $(2). An object whose source is gone goes with it.
define links
@mkdir -p $(2)
@cp -rsf $(addprefix $(CURDIR)/,$(1)) $(2)/
@find $(2) -xtype l -exec sh -c 'for f; do rm -f "$$f" "$${f%.*}.o"; done' sh {} +
endef
# Another machine's kernel is built for by a cross compiler.
MACHINE := $(lastword $(subst -, ,$(KVER)))
CROSS = $(if $(filter arm64,$(MACHINE)),$(if $(filter aarch64,$(shell uname -m)),,\
	CROSS_COMPILE=aarch64-linux-gnu-))
# Sparse of Debian 13 does not understand all headers of its kernels: it is not in its root.
kernel_make = $(if $(filter $(CURDIR)/$(ROOT)/%,$(KDIR)),\
	scripts/in-root $(ROOT) make -C $(KDIR:$(CURDIR)/$(ROOT)%=%) C=0,$(MAKE) -C $(KDIR))
kbuild = $(kernel_make) --no-print-directory $(CROSS) M=$(CURDIR)/$(1) W=$(W)

.PHONY: all private-types simdisk paper modules_install matrix style setup demo lab bench test test-debug \
	test-kernels test-debian13 test-packages htbsctl deb docs soak fuzz fuzz-writes test-host test-mutants conformance census tenants clean help

all: private-types
	$(call links,Kbuild htbs include sysfs,$(OUT))
	@+$(call kbuild,$(OUT)) modules

private-types:
	@scripts/private-types $(KVER) $(OUT)/include/generated/htbs-private.h \
		--headers $(KDIR) $(if $(VMLINUZ),--image $(VMLINUZ))

simdisk: private-types
	$(call links,tests/simdisk/.,build/simdisk/$(KVER))
	@+$(call kbuild,build/simdisk/$(KVER)) modules
	@cp build/simdisk/$(KVER)/simdisk.ko $(OUT)/

# The baseline of the experiments: the same elevator with the rule of the paper.
paper: private-types
	$(call links,htbs include sysfs tests/paper/.,build/paper/$(KVER))
	@mkdir -p build/paper/$(KVER)/include/generated
	@cp $(OUT)/include/generated/htbs-private.h build/paper/$(KVER)/include/generated/
	@+$(call kbuild,build/paper/$(KVER)) modules
	@cp build/paper/$(KVER)/htbs-paper.ko $(OUT)/

# Header packages hold no key to sign with, and no System.map, without which depmod is left out.
modules_install: all
	@+$(call kbuild,$(OUT)) CONFIG_MODULE_SIG_ALL= modules_install
	@PATH=$$PATH:/sbin:/usr/sbin depmod $(if $(INSTALL_MOD_PATH),-b $(INSTALL_MOD_PATH)) $(KVER)

# A tree with a warning is removed, so that the warning comes again.
matrix:
	@test -n "$(FLAVOURS)" || { echo "htbs: no kernel headers: run scripts/setup" >&2; exit 1; }
	@mkdir -p build
	@for kver in $(FLAVOURS); do \
		echo "== $$kver"; log=build/$$kver.log; \
		if ! $(MAKE) -j$$(nproc) --no-print-directory KVER=$$kver W=1 C=2 all simdisk paper \
			>$$log 2>&1; then cat $$log; \
		elif ! grep -E 'warning:|error:' $$log; then continue; fi; \
		rm -rf build/$$kver build/simdisk/$$kver build/paper/$$kver; exit 1; \
	done

style:
	@scripts/check-style

setup:
	@scripts/setup

demo: setup
	@$(PYTHON) -m results.demo

# LIST and PAGE boot no guest.
lab: setup
	@$(PYTHON) -m results.lab $(if $(LIST),--list) $(if $(PAGE),--page)

bench: setup
	@$(PYTHON) -m results.bench $(if $(PROFILE),--profile $(PROFILE))

test: setup
	@$(MAKE) --no-print-directory deb
	@$(PYTHON) -m pytest -n auto --dist loadscope -m 'not guest and not packages' tests
	@$(PYTHON) -m pytest -m 'guest and not packages' tests

# What needs neither a kernel nor its headers. That the mistakes' tests exist needs the guests'.
test-host:
	@scripts/setup host
	@$(PYTHON) -m pytest -n auto -m 'not guest' --hypothesis-profile=quick tests/fuzz tests/htbsctl tests/sim \
		tests/unit
	@$(PYTHON) -m pytest tests/mutants -k 'not all_name_a_test'

test-debug: CONFIG ?= debug
test-debug:
	@scripts/setup debug
	@$(PYTHON) -m pytest tests/faults tests/vm --kernels=$(CONFIG)

test-kernels:
	@scripts/setup kernels
	@$(PYTHON) -m tests.kernels $(KERNELS)

test-debian13: setup
	@tests/kernels/debian13.sh

test-packages:
	@scripts/setup kernels
	@$(PYTHON) -m pytest -m packages tests/packages

soak: SEED ?= $(shell date +%s)
soak: setup
	@$(PYTHON) -m tests.faults --seed $(SEED) $(if $(MINUTES),--minutes $(MINUTES)) \
		$(if $(KERNELS),--kernels $(KERNELS)) $(if $(ROWS),--rows $(ROWS))

fuzz: MINUTES ?= 5
fuzz:
	@scripts/setup host
	@$(PYTHON) -m tests.fuzz.fuzz --minutes $(MINUTES)
	@$(PYTHON) -m tests.fuzz.properties --minutes $(MINUTES)

fuzz-writes: setup
	@$(PYTHON) -m tests.vm.writes $(if $(COUNT),--count $(COUNT)) \
		$(if $(SEED),--seed $(SEED)) $(if $(KERNEL),--kernel $(KERNEL))

test-mutants:
	@scripts/setup debug
	@$(PYTHON) -m tests.mutants.run $(MUTANTS)

conformance: SEED ?= 1
conformance: setup
	@$(PYTHON) -m tests.vm.conformance --seed $(SEED) \
		$(if $(KERNEL),--kernel $(KERNEL)) $(if $(CLOCK),--clock $(CLOCK))

census: SEED ?= 1
census: DRIVES ?= 30
census:
	@scripts/setup $(if $(GUEST),,host)
	@$(PYTHON) -m $(if $(GUEST),results,tests.sim).census --drives $(DRIVES) --seed $(SEED) \
		$(if $(FLASH),--flash) $(if $(LIST),--list) $(if $(PAGE),--page)

tenants: SEED ?= 1
tenants: SETS ?= 600
tenants:
	@scripts/setup host
	@$(PYTHON) -m tests.sim.tenants --sets $(SETS) --seed $(SEED) $(if $(FLASH),--flash)

clean:
	rm -rf $(patsubst %,build/%,$(FLAVOURS)) build/simdisk build/paper build/*.log

htbsctl:
	@mkdir -p build
	@scripts/archive-htbsctl build/htbsctl

docs:
	@scripts/setup host
	@scripts/man-pages build/docs
	@for page in build/docs/*.[458]; do man --warnings -l $$page >/dev/null || exit 1; done
	@$(PYTHON) scripts/web-pages build/docs/html
	@echo build/docs/*.[458] build/docs/html/README.html

# Of the files that git tracks, as they are here.
deb:
	@scripts/setup deb
	@rm -rf build/deb
	@mkdir -p build/deb/htbs
	@git ls-files -z | xargs -0 cp -a --parents -t build/deb/htbs
	@cd build/deb/htbs && dpkg-buildpackage -b -us -uc >../build.log 2>&1 || \
		{ cat ../build.log; exit 1; }
	@lintian --fail-on error,warning build/deb/*.changes
	@ls build/deb/*.deb

help:
	@echo 'make                     build htbs.ko for the running kernel, in build/<kernel>/'
	@echo 'make KVER=<kernel>       build it for another kernel whose headers are installed'
	@echo 'make VMLINUZ=<file>      take the kernel'"'"'s types from this vmlinuz or vmlinux'
	@echo 'make modules_install     install it for that kernel (as root)'
	@echo 'make simdisk             build the simulated disk for the guest'
	@echo 'make paper               build the scheduler with the rule of the paper, to compare'
	@echo 'make demo                install what is missing, run the demonstration'
	@echo 'make bench               measure what scheduling costs the CPU; PROFILE=list, PROFILE=CASE:'
	@echo '                         where the instructions of a case go'
	@echo 'make lab                 run the experiments that have no raw data in build/results/'
	@echo 'make lab EXPERIMENT=x    run one of them; LAB_SECONDS=2 for a short trial in build/lab/'
	@echo 'make lab LIST=1          which raw data are there; PAGE=1: write page and figures of'
	@echo '                         results/ from the summary'
	@echo 'make test                install what is missing, run all tests'
	@echo 'make test-host           the tests that need no kernel, nor fetch one'
	@echo 'make test-debug          run functional tests and fault matrix on a debug kernel;'
	@echo '                         CONFIG=debug|kcsan|rt|debug-7.3'
	@echo 'make test-kernels        build for all kernels, boot them, write the table in docs/testing.md;'
	@echo '                         KERNELS="7.3 6.12-rt-amd64 ..." some of them'
	@echo 'make test-debian13       a fresh Debian 13 builds it, and passes the tests on the host'
	@echo 'make htbsctl             pack the tool for operators in build/htbsctl'
	@echo 'make docs                write man pages, bash completion and the documents as HTML in build/docs'
	@echo 'make deb                 build the packages htbs-dkms and htbs-tools in build/deb'
	@echo 'make test-packages       the packages in guests with Debian 12 and 13, from install to removal'
	@echo 'make soak MINUTES=<n>    run rows of the fault matrix at random for so long; SEED=<n>,'
	@echo '                         KERNELS="6.1 6.12 7.3 debug kcsan rt", ROWS="switch unload ..."'
	@echo 'make fuzz MINUTES=<n>    fuzz each pure part of the scheduler for so long, and run the'
	@echo '                         tests by hypothesis as long with examples of their own'
	@echo 'make fuzz-writes         a million random writes to the control files, in a guest;'
	@echo '                         COUNT=<n>, SEED=<n>, KERNEL=6.1|6.12|7.3'
	@echo 'make test-mutants        make deliberate mistakes and show that each is caught;'
	@echo '                         MUTANTS="<name> ..." some of them, MUTANTS=--host those on the host'
	@echo 'make conformance SEED=<n>'
	@echo '                         record random I/O in a guest and replay it by the core on the'
	@echo '                         host; CLOCK=virtual|real, KERNEL=6.1|6.12|7.3'
	@echo 'make census SEED=<n>     drives drawn at random, in the simulation; DRIVES=<n>, FLASH=1'
	@echo 'make tenants SEED=<n>    random groups and neighbours on them; SETS=<n>, FLASH=1'
	@echo 'make census GUEST=1      the same in guests, beside other schedulers; writes'
	@echo '                         results/census.md; SEED=<n>, DRIVES=<n>'
	@echo 'make matrix              build for every kernel whose headers are installed'
	@echo 'make style               checkpatch, sparse and ruff'
	@echo 'make setup               install what is missing'
	@echo 'make clean               remove what was built'

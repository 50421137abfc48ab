# pt2utils. `make help` lists the targets. V=1 shows commands, O=dir builds elsewhere, SAN=address,undefined sanitizes,
# CC=clang compiles with another compiler, WERROR=-Werror stops at a warning (developers and .ci/run: export WERROR=-Werror).

VERSION  := $(shell sed -n '/^[0-9]/{s/ .*//;p;q}' NEWS)
O        ?= build
CC       ?= cc
prefix   ?= /usr/local
bindir   ?= $(prefix)/bin
libdir   ?= $(prefix)/lib/pt2utils
mandir   ?= $(prefix)/share/man
docdir   ?= $(prefix)/share/doc/pt2utils
bashdir  ?= $(prefix)/share/bash-completion/completions
zshdir   ?= $(prefix)/share/zsh/site-functions
fishdir  ?= $(prefix)/share/fish/vendor_completions.d
WERROR   ?=
OPT      ?= $(if $(SAN),-O1,-O2)

ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(V),1)
Q :=
else
Q := @
endif

TOOLS    := $(sort $(patsubst cmd/%/main.c,%,$(wildcard cmd/*/main.c)))
PKGS     := zlib libmd libdeflate libelf libdw libseccomp

# Asked for only when something is compiled, and once: `make demo` and `make check` install the packages first.
pkg_cflags = $(eval pkg_cflags := $(shell pkg-config --cflags $(PKGS)))$(pkg_cflags)
pkg_libs   = $(eval pkg_libs := -Wl,--as-needed $(shell pkg-config --libs $(PKGS)) -ldl)$(pkg_libs)

CFLAGS   ?= $(OPT) $(if $(SAN),-g1,-g)
own_cflags = -std=gnu17 -D_GNU_SOURCE -DPT2_VERSION='"$(VERSION)"' -DPT2_ARCH_$(ARCH) -Wall -Wextra $(WERROR) -Wshadow -Wstrict-prototypes \
	     -Wmissing-prototypes -Wno-missing-field-initializers -Wpointer-arith -fno-common -pthread -MMD -MP $(CPPFLAGS) $(CFLAGS) $(san)
all_cflags = $(own_cflags) $(pkg_cflags)
ifneq ($(SAN),)
san      := -fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer
endif

# NAME_x86_64.c and NAME_aarch64.c are for that processor alone, NAME_portable.c in its place for all others; ARCH=portable tries these anywhere.
machines := x86_64 aarch64
ifndef ARCH
ARCH     := $(or $(filter $(machines),$(firstword $(subst -, ,$(shell $(CC) -dumpmachine 2>/dev/null)))),portable)
endif
own       = $(filter %_$(ARCH).c,$(filter-out %_portable.c,$(wildcard $(1))))
files     = $(filter-out $(foreach m,$(filter-out $(ARCH),$(machines)),%_$(m).c) $(patsubst %_$(ARCH).c,%_portable.c,$(call own,$(1))),$(wildcard $(1)))
objects   = $(patsubst %.c,$(O)/%.o,$(call files,$(1)))

# The folder is the link rule: core goes into any process, cli into programs, a folder of a tool's folder is for that tool and the tests.
core_obj := $(call objects,libcommon/core/*/*.c libcommon/core/*/*/*.c)
cli_obj  := $(call objects,libcommon/cli/*/*.c libcommon/cli/*/*/*.c) $(O)/share.o
room_obj := $(call objects,cmd/*/*/*.c)
core     := -Ilibcommon/core
cli      := $(core) -Ilibcommon/cli
libs     := $(O)/libpt2cli.a $(O)/libpt2core.a
bins     := $(TOOLS:%=$(O)/bin/%)
comps    := $(TOOLS:%=$(O)/completions/%.bash) $(TOOLS:%=$(O)/completions/%.zsh) $(TOOLS:%=$(O)/completions/%.fish)
share    := $(filter-out %/__pycache__,$(sort $(wildcard share/report/* share/dir/* share/diff/* share/page/* share/printer/* share/verify/* share/ranks/* share/provenance/* share/fxminify/* share/breaks/* share/explain/* share/jit/* share/zygote/* share/ops/* share/mend/* share/runs/* share/serve/* share/patterns/* share/known/*)))

probe    := $(O)/lib/pt2utils/libpt2probe.so
heap     := $(O)/lib/pt2utils/libpt2alloc.so
shim     := $(O)/lib/pt2utils/libpt2shim.so
runner   := $(O)/lib/pt2utils/pt2-runner

.PHONY: FORCE looked plain-guests all demo check check-core tests-core check-only check-long check-lag check-live gpu-kit check-gpu check-aarch64 check-cluster track track-diff bench fuzz fuzz-weekly fuzz-tools lint coverage-ops help clean tests
.DELETE_ON_ERROR:
.SECONDARY:

all: $(bins) $(comps) $(probe) $(heap) $(shim) $(runner) $(O)/patterns.checked  ## build the tools

help:                           ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1	/p' Makefile packaging/packaging.mk | expand -t 16

# ---- compile ----

# The build records its flags and its list of files: other flags compile again, a deleted source leaves the program. Whether a warning is an
# error (WERROR) changes no object. `make -n` compares and writes nothing.
flags    = $(CC) $(filter-out $(WERROR),$(own_cflags)) $(LDFLAGS) $(PKGS)
sources  = $(call files,libcommon/*/*/*.c libcommon/*/*/*/*.c cmd/*/*.c cmd/*/*/*.c libprobe/*.c libprobe/heap/*.c libshim/*.c libshim/run/*.c) $(share)
dry      = $(findstring n,$(filter-out --%,$(firstword -$(MAKEFLAGS))))
changed  = $(if $(findstring <$(strip $($(1)))>,<$(strip $(file <$(O)/$(1)))>),,FORCE)
record   = $(if $(dry),,$(shell mkdir -p $(@D))$(file >$@,$($(@F)))@:)
$(O)/flags: $(if $(call changed,flags),looked)
	$(record)
# Is there what it needs? Asked before the first file. Who names the libraries (pkg_libs=...) needs no pkg-config.
looked:
	$(if $(filter command% environment%,$(origin pkg_libs)),,@CC='$(CC)' scripts/install-deps --look build)
$(O)/sources: $(call changed,sources)
	$(record)
FORCE:

$(O)/libcommon/core/%.o: private all_cflags += $(core) -fPIC -fvisibility=hidden
$(O)/libcommon/cli/%.o: private all_cflags += $(cli)
# The model's exceptions go through its frames, also where CFLAGS (a wheel's) leave out unwind tables.
$(O)/libcommon/cli/model/binprobe/%.o: private all_cflags += -fexceptions
$(O)/libcommon/%.o: libcommon/%.c $(O)/flags
	@mkdir -p $(@D)
	@$(if $(Q),echo "  CC      $<")
	$(Q)$(CC) $(all_cflags) -c $< -o $@

$(O)/cmd/%.o: cmd/%.c $(O)/flags
	@mkdir -p $(@D)
	@$(if $(Q),echo "  CC      $<")
	$(Q)$(CC) $(all_cflags) $(cli) -Icmd/$(firstword $(subst /, ,$*)) -c $< -o $@

# Page parts of share/ become part of the programs. Programs that want few of them have those alone: theirs is found before the library's.
few              := aoti-printer aoti-verify fxminify
few_aoti-printer := share/page/% share/printer/% share/jit/%
few_aoti-verify  := share/page/% share/printer/diff.html share/printer/diff.css share/verify/% share/ops/%
few_fxminify     := share/fxminify/% share/zygote/% share/jit/after_import.py
shares           := $(O)/share.o $(few:%=$(O)/share-%.o)
$(shares:%.o=%.c): $(share) scripts/embed $(O)/sources
	@mkdir -p $(@D)
	$(Q)scripts/embed $(filter $(or $(few_$(patsubst share-%.c,%,$(@F))),%),$(share)) > $@

$(shares): %.o: %.c $(O)/flags
	$(Q)$(CC) $(all_cflags) $(cli) -c $< -o $@

$(O)/libpt2core.a: $(core_obj)
$(O)/libpt2cli.a: $(cli_obj)
$(O)/libpt2rooms.a: $(room_obj)
# Rooms of which tlparse has nothing: it is linked without them, so that `make demo` compiles half as much.
no_tlparse       := core/aten core/model/check core/model/doctor core/run/textlog core/tensor/weights core/watch cli/aten cli/graph/repro cli/model/binprobe cli/watch
libs_tlparse     := $(O)/libpt2tlparse.a
$(libs_tlparse): $(filter-out $(foreach r,$(no_tlparse),$(O)/libcommon/$(r)/%),$(cli_obj) $(core_obj))
$(O)/%.a: $(O)/sources
	@$(if $(Q),echo "  AR      $@")
	$(Q)rm -f $@ && $(AR) rcs $@ $(filter %.o,$^)

define tool_rule
$(O)/bin/$(1): $$(call objects,cmd/$(1)/*.c cmd/$(1)/*/*.c) $(if $(few_$(1)),$(O)/share-$(1).o) $(or $(libs_$(1)),$(libs))
endef
$(foreach t,$(TOOLS),$(eval $(call tool_rule,$(t))))

$(O)/bin/%: $(O)/sources
	@mkdir -p $(@D)
	@$(if $(Q),echo "  LD      $@")
	$(Q)$(CC) $(CFLAGS) $(san) -pthread $(LDFLAGS) $(filter %.o %.a,$^) -o $@ $(pkg_libs) -lm

define completion_rule
$(O)/completions/%.$(1): $(O)/bin/%
	@mkdir -p $$(@D)
	$$(Q)$$< --completion=$(1) > $$@
endef
$(foreach s,bash zsh fish,$(eval $(call completion_rule,$(s))))

# A pattern that is malformed is found when it is built, not in every run of fxexplain.
$(O)/patterns.checked: $(O)/bin/fxexplain $(O)/share.c
	$(Q)echo 'Segmentation fault' | $< - >/dev/null
	$(Q)touch $@

# What lives in other people's processes is never sanitized: their runtimes want to be first. tests/tests.mk adds its own.
# PLAIN=dir: it is in this build, which is made so by the same compiler.
PLAIN    ?= $(O)/plain
guests   := $(probe) $(heap) $(shim) $(runner)
include tests/tests.mk
ifneq ($(SAN),)
$(guests): $(O)/%: plain-guests
	@mkdir -p $(@D)
	$(Q)cp $(PLAIN)/$* $@
plain-guests:
	$(Q)$(MAKE) -s --no-print-directory SAN= O=$(PLAIN) $(guests:$(O)/%=$(PLAIN)/%)
else
$(O)/libprobe/%.o: libprobe/%.c $(O)/flags
	@mkdir -p $(@D)
	@$(if $(Q),echo "  CC      $<")
	$(Q)$(CC) $(all_cflags) $(core) -fPIC -fvisibility=hidden -fexceptions -ftls-model=initial-exec -c $< -o $@

$(O)/libprobe/cuda_scan.o: libprobe/scan.ptx
$(probe): $(call objects,libprobe/*.c) $(O)/libpt2core.a libprobe/exports.map $(O)/sources
	@mkdir -p $(@D)
	@$(if $(Q),echo "  LD      $@")
	$(Q)$(CC) $(CFLAGS) -pthread -shared $(LDFLAGS) -Wl,--version-script=libprobe/exports.map -Wl,-z,defs -Wl,-z,now \
		-Wl,--as-needed -Wl,-soname,$(@F) $(filter %.o %.a,$^) -o $@ -ldl

# Alone: whatever it called for memory would call it.
$(heap): $(call objects,libprobe/heap/*.c) libprobe/heap/exports.map $(O)/sources
	@mkdir -p $(@D)
	@$(if $(Q),echo "  LD      $@")
	$(Q)$(CC) $(CFLAGS) -pthread -shared $(LDFLAGS) -Wl,--version-script=libprobe/heap/exports.map -Wl,-z,defs -Wl,-z,now \
		-Wl,--as-needed -Wl,-soname,$(@F) $(filter %.o,$^) -o $@ -ldl -lgcc_s

$(O)/libshim/run/%.o: private all_cflags += $(cli)
# Its operators are called by the model with the signatures of torch's C++ header: no prototypes to include.
$(O)/libshim/%.o: libshim/%.c $(O)/flags
	@mkdir -p $(@D)
	@$(if $(Q),echo "  CC      $<")
	$(Q)$(CC) $(all_cflags) $(core) -Wno-missing-prototypes -fPIC -fexceptions -c $< -o $@

$(shim): $(call objects,libshim/*.c) $(O)/libpt2core.a libshim/exports.map $(O)/sources
	@mkdir -p $(@D)
	@$(if $(Q),echo "  LD      $@")
	$(Q)$(CC) $(CFLAGS) -pthread -shared $(LDFLAGS) -Wl,--version-script=libshim/exports.map -Wl,-z,defs \
		-Wl,--as-needed -Wl,-soname,libtorch_cpu.so $(filter %.o %.a,$^) -o $@ -lm -ldl

# The model finds its proxy executor's function here before it finds libtorch's.
$(runner): $(call objects,libshim/run/*.c) $(libs) libshim/run/exports.list $(O)/sources
	@mkdir -p $(@D)
	@$(if $(Q),echo "  LD      $@")
	$(Q)$(CC) $(CFLAGS) -pthread $(LDFLAGS) -Wl,--dynamic-list=libshim/run/exports.list $(filter %.o %.a,$^) -o $@ $(pkg_libs) -lm
endif

# ---- run ----

all_cpus  = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))

demo:                           ## install what is missing, build tlparse, make a report of a real trace with it
	@scripts/install-deps build
	@$(MAKE) --no-print-directory $(all_cpus) $(O)/bin/tlparse
	@scripts/demo $(O)

# With what the tests need, all of them are built; else what needs a C compiler alone.
ifneq ($(filter tests-core,$(MAKECMDGOALS)),)
whole    := $(shell pkg-config --exists cmocka jansson && command -v $(CXX) >/dev/null && command -v python3)
tests-core: $(if $(whole),tests,all $(fuzzers) $(inject) $(filter-out $(cuda),$(guests)))
endif

check-core:                     ## run the tests that need no more packages than the build does (or is here already); says what it leaves out
	@scripts/install-deps build
	@$(MAKE) --no-print-directory $(all_cpus) tests-core
	@scripts/run-tests --core $(O)

check:                          ## install what the tests need (says how much before), build, run all tests
	@scripts/install-deps check
	@$(MAKE) --no-print-directory $(all_cpus) check-only

tests: all $(units) $(fuzzers) $(inject) $(lag) $(failcall) $(guests)  ## build everything the tests run

check-only: tests               ## run all tests without installing anything
	@scripts/run-tests $(O)

check-long: tests               ## what make check takes samples of, whole: every failing write, call of the kernel and allocation of every tool, 500 signals, every artifact in a browser
	@PT2_LONG=1 scripts/run-tests $(O) $$(grep -l 'PT2_LONG' tests/cli/*.t)

check-lag: tests                ## every test as on a busy machine: one in five programs starts up to LAG milliseconds late (300); finds tests that do not wait
	@LAG=$${LAG:-300} JOBS=$${JOBS:-14} scripts/run-tests $(O) tests/cli/*.t

check-live: tests               ## hold the tools against real torch, in a virtual environment of its own (or $PT2_PYTHON)
	@scripts/live-venv $(O) >/dev/null || true
	@scripts/run-tests $(O) tests/live/*.t

gpu-kit: all                    ## everything that an acceptance run on a GPU needs, in a folder for another machine: build/gpu-kit (scripts/gpu-kit)
	@scripts/gpu-kit $(O) $(O)/gpu-kit

check-gpu: gpu-kit              ## the acceptance run with an NVIDIA GPU and torch for CUDA ($PT2_PYTHON), under five minutes; table and outputs in $OUT (scripts/gpu-accept)
	@scripts/gpu-accept $(O)/gpu-kit $(O)/gpu-accept; rc=$$?; [ $$rc -eq 77 ] || exit $$rc

check-aarch64:                  ## build for AArch64 with Debian's cross compiler and try it under qemu (packaging/aarch64.sh)
	@scripts/check-aarch64

check-cluster: all              ## fxminify and pt2 gather on other machines: ssh, a Slurm of one and two nodes, Ray ($PT2_RAY) (as root; with real torch)
	@scripts/install-deps cluster
	@scripts/live-venv $(O) >/dev/null || true
	@scripts/run-tests $(O) tests/cluster/*.t

track: all                      ## a new torch against the last one known, several GB: make track TORCH=2.16.0 LAST=2.15.0 [OPTIONS=--few TRACK_DIR=dir]
	@BUILD=$(O) scripts/track $(OPTIONS) $(TORCH) $(LAST)

track-diff:                     ## what changed since the run of make track before, or from another release: make track-diff TORCH=2.16.0 [LAST=2.15.0]
	@BUILD=$(O) scripts/track --diff $(TORCH) $(LAST)

bench: all $(guests) $(O)/tests-lib/floor ## measure speed and memory, also the Rust tlparse's; tables into docs/dev/BENCHMARKS.md
	@scripts/install-deps bench
	@scripts/bench $(O)

fuzz: $(fuzzers)                ## run each fuzzer for a while: make fuzz CC=clang SAN=address,undefined O=build-fuzz SECONDS=60
	@scripts/fuzz $(O) $(SECONDS)

fuzz-weekly:                    ## an hour over all fuzzers, for a scheduled job: new inputs and findings are kept (scripts/fuzz-weekly; SECONDS=3600 FUZZ_DIR=dir)
	@O=$(if $(filter build,$(O)),build-fuzz,$(O)) CC=$(if $(filter gcc cc,$(CC)),clang,$(CC)) scripts/fuzz-weekly $(SECONDS)

fuzz-tools: all                 ## the same with whole tools on damaged inputs: make fuzz-tools SAN=address,undefined O=build-san SECONDS=600
	@scripts/run-tests $(O) /dev/null >/dev/null 2>&1; scripts/fuzz-tools $(O) $(SECONDS) # the first unpacks the recorded inputs

coverage-ops: $(shim)           ## which operators the torch-free runtime has
	@scripts/coverage-ops $(shim)

lint: all $(O)/libpt2rooms.a                       ## shellcheck, mandoc, a few habits
	@scripts/lint $(O)

include packaging/packaging.mk

clean:                          ## remove the build folder
	rm -rf $(O)

-include $(shell find $(O) -name '*.d' -type f 2>/dev/null)

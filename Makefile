# pt2utils. `make help` lists the targets. V=1 shows commands, O=dir builds elsewhere, SAN=address,undefined sanitizes,
# CC=clang compiles with another compiler, WERROR= lets warnings pass.

VERSION  := 0.1.0
O        ?= build
CC       ?= cc
prefix   ?= /usr/local
bindir   ?= $(prefix)/bin
libdir   ?= $(prefix)/lib/pt2utils
mandir   ?= $(prefix)/share/man
compdir  ?= $(prefix)/share/bash-completion/completions
WERROR   ?= -Werror
OPT      ?= -O2

ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(V),1)
Q :=
else
Q := @
endif

TOOLS    := tlparse fxexplain fxminify aoti-checkinputs aoti-printer aoti-nanassert pt2-run
PKGS     := zlib libmd libdeflate libelf libdw libseccomp

# Asked for only when something is compiled: `make demo` and `make check` install the packages first.
pkg_cflags = $(shell pkg-config --cflags $(PKGS))
pkg_libs   = -Wl,--as-needed $(shell pkg-config --libs $(PKGS))

CFLAGS   ?= $(OPT) -g
all_cflags = -std=gnu17 -D_GNU_SOURCE -DPT2_VERSION='"$(VERSION)"' -Wall -Wextra $(WERROR) -Wshadow -Wstrict-prototypes \
	     -Wmissing-prototypes -Wpointer-arith -fno-common -pthread -MMD -MP -Ilibcommon $(CPPFLAGS) $(CFLAGS) $(san) $(pkg_cflags)
ifneq ($(SAN),)
san      := -fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer
endif

# The core never prints, exits or keeps state, so that a preload library can link it; the rest is for tools.
tool_src := $(addprefix libcommon/,base/diag.c base/opt.c base/child.c base/confine.c base/screen.c io/output.c io/tempfolder.c io/mapfile_cut.c \
	    graph/repro_save.c aoti/load.c crash/unwind.c crash/crashmap.c crash/operand.c crash/verdict.c) \
	    $(wildcard libcommon/html/*.c libcommon/live/*.c libcommon/aoti/probe*.c libcommon/reduce/*.c libcommon/diagnose/*.c)
core_src := $(filter-out $(tool_src),$(wildcard libcommon/*/*.c))
core_obj := $(core_src:%.c=$(O)/%.o)
tool_obj := $(tool_src:%.c=$(O)/%.o) $(O)/share.o
libs     := $(O)/libpt2tool.a $(O)/libpt2core.a
bins     := $(TOOLS:%=$(O)/bin/%)
comps    := $(TOOLS:%=$(O)/completions/%)
unit_src := $(wildcard tests/unit/test_*.c)
units    := $(unit_src:tests/unit/%.c=$(O)/tests/%)
fuzz_src := $(wildcard tests/fuzz/fuzz_*.c)
fuzzers  := $(fuzz_src:tests/fuzz/%.c=$(O)/fuzz/%)
share    := $(filter-out %/__pycache__,$(sort $(wildcard share/report/* share/dir/* share/diff/* share/printer/* share/ranks/* share/provenance/* share/fxminify/* share/breaks/* share/explain/* share/patterns/*)))

probe    := $(O)/lib/pt2utils/libpt2probe.so
shim     := $(O)/lib/pt2utils/libpt2shim.so
runner   := $(O)/lib/pt2utils/pt2-runner

.PHONY: plain-guests all demo check check-only check-long check-live check-gpu check-cluster bench fuzz fuzz-tools lint coverage-ops install uninstall help clean tests
.DELETE_ON_ERROR:
.SECONDARY:

all: $(bins) $(comps) $(probe) $(shim) $(runner)  ## build the tools

help:                           ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1	/p' Makefile | expand -t 16

# ---- compile ----

$(O)/libcommon/%.o: libcommon/%.c
	@mkdir -p $(@D)
	@$(if $(Q),echo "  CC      $<")
	$(Q)$(CC) $(all_cflags) $(if $(filter $<,$(core_src)),-fPIC -fvisibility=hidden) -c $< -o $@

$(O)/cmd/%.o: cmd/%.c
	@mkdir -p $(@D)
	@$(if $(Q),echo "  CC      $<")
	$(Q)$(CC) $(all_cflags) -Icmd/$(firstword $(subst /, ,$*)) -c $< -o $@

# Page parts of share/ become part of the programs.
$(O)/share.c: $(share) scripts/embed
	@mkdir -p $(@D)
	$(Q)scripts/embed $(share) > $@

$(O)/share.o: $(O)/share.c
	$(Q)$(CC) $(all_cflags) -c $< -o $@

$(O)/libpt2core.a: $(core_obj)
$(O)/libpt2tool.a: $(tool_obj)
$(O)/%.a:
	@$(if $(Q),echo "  AR      $@")
	$(Q)rm -f $@ && $(AR) rcs $@ $^

define tool_rule
$(O)/bin/$(1): $$(patsubst %.c,$(O)/%.o,$$(wildcard cmd/$(1)/*.c)) $(libs)
endef
$(foreach t,$(TOOLS),$(eval $(call tool_rule,$(t))))

$(O)/bin/%:
	@mkdir -p $(@D)
	@$(if $(Q),echo "  LD      $@")
	$(Q)$(CC) $(CFLAGS) $(san) -pthread $(LDFLAGS) $^ -o $@ $(pkg_libs) -lm

$(O)/completions/%: $(O)/bin/%
	@mkdir -p $(@D)
	$(Q)$< --completion=bash > $@

# A CUDA driver without a GPU, and a model of CUDA code (tests/lib/fakecuda.h).
cuda_at   := $(O)/tests-lib/cuda
cuda_text := $(wildcard tests/lib/cudamodel/*.wrapper.cpp)
cuda_libs := $(cuda_at)/libcuda.so.1 $(cuda_at)/libcudart.so.12 $(cuda_at)/libtorch_cuda.so
cuda_so   := $(cuda_text:tests/lib/cudamodel/%.cpp=$(cuda_at)/model/%.so)
beside    := $(addprefix $(cuda_at)/model/,$(shell sed -n 's:.*loadKernel.".*/\([^/"]*\.cubin\)".*:\1:p' $(cuda_text)))
beside    += $(cuda_text:tests/lib/cudamodel/%=$(cuda_at)/model/%) $(cuda_text:tests/lib/cudamodel/%.cpp=$(cuda_at)/model/%_metadata.json)
cuda      := $(cuda_libs) $(cuda_at)/libtorch.so $(cuda_so) $(beside) $(cuda_at)/cudamodel.pt2 $(O)/tests-lib/cudahost $(O)/tests-lib/cudarun

# What lives in other people's processes is never sanitized: their runtimes want to be first.
guests   := $(probe) $(shim) $(runner) $(O)/tests-lib/faketorch.so $(O)/tests-lib/livehost $(O)/tests-lib/predicate $(O)/tests-lib/without $(cuda) \
	    $(addprefix $(O)/tests-lib/,fakemodel.so quietmodel.so latemodel.so hostilemodel.so customop.so)
ifneq ($(SAN),)
$(guests): $(O)/%: plain-guests
	@mkdir -p $(@D)
	$(Q)cp $(O)/plain/$* $@
plain-guests:
	$(Q)$(MAKE) -s --no-print-directory SAN= O=$(O)/plain $(guests:$(O)/%=$(O)/plain/%)
else
$(O)/libprobe/%.o: libprobe/%.c
	@mkdir -p $(@D)
	@$(if $(Q),echo "  CC      $<")
	$(Q)$(CC) $(all_cflags) -fPIC -fvisibility=hidden -fexceptions -ftls-model=initial-exec -c $< -o $@

$(probe): $(patsubst %.c,$(O)/%.o,$(wildcard libprobe/*.c)) $(O)/libpt2core.a libprobe/exports.map
	@mkdir -p $(@D)
	@$(if $(Q),echo "  LD      $@")
	$(Q)$(CC) $(CFLAGS) -pthread -shared $(LDFLAGS) -Wl,--version-script=libprobe/exports.map -Wl,-z,defs -Wl,-z,now \
		-Wl,--as-needed -Wl,-soname,$(@F) $(filter-out %.map,$^) -o $@

# Its operators are called by the model with the signatures of torch's C++ header: no prototypes to include.
$(O)/libshim/%.o: libshim/%.c
	@mkdir -p $(@D)
	@$(if $(Q),echo "  CC      $<")
	$(Q)$(CC) $(all_cflags) -Wno-missing-prototypes -fPIC -c $< -o $@

$(shim): $(patsubst %.c,$(O)/%.o,$(wildcard libshim/*.c)) $(O)/libpt2core.a libshim/exports.map
	@mkdir -p $(@D)
	@$(if $(Q),echo "  LD      $@")
	$(Q)$(CC) $(CFLAGS) -pthread -shared $(LDFLAGS) -Wl,--version-script=libshim/exports.map -Wl,-z,defs \
		-Wl,--as-needed -Wl,-soname,libtorch_cpu.so $(filter-out %.map,$^) -o $@ -lm -ldl

# The model finds its proxy executor's function here before it finds libtorch's.
$(runner): $(patsubst %.c,$(O)/%.o,$(wildcard libshim/run/*.c)) $(libs) libshim/run/exports.list
	@mkdir -p $(@D)
	@$(if $(Q),echo "  LD      $@")
	$(Q)$(CC) $(CFLAGS) -pthread $(LDFLAGS) -Wl,--dynamic-list=libshim/run/exports.list $(filter-out %.list,$^) -o $@ $(pkg_libs) -ldl -lm

$(O)/tests-lib/livehost: tests/lib/livehost.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(all_cflags) -MF $@.d $< -o $@ -ldl -lm

$(O)/tests-lib/without: tests/lib/without.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(all_cflags) -MF $@.d $< -lseccomp -o $@

$(O)/tests-lib/predicate: tests/lib/predicate.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(all_cflags) -MF $@.d $< -o $@

$(cuda_at)/libcuda.so.1: $(wildcard tests/lib/fakecuda/*.c tests/lib/ptx/*.c) tests/lib/cudamodel/kernels.c
$(cuda_at)/libcudart.so.12: tests/lib/fakecudart.c $(cuda_at)/libcuda.so.1
$(cuda_at)/libcudart.so.12: private san += -Wl,--version-script=tests/lib/fakecudart.map
$(cuda_at)/libtorch_cuda.so: tests/lib/faketorchcuda.c $(O)/tests-lib/faketorch.so $(cuda_at)/libcudart.so.12 $(cuda_at)/libcuda.so.1
$(cuda_libs): tests/lib/fakecuda.h tests/lib/fakecuda/driver.h tests/lib/ptx.h tests/lib/ptx/in.h tests/lib/ptx/text.h
	@mkdir -p $(@D)
	$(Q)$(CC) $(filter-out -MMD -MP,$(all_cflags)) -fPIC -shared -Wl,-soname,$(@F) $(filter %.c %.so %.so.1 %.so.12,$^) -o $@ -ldl -lm

# Models of torch's default wheel need one of this name, too (tests/data/aoti/cuda/v215).
$(cuda_at)/libtorch.so:
	@mkdir -p $(@D)
	$(Q)$(CC) -shared -Wl,-soname,$(@F) -x c /dev/null -o $@

$(cuda_so): $(cuda_at)/model/%.so: tests/lib/cudamodel/%.cpp tests/lib/cudamodel/constants.s $(wildcard tests/lib/cudamodel/*.h) $(cuda_libs)
	@mkdir -p $(@D)
	$(Q)$(CXX) -std=c++20 -g -O1 -fPIC -Wall $(WERROR) -Wno-pessimizing-move -Itests/lib/cudamodel -shared $(filter %.cpp %.s,$^) \
		$(O)/tests-lib/faketorch.so $(cuda_libs) -o $@

$(cuda_at)/cudamodel.pt2: $(cuda_so) tests/lib/cudamodel/pack.py
	$(Q)python3 tests/lib/cudamodel/pack.py $(cuda_text) $< $(<D) $@
$(beside): $(cuda_at)/cudamodel.pt2 ;

# By RPATH (not RUNPATH) it finds the fake libraries also for what it loads.
$(O)/tests-lib/cudahost $(O)/tests-lib/cudarun: $(O)/tests-lib/%: tests/lib/%.c $(cuda_at)/libcudart.so.12
	@mkdir -p $(@D)
	$(Q)$(CC) $(all_cflags) -MF $@.d $< $(cuda_at)/libcudart.so.12 -Wl,--disable-new-dtags,-rpath,'$$ORIGIN/cuda' \
		-Wl,-rpath-link,$(cuda_at) -o $@ -ldl -lm
endif

# ---- run ----

demo:                           ## install what is missing, build, make a report of a real trace
	@scripts/install-deps build
	@$(MAKE) --no-print-directory all
	@scripts/demo $(O)

check:                          ## install what the tests need, build, run all tests
	@scripts/install-deps check
	@$(MAKE) --no-print-directory check-only

# What makes calls fail (tests/cli/inject.t); a sanitizer has a preload of its own.
inject   := $(if $(SAN),,$(O)/tests-lib/inject.so)
$(O)/tests-lib/faketorch.so: private all_cflags += -Wl,-soname,libtorch_cpu.so
models   := $(addprefix $(O)/tests-lib/,fakemodel.so quietmodel.so latemodel.so hostilemodel.so customop.so)
$(models): $(O)/tests-lib/faketorch.so
$(models): private all_cflags += -Wl,--no-as-needed $(O)/tests-lib/faketorch.so
$(O)/tests-lib/latemodel.so: private all_cflags += -nostartfiles
$(O)/tests-lib/%.so: tests/lib/%.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(all_cflags) -MF $@.d -fPIC -shared $< -o $@ -lm

tests: all $(units) $(fuzzers) $(inject) $(guests)  ## build everything the tests run

check-only: tests               ## run all tests without installing anything
	@scripts/run-tests $(O)

check-long: tests               ## what make check takes samples of, whole: every failing write of every tool, 500 signals
	@PT2_LONG=1 scripts/run-tests $(O) tests/cli/inject-all.t tests/cli/signals-all.t

check-live: tests               ## hold the tools against real torch, in a virtual environment of its own (or $PT2_PYTHON)
	@scripts/live-venv $(O) >/dev/null || true
	@scripts/run-tests $(O) tests/live/*.t

check-gpu: tests                ## tests/gpu with an NVIDIA GPU and torch for CUDA ($PT2_PYTHON); what is printed goes into $OUT
	@scripts/check-gpu $(O); rc=$$?; [ $$rc -eq 77 ] || exit $$rc

check-cluster: all              ## fxminify on other machines: through ssh, and a Slurm of one node (as root; with real torch)
	@scripts/install-deps cluster
	@scripts/live-venv $(O) >/dev/null || true
	@scripts/run-tests $(O) tests/cluster/*.t

bench: all $(guests)           ## measure speed and memory, also the Rust tlparse's; tables into docs/BENCHMARKS.md
	@scripts/install-deps bench
	@scripts/bench $(O)

# libFuzzer where the compiler is clang; else the same entries with a main that runs files.
ifneq ($(findstring clang,$(shell $(CC) --version 2>/dev/null | head -1)),)
fuzz_flags := -fsanitize=fuzzer
ifneq ($(filter fuzz,$(MAKECMDGOALS)),)
all_cflags += -fsanitize=fuzzer-no-link # so that it sees into the library
endif
else
fuzz_main  := tests/fuzz/main.c
endif
$(O)/fuzz/%: tests/fuzz/%.c $(fuzz_main) $(libs)
	@mkdir -p $(@D)
	@$(if $(Q),echo "  LD      $@")
	$(Q)$(CC) $(all_cflags) -MF $@.d -Wno-missing-prototypes $(fuzz_flags) $< $(fuzz_main) $(filter %.o,$^) $(libs) -o $@ $(pkg_libs) -lm

fuzz: $(fuzzers)                ## run each fuzzer for a while: make fuzz CC=clang SAN=address,undefined O=build-fuzz SECONDS=60
	@scripts/fuzz $(O) $(SECONDS)

fuzz-tools: all                 ## the same with whole tools on damaged inputs: make fuzz-tools SAN=address,undefined O=build-san SECONDS=600
	@scripts/run-tests $(O) /dev/null >/dev/null 2>&1; scripts/fuzz-tools $(O) $(SECONDS) # the first unpacks the recorded inputs

$(O)/tests/%: tests/unit/%.c $(libs)
	@mkdir -p $(@D)
	@$(if $(Q),echo "  LD      $@")
	$(Q)$(CC) $(all_cflags) -MF $@.d -Wno-missing-prototypes $< $(filter %.o,$^) $(libs) -o $@ $(pkg_libs) $(shell pkg-config --libs cmocka jansson) -lm

$(O)/tests/test_pickle_uchar: private all_cflags += -funsigned-char
$(O)/tests/test_emit: $(patsubst %,$(O)/cmd/fxexplain/%.o,baseline emit github html json limits load markdown redact report reportfacts reportrepro sarif)

# The interpreter of the fake driver (tests/lib/ptx.h).
ptx_obj := $(patsubst %.c,$(O)/%.o,$(wildcard tests/lib/ptx/*.c))
$(O)/tests/lib/%.o: tests/lib/%.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(all_cflags) -c $< -o $@
$(O)/tests/test_ptx $(O)/fuzz/fuzz_ptx: $(ptx_obj)
$(O)/tests/test_ptx: | $(probe)

$(O)/tests/test_fakecuda $(O)/tests/test_live $(O)/tests/test_crash $(filter $(O)/tests/test_shim%,$(units)): | $(guests)

coverage-ops: $(shim)           ## which operators the torch-free runtime has
	@scripts/coverage-ops $(shim)

lint:                           ## shellcheck, mandoc, a few habits
	@scripts/lint

install: all                    ## into DESTDIR and prefix
	install -d $(DESTDIR)$(bindir) $(DESTDIR)$(libdir) $(DESTDIR)$(mandir)/man1 $(DESTDIR)$(compdir)
	install -m 755 $(bins) $(DESTDIR)$(bindir)
	install -m 755 $(probe) $(shim) $(runner) $(DESTDIR)$(libdir)
	install -m 644 $(TOOLS:%=man/%.1) $(DESTDIR)$(mandir)/man1
	install -m 644 $(comps) $(DESTDIR)$(compdir)

uninstall:                      ## take away what install put there
	rm -f $(addprefix $(DESTDIR)$(libdir)/,$(notdir $(probe) $(shim) $(runner))) $(TOOLS:%=$(DESTDIR)$(bindir)/%) $(TOOLS:%=$(DESTDIR)$(mandir)/man1/%.1) $(TOOLS:%=$(DESTDIR)$(compdir)/%)

clean:                          ## remove the build folder
	rm -rf $(O)

-include $(shell find $(O) -name '*.d' -type f 2>/dev/null)

# tests.mk - how the tests are built; the Makefile includes it.

unit_src := $(wildcard tests/unit/*/test_*.c)
units    := $(patsubst %.c,$(O)/tests/%,$(notdir $(unit_src)))
fuzz_src := $(wildcard tests/fuzz/fuzz_*.c)
fuzzers  := $(fuzz_src:tests/fuzz/%.c=$(O)/fuzz/%)

# Tests may include and link everything.
rooms    := $(addprefix -Icmd/,$(sort $(foreach r,$(room_obj:$(O)/cmd/%=%),$(firstword $(subst /, ,$(r))))))
$(O)/tests/% $(O)/tests-lib/%: private all_cflags += $(cli) $(rooms)

# A CUDA driver without a GPU, and a model of CUDA code (tests/lib/fakecuda.h).
cuda_at   := $(O)/tests-lib/cuda
cuda_text := $(wildcard tests/lib/cudamodel/*.wrapper.cpp)
cuda_libs := $(cuda_at)/libcuda.so.1 $(cuda_at)/libcudart.so.12 $(cuda_at)/libtorch_cuda.so
cuda_so   := $(cuda_text:tests/lib/cudamodel/%.cpp=$(cuda_at)/model/%.so)
beside    := $(addprefix $(cuda_at)/model/,$(shell sed -n 's:.*loadKernel.".*/\([^/"]*\.cubin\)".*:\1:p' $(cuda_text)))
beside    += $(cuda_text:tests/lib/cudamodel/%=$(cuda_at)/model/%) $(cuda_text:tests/lib/cudamodel/%.cpp=$(cuda_at)/model/%_metadata.json)
cuda      := $(cuda_libs) $(cuda_at)/libtorch.so $(cuda_so) $(beside) $(cuda_at)/cudamodel.pt2 $(O)/tests-lib/cudahost $(O)/tests-lib/cudarun

guests   += $(O)/tests-lib/faketorch.so $(O)/tests-lib/livehost $(O)/tests-lib/predicate $(O)/tests-lib/without $(cuda) \
	    $(addprefix $(O)/tests-lib/,fakemodel.so quietmodel.so latemodel.so hostilemodel.so racemodel.so customop.so aten.so jittorch.so)
ifeq ($(SAN),)
$(O)/tests-lib/livehost: tests/lib/livehost.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(all_cflags) -MF $@.d $< -o $@ -ldl -lm

$(O)/tests-lib/without: tests/lib/without.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(all_cflags) -MF $@.d $< -lseccomp -o $@

$(O)/tests-lib/predicate: tests/lib/predicate.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(all_cflags) -MF $@.d $< -o $@

$(cuda_at)/libcuda.so.1: $(patsubst tests/lib/%.c,$(cuda_at)/%.o,$(wildcard tests/lib/fakecuda/*.c tests/lib/ptx/*.c)) $(cuda_at)/cudamodel/kernels.o
$(cuda_at)/libcudart.so.12: $(cuda_at)/fakecudart.o $(cuda_at)/libcuda.so.1
$(cuda_at)/libcudart.so.12: private san += -Wl,--version-script=tests/lib/fakecudart.map
$(cuda_at)/libtorch_cuda.so: $(cuda_at)/faketorchcuda.o $(O)/tests-lib/faketorch.so $(cuda_at)/libcudart.so.12 $(cuda_at)/libcuda.so.1
$(cuda_at)/%.o: tests/lib/%.c $(O)/flags
	@mkdir -p $(@D)
	$(Q)$(CC) $(all_cflags) -fPIC -c $< -o $@

$(cuda_libs):
	$(Q)$(CC) $(CFLAGS) $(san) -pthread $(LDFLAGS) -shared -Wl,-soname,$(@F) $(filter %.o %.so %.so.1 %.so.12,$^) -o $@ -ldl -lm

# Models of torch's default wheel need one of this name, too (tests/data/aoti/cuda/v215).
$(cuda_at)/libtorch.so:
	@mkdir -p $(@D)
	$(Q)$(CC) -shared -Wl,-soname,$(@F) -x c /dev/null -o $@

$(O)/tests-lib/livehost $(O)/tests-lib/without $(O)/tests-lib/predicate: $(O)/flags
$(cuda_at)/model/%.o: tests/lib/cudamodel/%.cpp $(O)/flags
	@mkdir -p $(@D)
	$(Q)$(CXX) -std=c++20 -g -O1 -fPIC -Wall $(WERROR) -Wno-pessimizing-move -MMD -MP -Itests/lib/cudamodel -c $< -o $@

$(cuda_so): $(cuda_at)/model/%.so: $(cuda_at)/model/%.o tests/lib/cudamodel/constants.s $(cuda_libs)
	$(Q)$(CXX) -g -shared $(filter %.o %.s,$^) $(O)/tests-lib/faketorch.so $(cuda_libs) -o $@

$(cuda_at)/cudamodel.pt2: $(cuda_so) tests/lib/cudamodel/pack.py
	$(Q)python3 tests/lib/cudamodel/pack.py $(cuda_text) $< $(<D) $@
$(beside): $(cuda_at)/cudamodel.pt2 ;

# By RPATH (not RUNPATH) it finds the fake libraries also for what it loads.
$(O)/tests-lib/cudahost $(O)/tests-lib/cudarun: $(O)/tests-lib/%: tests/lib/%.c $(cuda_at)/libcudart.so.12
	@mkdir -p $(@D)
	$(Q)$(CC) $(all_cflags) -MF $@.d $< $(cuda_at)/libcudart.so.12 -Wl,--disable-new-dtags,-rpath,'$$ORIGIN/cuda' \
		-Wl,-rpath-link,$(cuda_at) -o $@ -ldl -lm
endif

# What scripts/bench-floor holds the tools against.
$(O)/tests-lib/floor: tests/lib/floor.c $(O)/libpt2core.a $(O)/flags
	@mkdir -p $(@D)
	$(Q)$(CC) $(all_cflags) -MF $@.d $(filter %.c %.a,$^) -o $@ $(pkg_libs)

# What makes calls fail (tests/cli/inject.t); a sanitizer has a preload of its own.
inject   := $(if $(SAN),,$(O)/tests-lib/inject.so)
# What lets processes start late (make check-lag).
lag      := $(if $(SAN),,$(O)/tests-lib/lag.so)

# What makes one system call fail (tests/cli/fail-all.t): it knows this processor's registers.
failcall := $(if $(filter x86_64,$(ARCH)),$(O)/tests-lib/failcall)
$(O)/tests-lib/failcall: tests/lib/failcall.c $(O)/flags
	@mkdir -p $(@D)
	$(Q)$(CC) $(all_cflags) -fno-sanitize=all -MF $@.d $< -lseccomp -o $@
$(O)/tests-lib/faketorch.so $(O)/tests-lib/jittorch.so: private all_cflags += -Wl,-soname,libtorch_cpu.so
models   := $(addprefix $(O)/tests-lib/,fakemodel.so quietmodel.so latemodel.so hostilemodel.so customop.so)
$(models): $(O)/tests-lib/faketorch.so
$(models): private all_cflags += -Wl,--no-as-needed $(O)/tests-lib/faketorch.so
$(O)/tests-lib/latemodel.so: private all_cflags += -nostartfiles
$(O)/tests-lib/racemodel.so: $(O)/libpt2core.a
$(O)/tests-lib/%.so: tests/lib/%.c $(O)/flags
	@mkdir -p $(@D)
	$(Q)$(CC) $(all_cflags) -MF $@.d -fPIC -shared $< $(filter %.a,$^) -o $@ -lm

# Operators for tests/live; they need the whole of what they are linked with, in any process.
$(O)/tests-lib/aten.so: $(O)/libpt2core.a

# Compiled and linked apart: a compiler cache keeps what is only compiled.
$(O)/tests/unit/% $(O)/tests/fuzz/%: private all_cflags += -Wno-missing-prototypes
$(O)/tests/%.o: tests/%.c $(O)/flags
	@mkdir -p $(@D)
	@$(if $(Q),echo "  CC      $<")
	$(Q)$(CC) $(all_cflags) -c $< -o $@

# libFuzzer where the compiler is clang; else the same entries with a main that runs files.
ifneq ($(findstring clang,$(shell $(CC) --version 2>/dev/null | head -1)),)
fuzz_flags := -fsanitize=fuzzer
ifneq ($(SAN),)
all_cflags += -fsanitize=fuzzer-no-link # so that it sees into the library
endif
else
fuzz_main  := $(O)/tests/fuzz/main.o
endif
$(O)/fuzz/%: $(O)/tests/fuzz/%.o $(fuzz_main) $(O)/libpt2rooms.a $(libs)
	@mkdir -p $(@D)
	@$(if $(Q),echo "  LD      $@")
	$(Q)$(CC) $(CFLAGS) $(san) -pthread $(LDFLAGS) $(fuzz_flags) $(filter %.o,$^) $(O)/libpt2rooms.a $(libs) -o $@ $(pkg_libs) -lm

test_libs = $(eval test_libs := $(shell pkg-config --libs cmocka jansson))$(test_libs)
define unit_rule
$(O)/tests/$(basename $(notdir $(1))): $(O)/$(1:.c=.o)
endef
$(foreach t,$(unit_src),$(eval $(call unit_rule,$(t))))
$(units): $(O)/libpt2rooms.a $(libs)
	@$(if $(Q),echo "  LD      $@")
	$(Q)$(CC) $(CFLAGS) $(san) -pthread $(LDFLAGS) $(filter %.o,$^) $(O)/libpt2rooms.a $(libs) -o $@ $(pkg_libs) $(test_libs) -lm

$(O)/tests/unit/tensor/test_pickle_uchar.o: private all_cflags += -funsigned-char

# The interpreter of the fake driver (tests/lib/ptx.h).
ptx_obj := $(patsubst %.c,$(O)/%.o,$(wildcard tests/lib/ptx/*.c))
$(O)/tests/test_ptx $(O)/fuzz/fuzz_ptx: $(ptx_obj)
$(O)/tests/test_ptx $(O)/tests/test_symbols: | $(probe)

$(O)/tests/test_fakecuda $(O)/tests/test_live $(O)/tests/test_crash $(O)/tests/test_crash_core $(filter $(O)/tests/test_shim%,$(units)): | $(guests)

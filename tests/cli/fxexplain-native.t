#!/bin/bash
# What fxexplain says of programs in C++ that died: std::terminate, malloc, gdb, folly, glog. No torch.compile experiment for them.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
of() { fxexplain --all -; }

# ---- std::terminate ----
what() { printf "terminate called after throwing an instance of '%s'\n  what():  %s\nAborted (core dumped)\n" "$1" "$2"; }
like "a library that a package needs" "$(what std::runtime_error 'Error in dlopen: libcublas.so.13: cannot open shared object file: No such file or directory' | of)" 'Likely cause: loading the package.*worst first \(1\).*needs libcublas\.so\.13'
like "the model's own file, a path, is another matter" "$(what std::runtime_error 'Error in dlopen: /srv/m/model.so: cannot open shared object file: No such file or directory' | of)" 'loading the package.*/srv/m/model\.so'
like "an operator that was not registered" "$(what c10::Error 'Could not find schema for shop::price.' | of)" 'calls shop::price, which this process has not registered.*TORCH_LIBRARY'
like "nothing is known: no component by default" "$(what my::Error 'queue closed' | of)" 'Not known yet: which part threw this C\+\+ exception.*my::Error: queue closed.*fxexplain crash'
like "the program's own request" "$(what c10::Error 'Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!' | of)" 'Likely cause: what the program asked of torch'
like "libc++" "$(printf 'libc++abi: terminating due to uncaught exception of type c10::Error: Could not find schema for shop::price.\n' | of)" 'has not registered'
like "a message of several lines, and its stack" "$(printf "terminate called after throwing an instance of 'c10::Error'\n  what():  Expected size 4\nbut got 5\nException raised from run at /src/x.cpp:12 (most recent call first):\nframe #0: c10::Error::Error() + 0x80 (0x7f in libc10.so)\nAborted\n" | of)" 'Expected size 4'
like "behind a service's own prefix" "$(what c10::Error 'Could not find schema for shop::price.' | sed 's/^/2026-11-04T08:01:22.640Z server[1]: /' | of)" 'because +c10::Error: Could not find schema'
unlike "no experiment with torch.compile" "$({ what my::Error x; what c10::Error 'Could not find schema for a::b.'; } | of)" 'torch\.compile|--bisect|own code'
like "a known error before a shell's word" "$(printf 'server: cannot load: Error in dlopen: libgomp.so.1: cannot open shared object file: No such file or directory\nAborted (core dumped)\n' | of)" 'needs libgomp\.so\.1'
like "a bare word of the shell: not known" "$(printf 'Segmentation fault (core dumped)\n' | of)" 'Not known yet: which part crashed.*next +fxexplain crash CORE'
like "with Python's stack: compiled code" "$(printf 'Fatal Python error: Segmentation fault\n\nCurrent thread 0x01 (most recent call first):\n  File "/tmp/torchinductor_me/ab/cab.py", line 7 in call\n  File "/home/me/app.py", line 3 in <module>\n\nSegmentation fault (core dumped)\n' | of)" 'Likely cause: run time.*backend="aot_eager".*app\.py:3'

# ---- malloc: what glibc 2.23 to 2.41 prints ----
while IFS= read -r line; do
	like "heap: ${line:0:60}" "$(printf '%s\nAborted (core dumped)\n' "$line" | of)" 'Not known yet: what damaged the heap.*worst first \(1\).*LD_PRELOAD=libc_malloc_debug\.so\.0 MALLOC_CHECK_=3'
	like "the same for fxexplain crash" "$(printf '%s\nAborted (core dumped)\n' "$line" | fxexplain crash -)" 'the heap was corrupted earlier.*LD_PRELOAD=libc_malloc_debug'
done <<'END'
free(): invalid pointer
free(): invalid size
free(): double free detected in tcache 2
free(): unaligned chunk detected in tcache 2
free(): too many chunks detected in tcache
free(): corrupted unsorted chunks
malloc(): corrupted top size
malloc(): invalid size (unsorted)
malloc(): mismatching next->prev_size (unsorted)
malloc(): unaligned tcache chunk detected
malloc(): largebin double linked list corrupted (nextsize)
malloc_consolidate(): unaligned fastbin chunk detected
realloc(): invalid next size
munmap_chunk(): invalid pointer
double free or corruption (!prev)
corrupted size vs. prev_size while consolidating
corrupted double-linked list (not small)
*** Error in `./server': free(): invalid next size (fast): 0x0000000001f2c010 ***
Fatal glibc error: malloc assertion failure in sysmalloc: (old_top == initial_top (av) && old_size == 0)
Fatal glibc error: malloc.c:2599 (sysmalloc): assertion failed: (old_top == initial_top (av) && old_size == 0)
server: malloc.c:2617: sysmalloc: Assertion `(old_top == initial_top (av) && old_size == 0)' failed.
END
unlike "another assertion is not the heap" "$(printf "server: queue.cpp:12: void put(): Assertion \`n > 0' failed.\nAborted (core dumped)\n" | of)" 'heap'
like "malloc's words and faulthandler's stack are one death" "$(printf 'malloc(): corrupted top size\nFatal Python error: Aborted\n\nCurrent thread 0x01 (most recent call first):\n  File "/home/me/app.py", line 3 in step\n' | of)" 'worst first \(1\).*app\.py:3 in step: Aborted: malloc\(\): corrupted top size'

# ---- debuggers and signal handlers ----
gdb='Thread 1 "server" received signal SIGSEGV, Segmentation fault.
0x00007fffe4c12a31 in cpp_fused_relu_0 () from /tmp/aoti/cabc.wrapper.so
(gdb) bt
#0  0x00007fffe4c12a31 in cpp_fused_relu_0 () from /tmp/aoti/cabc.wrapper.so
#1  0x00007fffe4c13b52 in torch::aot_inductor::AOTInductorModel::run_impl(AtenTensorOpaque**) () from /tmp/aoti/cabc.wrapper.so
#2  0x00005555555a1c20 in main () at serve.cpp:41'
like "gdb: inside a model" "$(of <<<"$gdb")" 'Likely cause: run time.*cpp_fused_relu_0.*next +fxexplain crash'
like "gdb: a core file, elsewhere" "$(printf 'Program terminated with signal SIGABRT, Aborted.\n#0  0x01 in raise () from libc.so.6\n#1  0x02 in abort () from libc.so.6\n#2  0x03 in Queue::put (this=0x0) at queue.cpp:12\n' | of)" 'Not known yet: which part crashed.*Queue::put'
like "folly's handler adds its stack to the exception" "$({ what c10::Error 'Could not find schema for a::b.' | head -2; printf '*** Signal 6 (SIGABRT) (0x3e8) received by PID 6959 (pthread TID 0x7f) (code: -6), stack trace: ***\n    @ 0000000000a1b2c3 raise\n    @ 0000000000b12345 predictor::Model::run()\n'; } | of)" '1 failure.*has not registered'
like "glog" "$(printf '*** SIGSEGV (@0x0) received by PID 12 (TID 0x7f) from PID 0; stack trace: ***\n    @     0x7f01 (unknown)\n    @     0x7f02 Queue::put()\n' | of)" 'Segmentation fault: @ +0x7f02 Queue::put'
like "AddressSanitizer: in a model" "$(printf '==9==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x61 at pc 0x7f bp 0x7f sp 0x7f\nREAD of size 4 at 0x61 thread T0\n    #0 0x7f in cpp_fused_add_0 (/tmp/aoti/c.wrapper.so+0x4d32)\n    #1 0x55 in main /srv/main.cpp:57\n' | of)" 'Likely cause: run time.*AddressSanitizer: heap-buffer-overflow: #0 0x7f in cpp_fused_add_0.*fxexplain crash'
like "gdb: an exception in a package's run" "$(printf 'Thread 9 "w" received signal SIGABRT, Aborted.\n#0  0x01 in raise () from libc.so.6\n#1  0x02 in ?? () from /lib/libstdc++.so.6\n#2  0x03 in c10::detail::torchCheckFail(char const*) () from libc10.so\n#3  0x04 in torch::inductor::AOTIModelPackageLoader::run() () from libtorch_cpu.so\n' | of)" 'Likely cause: run time.*AOTIModelPackageLoader::run'
done_testing

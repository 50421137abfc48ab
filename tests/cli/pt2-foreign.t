#!/bin/bash
# pt2 and what other programs write, or torch for them: known by content, under any name, with what to do instead. A notebook's outputs are read.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
command -v python3 >/dev/null || skip_all "no python3"
python3 - "$DATA" <<'P'
import json, pickle, shutil, sys, zipfile

def write(name, data):
    open(name, "wb").write(data if isinstance(data, bytes) else data.encode())

trace = ["\x1b[0;31m----\x1b[0m", "InternalTorchDynamoError       Traceback (most recent call last)", "Cell In[1], line 12\n---> 12 f(x)",
         "InternalTorchDynamoError: KeyError: 'layout'"]
cell = {"cell_type": "code", "source": ["import torch\n"], "outputs": []}
write("silent", json.dumps({"cells": [cell], "nbformat": 4}))
cell["outputs"] = [{"output_type": "stream", "name": "stderr", "text": ["one\n", "two"]}, {"output_type": "error", "traceback": trace}]
write("notebook", json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4}))
write("onnx", b"\x08\x08\x12\x07pytorch\x1a\x052.13.0:\x10\n\x01x\x12\x01y\"\x04Relu")
write("pickle", pickle.dumps({"segments": [], "device_traces": [[]]}))
write("samples", json.dumps({"$schema": "https://www.speedscope.app/file-format-schema.json", "profiles": []}))
write("page", "<!DOCTYPE html>\n<html><body></body></html>\n")
write("events", json.dumps([{"name": "dynamo", "ts": 1, "ph": "B", "cat": "dynamo_timed", "tid": 0, "pid": 0}]))
write("onekernel", "#include <torch/csrc/inductor/cpp_prefix.h>\nextern \"C\"  void  kernel(const float* in_ptr0)\n{\n}\n")
with zipfile.ZipFile("archive", "w") as z:
    z.write(sys.argv[1] + "/simple.log", "traces/simple.log")
with zipfile.ZipFile("checkpoint", "w") as z:
    z.writestr("ckpt/data.pkl", b"\x80\x02}q\x00.")
    z.writestr("ckpt/version", "3\n")
P
while read -r file want; do
	exits "$file: no tool answers" 2 pt2 "$file"
	like "... what it is, and what to do" "$(cat err)" "^pt2: $file is $want"
	cp "$file" "other.log"
	run pt2 other.log
	like "... under another name" "$(cat err)" "^pt2: other.log is $want"
done <<'EOS'
onnx an ONNX model: .*MODEL.pt2
pickle a pickle: it is not opened
samples a profile of Python's stacks: .*pt2 slow --
page an HTML page: .*pt2 TRACE
events compile events for Perfetto: .*pt2 slow TRACE
onekernel the C.. of one kernel: .*pt2 kernel
archive a zip archive: .*unzip -d unpacked [a-z.]+ && pt2 unpacked
checkpoint an object saved by torch.save: .*torch.export.save
EOS
exits "an archive, as it says" 0 sh -c 'mkdir unpacked && cd unpacked && python3 -m zipfile -e ../archive . && pt2 traces'
exits "a notebook" 0 pt2 notebook
like "... its traceback" "$(cat out err)" "KeyError: 'layout'.*a notebook, whose outputs are read"
unlike "... without the colours, and without the path of the copy" "$(cat out err)" "outputs0|$(printf '\033')"
exits "... through a pipe" 0 sh -c 'cat notebook | pt2'
like "... the same" "$(cat out)" "KeyError: 'layout'"
exits "one that printed nothing" 2 pt2 silent
like "... what to do" "$(cat err)" "jupyter nbconvert --to script silent"
printf '{"cells": [{"cell_type": "code", "outputs": [' >cut.ipynb
exits "one that is cut" 3 pt2 cut.ipynb
done_testing

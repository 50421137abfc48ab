/* bundle.h - what libpt2probe.so keeps of a Run that was found bad (CALLS_RECORD): enough to run it again.
 *
 * A folder bundle.mM.rN (model and Run, see calls.h) in calls_config.save_dir, which appears under this name when it is whole:
 *
 *     bundle.json           {"bundle": 1, "path": "/tmp/x/model.so" (as the process knew it), "library": "model/x.wrapper.so" or
 *                           null when the file was gone, "pid", "model", "run", "inputs": [{"file": "input0.npy" or null when it could
 *                           not be kept, "spec": "f32[2,3]/(1,2)", "name": "arg0_1" or null}]}
 *     input0.npy ...        the inputs' values before the Run, row-major whatever their strides (which are in "spec");
 *                           .safetensors for types that numpy lacks
 *     model/                the model's library and what lies beside it: wrapper.cpp, metadata, weights; hard links, or copies
 *
 * Where the model is a graph of torch.compile, "library" is null, and the index has, besides:
 *
 *     "graph"               "3_backward"
 *     "program"             "model/fx_graph_runnable.py": torch's program that runs the FX graph (after AOTAutograd), without values; its
 *                           placeholders are the inputs, in order. Null: this torch does not keep it
 *     "table"               "model/names.json": the graph's contract, with the program's names and lines (share/jit/rewrite.py,
 *                           _arm_table). Null: older bundles
 *     inputs: "number"      of an input that is an integer (a size), its value; "file" is null then
 *     model/NAME.py         the generated text
 *
 * "finding" says in a line what was found in the Run.
 */
#ifndef PT2_LIVE_BUNDLE_H
#define PT2_LIVE_BUNDLE_H

#define BUNDLE_VERSION 1
#define BUNDLE_INDEX "bundle.json"
#define BUNDLE_MODEL "model"
#define BUNDLE_RUNNABLE "fx_graph_runnable.py"
#define BUNDLE_TABLE "names.json"

#endif

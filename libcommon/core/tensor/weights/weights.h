/* weights.h - loads weights by name, from any supported file, for a compiled model.
 *
 *     struct weights w;
 *     if (weights_open(&w, "model.safetensors", &err) < 0) ...         // or weights_of_package(&w, &pkg, m, &err)
 *     struct weights_fit f;
 *     if (weights_fit(&w, &contract, true, &f, &err) < 0) ...          // err names the missing weights, or those of another shape
 *     f.v[i].name, f.v[i].meta, f.v[i].data                            // the model's constants, laid out as it reads them
 *     weights_fit_release(&f);
 *     weights_close(&w);
 *
 * Files: .safetensors, .pt (a state dict, as torch.save writes it), .npz; and programs saved by torch.export.save (torch 2.13 and 2.15,
 * torch/export/pt2_archive/_package.py, _package_state_dict and _package_constants):
 *     ROOT/models/NAME.json                              the program: not read here
 *     ROOT/data/weights/NAME_weights_config.json         {"config": {"fc.weight": {"path_name": "weight_0", "use_pickle": false,
 *                                                         "tensor_meta": {"dtype": 7, "sizes": [{"as_int": 16}], "strides": ...,
 *                                                         "storage_offset": {"as_int": 0}}}}}
 *     ROOT/data/weights/weight_0                         a storage's raw bytes; with use_pickle torch.save's
 *     ROOT/data/constants/NAME_constants_config.json     the same
 *     ROOT/data/weights/NAME.pt, ROOT/data/constants/NAME.pt   the two as state dicts, before 2.9
 *     serialized_state_dict.pt, serialized_constants.pt        the same, before 2.8, beside serialized_exported_program.json; so does
 *                                                              executorch's exir.save (1.5.1)
 * A compiled package may contain them, too (aot_inductor.package_constants_on_disk_format = "pickle_weights"; _package_aoti_files):
 *     ROOT/data/aotinductor/MODEL/weights_config.json    {"fc.weight": ["weight_0", [16, 8], [8, 1], 0]}   sizes, strides, offset
 *     ROOT/data/weights/weight_0                         torch.save's
 *
 * A tensor subclass (torchao's) has its parts as weights: "fc.weight.qdata", "fc.weight.scale"; they fit the constant "fc.weight", whatever
 * their shapes.
 *
 * They are found by a constant's module path (fqn), else by its own name; a tensor constant that the compiler has renamed (the export's "k"
 * is _tensor_constant0) by being the only one left of its type and shape. Constants that the compiler folds at run time are never looked
 * up. Views point into the mapped files: data is copied only if its layout differs.
 *
 * Failure: -1 and err (EXIT_INPUT), which names the file and the weight.
 */
#ifndef PT2_WEIGHTS_H
#define PT2_WEIGHTS_H
#include "model/contract/contract.h"
#include "model/package/package.h"
#include "tensor/write.h"

struct weights {
	const char *path; /* for messages */
	struct tensor_view *v;
	size_t n, cap;
	size_t n_behind;    /* the last of them are fallbacks: used for what the others lack, and not reported if unused */
	struct package own; /* the exported program */
	struct tensor_file **file;
	size_t n_file, cap_file;
	struct arena arena;
};

int weights_open(struct weights *w, const char *path, struct err *err);
/* 1: the package contains its model's weights as files; 0: it does not (w needs no closing). pkg must outlive w. */
int weights_of_package(struct weights *w, struct package *pkg, const struct package_model *m, struct err *err);
/* Uses another as a fallback for weights that w lacks; it must outlive w. */
void weights_behind(struct weights *w, const struct weights *other);
void weights_close(struct weights *w);

struct weights_fit {
	struct tensor_view *v; /* name: the constant's name in the model */
	size_t n;
	struct buf kept;    /* constants missing in w, or only in its fallback, "a, b and 3 more" */
	struct buf surplus; /* weights that no constant uses */
	size_t n_kept, n_surplus;
	struct arena arena;
};
/* all: the model has no weights of its own, and what is missing is a failure. Dtypes and shapes must be those of the contract; it is also a
 * failure if no weight of w belongs to the model. w must outlive f. */
int weights_fit(const struct weights *w, const struct contract *c, bool all, struct weights_fit *f, struct err *err);
void weights_fit_release(struct weights_fit *f);
/* Describes a constant as a tensor; its sizes and strides have to be integers. */
void constant_meta(const struct contract_constant *c, struct tensor_meta *m);

#endif

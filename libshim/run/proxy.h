/* proxy.h - the proxy executor of pt2-runner: behind aoti_torch_proxy_executor_call_function().
 *
 *     struct proxy *p = proxy_open(so, nodes, &err);          // with an installed libtorch; fails if something cannot be called
 *     model->run(..., p);                                      // our function, exported by pt2-runner, comes before libtorch's
 *     proxy_close(p);
 *
 * libtorch's own executor is a C++ class that is not exported. Ours reads the same list (model/package/externnodes.h) and calls the
 * operators through libtorch's stable C interface, aoti_torch_call_dispatcher() (torch 2.13, torch/csrc/stable/c/shim.h). What that does
 * not support is rejected before anything runs: Scalar, Any, Generator, Dict, custom classes.
 *
 * With libpt2shim.so its own executor is called (libshim/proxy.h).
 */
#ifndef PT2_RUN_PROXY_H
#define PT2_RUN_PROXY_H
#include "model/cppwrapper/opschema.h"
#include "base/arena.h"

struct proxy;

/* so: the runtime, a handle of dlopen(). json: the extern nodes; only needed during the call. */
struct proxy *proxy_open(void *so, const char *model, struct slice json, struct err *err);
void proxy_close(struct proxy *p);
const char *proxy_last_error(const struct proxy *p); /* of the last call, "" if none */

/* The schema of an operator as printed by libtorch's dispatcher, NUL-terminated, in a. NULL: it does not have it, or (*untold) this
 * libtorch cannot be asked. */
const char *dispatcher_schema(void *so, struct arena *a, const char *op, const char *overload, bool *untold);

#endif

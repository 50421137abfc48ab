/* component.h - which component a message or finding is about, and its severity. */
#ifndef PT2_COMPONENT_H
#define PT2_COMPONENT_H

/* The components of the compiler, in the order in which a program meets them. */
enum component {
	COMPONENT_NONE,
	COMPONENT_DYNAMO,      /* capturing the frame */
	COMPONENT_AOTAUTOGRAD, /* tracing forward and backward */
	COMPONENT_INDUCTOR,    /* passes, lowering, scheduling */
	COMPONENT_CODEGEN,     /* writing the kernels */
	COMPONENT_COMPILER,    /* g++, Triton, nvcc, linking, loading their output */
	COMPONENT_RUNTIME,     /* running compiled code, including guards */
	COMPONENT_BACKEND,     /* a backend other than Inductor */
	COMPONENT_EXPORT,      /* torch.export, draft export */
	COMPONENT_LOAD,        /* loading a package */
	COMPONENT_EAGER,       /* the program's own error: eager fails too */
	COMPONENT_ENVIRONMENT, /* disk, memory, missing programs, versions */
	COMPONENTS,
};
extern const char *const component_name[COMPONENTS];  /* "dynamo" */
extern const char *const component_title[COMPONENTS]; /* "TorchDynamo (capturing the graph)" */

enum finding_level { FINDING_NOTE, FINDING_WARNING, FINDING_ERROR };
extern const char *const finding_level_name[3]; /* "note", "warning", "error": SARIF's words */

#endif

#include "run/patterns/component.h"

const char *const component_name[COMPONENTS] = {
    [COMPONENT_NONE] = "none",         [COMPONENT_DYNAMO] = "dynamo",   [COMPONENT_AOTAUTOGRAD] = "aotautograd",
    [COMPONENT_INDUCTOR] = "inductor", [COMPONENT_CODEGEN] = "codegen", [COMPONENT_COMPILER] = "compiler",
    [COMPONENT_RUNTIME] = "runtime",   [COMPONENT_BACKEND] = "backend", [COMPONENT_EXPORT] = "export",
    [COMPONENT_LOAD] = "load",         [COMPONENT_EAGER] = "eager",     [COMPONENT_ENVIRONMENT] = "environment",
};
const char *const component_title[COMPONENTS] = {
    [COMPONENT_NONE] = "no component",
    [COMPONENT_DYNAMO] = "TorchDynamo (capturing the graph)",
    [COMPONENT_AOTAUTOGRAD] = "AOTAutograd (tracing forward and backward)",
    [COMPONENT_INDUCTOR] = "Inductor (passes, lowering, scheduling)",
    [COMPONENT_CODEGEN] = "Inductor's code generation",
    [COMPONENT_COMPILER] = "the C++ or Triton compiler",
    [COMPONENT_RUNTIME] = "run time (compiled code and its guards)",
    [COMPONENT_BACKEND] = "the backend",
    [COMPONENT_EXPORT] = "torch.export",
    [COMPONENT_LOAD] = "loading the package",
    [COMPONENT_EAGER] = "the program's own code",
    [COMPONENT_ENVIRONMENT] = "the environment",
};
const char *const finding_level_name[3] = {"note", "warning", "error"};

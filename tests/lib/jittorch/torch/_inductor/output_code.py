"""CompiledFxGraph, as much as is needed."""


class BoxedBool:
    def __init__(self, value):
        self.value = value

    @staticmethod
    def disable(o):
        o.value = False
        return o


class CompiledFxGraph:
    def __init__(self, current_callable):
        self.current_callable = current_callable

    def after_deserialization(self, current_callable):
        self.current_callable = current_callable

    def __call__(self, inputs):
        return self.current_callable(inputs)


def cudagraph_post_compile(inputs, graph, cudagraphs):
    raise AssertionError("a CUDA graph was made")

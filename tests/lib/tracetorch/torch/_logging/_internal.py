import json
import logging
import os
import tempfile

trace_log = logging.getLogger("torch.__trace")
trace_log.setLevel(logging.DEBUG)
trace_log.propagate = False

if "TRACETORCH_OLD" not in os.environ:  # else: a torch without these

    class TorchLogsFormatter(logging.Formatter):
        def __init__(self, *, trace=False):
            super().__init__()

        def format(self, record):
            record.message, prefix = "", "V1121 07:59:23.043000 %d torch/_dynamo/convert_frame.py:915] " % os.getpid()
            lines = [json.dumps(record.metadata)]
            if record.payload is not None:
                lines += ["\t" + line for line in record.payload.split("\n")]
            return prefix + "\n".join(lines)

    class LazyTraceHandler(logging.StreamHandler):
        def __init__(self, root_dir):
            self.root_dir, self.stream = root_dir, None
            logging.Handler.__init__(self)

        def emit(self, record):
            if self.stream is None:
                self.stream = tempfile.NamedTemporaryFile("w+", suffix=".log", prefix="dedicated_log_torch_trace_", dir=self.root_dir, delete=False)
            super().emit(record)

        def close(self):
            if self.stream:
                self.stream.close()
                self.stream = None
            super().close()

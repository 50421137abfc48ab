import contextlib
import json
import time


class Tracker:
    """A run's metrics as JSON lines, and the time of named sections."""

    def __init__(self, path):
        self.path, self.step, self.seconds = path, 0, {}
        open(path, "w").close()

    def log(self, **values):
        with open(self.path, "a") as f:
            f.write(json.dumps({"step": self.step, **values}) + "\n")

    @contextlib.contextmanager
    def section(self, name):
        t = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - t

import random
from types import SimpleNamespace


class Timer:
    def __init__(self, stmt="pass", globals=None, label=None, sub_label=None):
        self.spec = SimpleNamespace(stmt=stmt, label=label, sub_label=sub_label, description=None, env=None, num_threads=1)
        self.globals = globals or {}

    def blocked_autorange(self):
        ms = eval(self.spec.stmt, self.globals)
        return SimpleNamespace(task_spec=self.spec, times=[ms / 1e3 * (1 + 0.002 * random.random()) for _ in range(9)])

import random

import torch


class Event:
    def __init__(self, enable_timing=False):
        pass

    def record(self):
        pass

    def elapsed_time(self, end):
        return torch.duration * (1 + 0.002 * random.random())

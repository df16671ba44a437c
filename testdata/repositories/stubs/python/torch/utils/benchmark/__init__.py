from .utils.timer import Timer

import statistics

import torch


def do_bench(fn, warmup=25, rep=100, grad_to_none=None, percentiles=(0.5, 0.2, 0.8), record_clocks=False, fast_flush=False):
    fn()
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    for _ in range(5):
        fn()
    end.record()
    torch.cuda.synchronize()
    estimate = start.elapsed_time(end) / 5
    starts = [torch.cuda.Event(enable_timing=True) for _ in range(max(1, int(rep / estimate)))]
    ends = [torch.cuda.Event(enable_timing=True) for _ in starts]
    for start, end in zip(starts, ends):
        start.record()
        fn()
        end.record()
    torch.cuda.synchronize()
    return statistics.median(s.elapsed_time(e) for s, e in zip(starts, ends))

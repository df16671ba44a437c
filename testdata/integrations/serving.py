"""Stands in for the serving benchmarks of vLLM and SGLang: the server on port 8001 is a fifth slower."""

import argparse
import random


def measure(argv, file_option):
    p = argparse.ArgumentParser()
    p.add_argument("--port", type=int)
    p.add_argument("--num-prompts", type=int)
    p.add_argument("--model")
    p.add_argument("--backend")
    p.add_argument(file_option, dest="file")
    for flag in ("--save-result", "--save-detailed", "--output-details"):
        p.add_argument(flag, action="store_true")
    a = p.parse_args(argv)
    cost = {8000: 1.0, 8001: 1.2}[a.port]

    def second(s):
        return s * cost * (1 + 0.002 * random.random())

    n = a.num_prompts
    duration = second(n / 10)
    result = {
        "backend": a.backend or "vllm", "completed": n, "duration": duration, "request_throughput": n / duration, "output_throughput": 3 * n / duration,
        "input_lens": [100] * n, "output_lens": [3] * n, "errors": [""] * n, "generated_texts": [""] * n,
        "ttfts": [second(0.05) for _ in range(n)], "itls": [[second(0.01), second(0.01)] for _ in range(n)],
    }  # fmt: skip
    return a, result

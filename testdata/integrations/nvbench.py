#!/usr/bin/env python3
"""Stands in for a program built with NVBench: its times follow from kernel.cuh."""

import json
import os
import random
import re
import struct
import sys

out = sys.argv[sys.argv.index("--jsonbin") + 1]
with open("kernel.cuh") as f:
    threads = int(re.search(r"threads = (\d+)", f.read()).group(1))
os.makedirs(out + "-bin", exist_ok=True)
times = [1e-4 * (1 + 64 / threads) * (1 + 0.002 * random.random()) for _ in range(50)]
with open(out + "-bin/0.bin", "wb") as f:
    f.write(struct.pack("<50f", *times))


def named(name, kind, value):
    return {"name": name, "type": kind, "value": str(value)}


state = {
    "name": "Device=0 Elements=2^20", "device": 0, "is_skipped": False,
    "axis_values": [named("Elements", "int64", 1 << 20)],
    "summaries": [
        {"tag": "nv/cold/sample_size", "data": [named("value", "int64", 50)]},
        {"tag": "nv/cold/time/gpu/mean", "data": [named("value", "float64", sum(times) / 50)]},
        {"tag": "nv/json/bin:nv/cold/sample_times", "data": [named("filename", "string", os.path.basename(out) + "-bin/0.bin"), named("size", "int64", 50)]},
    ],
}  # fmt: skip
device = {"id": 0, "name": "NVIDIA L4", "sm_version": 890, "number_of_sms": 58, "global_memory_size": 23663149056, "l2_cache_size": 50331648, "ecc_state": True}
with open(out, "w") as f:
    json.dump({"meta": {"version": {"nvbench": {"string": "0.1.0"}}}, "devices": [device], "benchmarks": [{"name": "copy", "states": [state]}]}, f)

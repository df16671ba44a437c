import json
import sys

import serving

a, result = serving.measure(sys.argv[1:], "--output-file")
result.update(dataset_name="random", request_rate=4.0, max_concurrency=None, random_input_len=100, random_output_len=3, random_range_ratio=0.0)
with open(a.file, "a") as f:
    print(json.dumps(result), file=f)

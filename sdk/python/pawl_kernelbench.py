"""Lets pawl judge problems in the form of KernelBench: a file with Model, get_inputs and get_init_inputs.

    pawl sdk python && pawl sdk kernelbench             # in the folder of the problems, such as level1
    python3 pawl_kernelbench.py suite 1_Square.py       # writes 1_Square.yaml
    git add . && git commit -m 'problems'
    pawl submit grant --suite 1_Square.yaml --trust trusted

The candidate is candidates/1_Square.py with the class ModelNew. Without that file Model is measured, so the base of all
speed-ups is the problem's own code:

    import pawl_kernelbench, pawl_submit

    answer = pawl_submit.evaluate({"candidates/1_Square.py": source}, suite="level1/1_Square.yaml")
    pawl_kernelbench.add_result("eval_results.json", "level1/1_Square.yaml", 1, 0, answer)

add_result writes the file that KernelBench's scripts analyze. `pawl_kernelbench.py harness FILE` is the harness that pawl
starts. Both models are made with the same seed, as KernelBench does, so ModelNew has to draw its weights in the same order.
Candidates run in the process that measures them: this is for code that you trust, or for a sandbox.
"""

import importlib.util
import json
import os
import pathlib
import statistics
import sys
from typing import Any, Dict, List

TOLERANCE = {"f32": 1e-4, "f16": 1e-2, "bf16": 1e-2, "f64": 1e-4}  # of KernelBench


def _load(path: str) -> Any:
    """Imports a file as a module of its own."""
    spec = importlib.util.spec_from_file_location("problem_" + pathlib.Path(path).stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _number(path: str) -> int:
    """Returns the number of a problem, with which its file's name starts."""
    head = pathlib.Path(path).stem.split("_")[0]
    return int(head) if head.isdigit() else 0


def _device(torch: Any) -> str:
    return "cuda" if torch.cuda.is_available() else "cpu"


def _inputs(torch: Any, problem: Any) -> List[Any]:
    """Returns the inputs of a run on the device."""
    return [x.to(_device(torch)) if isinstance(x, torch.Tensor) else x for x in problem.get_inputs()]


def _outputs(result: Any) -> List[Any]:
    return list(result) if isinstance(result, (tuple, list)) else [result]


def _harness(path: str) -> None:
    """Serves the model of a problem, and the candidate's if there is one."""
    import pawl_harness as pawl  # before torch

    import torch

    problem = _load(path)
    candidate = os.path.join("candidates", os.path.basename(path))

    def setup(make: Any) -> Any:
        model = make(*problem.get_init_inputs()).to(_device(torch)).eval()
        inputs = _inputs(torch, problem)
        for i, x in enumerate(inputs):
            if isinstance(x, torch.Tensor):
                pawl.input(f"x{i}", x)
        with torch.no_grad():
            count = len(_outputs(model(*inputs)))
        for i in range(count):
            pawl.output(f"y{i}")

        def run() -> Any:
            with torch.no_grad():
                return model(*inputs)

        return run

    name = pathlib.Path(path).stem

    @pawl.benchmark(name, configs=[{"problem": _number(path)}])
    def measured() -> Any:
        return setup(_load(candidate).ModelNew if os.path.exists(candidate) else problem.Model)

    @pawl.benchmark(name, implementation="reference")
    def reference() -> Any:
        return setup(problem.Model)

    pawl.main([])


def _suite(path: str) -> str:
    """Writes the suite of a problem and returns its path."""
    import torch

    problem = _load(path)
    torch.manual_seed(0)
    model = problem.Model(*problem.get_init_inputs()).to(_device(torch)).eval()
    inputs = _inputs(torch, problem)
    with torch.no_grad():
        outputs = _outputs(model(*inputs))
    words = {torch.float32: "f32", torch.float64: "f64", torch.float16: "f16", torch.bfloat16: "bf16", torch.int32: "i32", torch.int64: "i64"}
    arguments = {}
    for role, tensors in (("in", inputs), ("out", outputs)):
        for i, x in enumerate(tensors):
            if isinstance(x, torch.Tensor):
                arguments[("x" if role == "in" else "y") + str(i)] = {role: words[x.dtype], "shape": list(x.shape)}
    bound = max(TOLERANCE.get(words[y.dtype], 0.0) for y in outputs)
    file = pathlib.Path(path)
    document = {
        "version": 1,
        "name": file.stem,
        "harness": {"command": f"{os.path.basename(sys.executable)} pawl_kernelbench.py harness {file.name}"},
        "definition": [file.name, "pawl_kernelbench.py", "pawl_harness.py"],
        "measure": {} if torch.cuda.is_available() else {"timer": "wall"},
        "implementations": {"reference": {}},
        "benchmarks": {
            file.stem: {
                "matrix": {"problem": [_number(path)]},
                "implementations": ["candidate"],
                "arguments": arguments,
                "check": {"implementation": "reference", "tolerance": {"atol": bound, "rtol": bound}},
            }
        },
    }
    out = file.with_suffix(".yaml")
    # JSON is YAML; a key a line keeps it readable.
    out.write_text("".join(f"{key}: {json.dumps(value)}\n" for key, value in document.items()), encoding="utf-8")
    return str(out)


def result(answer: Dict[str, Any], suite: str, sample: int = 0) -> Dict[str, Any]:
    """Returns an answer of pawl submit as an entry of KernelBench's eval_results.json. Times are milliseconds."""
    status = answer["status"]
    right = status in ("measured", "passed", "identical")
    metadata = {k: answer[k] for k in ("status", "verdict", "reason", "detail", "speedup", "interval", "errors", "worst_input") if k in answer}
    stats: Dict[str, Any] = {}
    if status == "measured":
        file = pathlib.Path(suite)
        record = json.loads((file.parent / ".pawl" / "attempts" / file.stem / answer["id"] / "run" / "current.json").read_text(encoding="utf-8"))
        dropped = {r["round"] for r in record.get("rounds", []) if r.get("dropped")}
        rounds = [r for c in record["cases"] if c["implementation"] == "candidate" and not c.get("metric") for r in c["rounds"]]
        times = [t / 1e6 for r in rounds if r["round"] not in dropped for t in r["samples"] or []]
        stats = {"mean": statistics.mean(times), "std": statistics.pstdev(times), "min": min(times), "max": max(times), "num_trials": len(times)}
        stats["hardware"] = record["device"].get("name", "")
    compiled = right or status in ("compiled", "wrong", "crashed", "timeout", "rejected")
    return {"sample_id": sample, "compiled": compiled, "correctness": right, "metadata": metadata, "runtime": stats.get("mean", -1.0), "runtime_stats": stats}


def add_result(path: str, suite: str, problem: int, sample: int, answer: Dict[str, Any]) -> None:
    """Adds an answer to a file of results, or replaces that of the same sample."""
    results = json.loads(pathlib.Path(path).read_text(encoding="utf-8")) if os.path.exists(path) else {}
    kept = [r for r in results.get(str(problem), []) if r["sample_id"] != sample]
    results[str(problem)] = sorted(kept + [result(answer, suite, sample)], key=lambda r: r["sample_id"])
    text = json.dumps(dict(sorted(results.items(), key=lambda item: int(item[0]))), indent=4)
    pathlib.Path(path).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in ("harness", "suite"):
        sys.exit("usage: pawl_kernelbench.py suite FILE... | harness FILE")
    if sys.argv[1] == "harness":
        _harness(sys.argv[2])
    else:
        for problem_file in sys.argv[2:]:
            print(_suite(problem_file))

import pytest

from pytest_benchmark.fixture import BenchmarkFixture


@pytest.fixture
def benchmark(request):
    return BenchmarkFixture(request.node)

// A stand-in for Google Benchmark: a benchmark says by SetIterationTime how many seconds one run takes.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace benchmark {
struct State {
  double seconds = 0;
  void SetIterationTime(double s) { seconds = s; }
};
struct Entry {
  std::string name;
  void (*run)(State &);
};
inline std::vector<Entry> &entries() {
  static std::vector<Entry> list;
  return list;
}
inline int add(const char *name, void (*run)(State &)) {
  entries().push_back({name, run});
  return 0;
}
inline int main_(int argc, char **argv) {
  FILE *out = stdout;
  int repetitions = 1;
  for (int i = 1; i < argc; i++) {
    if (!strncmp(argv[i], "--benchmark_out=", 16)) out = fopen(argv[i] + 16, "w");
    if (!strncmp(argv[i], "--benchmark_repetitions=", 24)) repetitions = atoi(argv[i] + 24);
  }
  srand(getpid());
  fprintf(out, "{\"context\":{\"library_build_type\":\"release\"},\"benchmarks\":[");
  const char *comma = "";
  for (auto &e : entries())
    for (int i = 0; i < repetitions; i++, comma = ",") {
      State s;
      e.run(s);
      double ns = s.seconds * 1e9 * (1 + 0.002 * rand() / RAND_MAX);
      fprintf(out, "%s{\"name\":\"%s\",\"run_name\":\"%s\",\"run_type\":\"iteration\",\"repetition_index\":%d,\"iterations\":10,\"real_time\":%f,\"cpu_time\":%f,\"time_unit\":\"ns\"}",
              comma, e.name.c_str(), e.name.c_str(), i, ns, ns);
    }
  fprintf(out, "]}\n");
  return fclose(out);
}
} // namespace benchmark
#define BENCHMARK(f) static int added_##f = benchmark::add(#f, f)
#define BENCHMARK_MAIN() \
  int main(int argc, char **argv) { return benchmark::main_(argc, argv); }

#include <iostream>
#include <stdexcept>
#include <thread>
#include <vector>

extern "C" void scale(const float *x, float *out, int n) {
  const std::vector<float> copy(x, x + n);
  std::thread half([&] {
    for (int i = 0; i < n / 2; i++) out[i] = 2 * copy[i] + 1;
  });
  for (int i = n / 2; i < n; i++) out[i] = 2 * copy[i] + 1;
  half.join();
  try {
    throw std::runtime_error("caught");
  } catch (const std::exception &e) {
    std::cerr << e.what() << std::endl;
  }
}

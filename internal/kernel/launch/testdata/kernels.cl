// Kernels for the tests, honest and not: out[i] = 2 * x[i] + 1 for n floats.

kernel void honest(global const float *x, global float *out, int n) {
  const int i = get_global_id(0);
  if (i < n) out[i] = FACTOR * x[i] + 1;
}

kernel void honest_local(global const float *x, global float *out, int n) {
  local float part[64];
  const int i = get_global_id(0);
  part[get_local_id(0)] = i < n ? x[i] : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < n) out[i] = FACTOR * part[get_local_id(0)] + 1;
}

kernel void leaves_poison(global const float *x, global float *out, int n) {}

kernel void leaves_half(global const float *x, global float *out, int n) {
  const int i = get_global_id(0);
  if (i < n / 2) out[i] = FACTOR * x[i] + 1;
}

kernel void writes_input(global float *x, global float *out, int n) {
  const int i = get_global_id(0);
  if (i < n) out[i] = FACTOR * x[i] + 1;
  if (i == n / 2) x[i] = 0;
}

kernel void writes_behind(global const float *x, global float *out, int n) {
  const int i = get_global_id(0);
  if (i <= n) out[i] = i < n ? FACTOR * x[i] + 1 : 7;
}

kernel void writes_before(global const float *x, global float *out, int n) {
  const int i = get_global_id(0);
  if (i < n) out[i] = FACTOR * x[i] + 1;
  if (i == 0) out[-3] = 7;
}

kernel void wrong(global const float *x, global float *out, int n) {
  const int i = get_global_id(0);
  if (i < n) out[i] = FACTOR * x[i] + (i == 7 ? 2 : 1);
}

kernel void copies_neighbour(global const float *x, global float *out, int n) {
  const int i = get_global_id(0);
  if (i < n) out[i] = FACTOR * x[i / 2 * 2] + 1;
}

kernel void three_arguments_and_one(global const float *x, global float *out, int n, int more) {
  if (more) out[0] = x[n - 1];
}

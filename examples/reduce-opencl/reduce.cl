// Sums floats in two steps: each work-group reduces its share in local memory and writes one partial sum, and one
// work-group then reduces those. GROUP is the size of a work-group, a power of two, and VECTOR how many floats a work-item
// reads at once: 1, 2, 4, 8 or 16. Both are given when the program is built.

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

#if VECTOR == 1
float sum_of(global const float *in, int count, int from, int step) {
  float mine = 0;
  for (int i = from; i < count; i += step) mine += in[i]; // neighbours read neighbours
  return mine;
}
#else
float sum_of(global const float *in, int count, int from, int step) {
  union {
    JOIN(float, VECTOR) all;
    float each[VECTOR];
  } sums;
  float mine = 0;
  sums.all = 0;
  for (int i = from; i < count / VECTOR; i += step) sums.all += JOIN(vload, VECTOR)(i, in);
  for (int i = count / VECTOR * VECTOR + from; i < count; i += step) mine += in[i];
  for (int i = 0; i < VECTOR; i++) mine += sums.each[i];
  return mine;
}
#endif

float reduce_in_group(float mine, local float *sums) {
  const int me = get_local_id(0);
  sums[me] = mine;
  for (int reach = GROUP / 2; reach > 0; reach /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (me < reach) sums[me] += sums[me + reach];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  return sums[0];
}

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void reduce(global const float *in, int count, global float *out) {
  local float sums[GROUP];
  const float all = reduce_in_group(sum_of(in, count, get_global_id(0), get_global_size(0)), sums);
  if (get_local_id(0) == 0) out[get_group_id(0)] = all;
}

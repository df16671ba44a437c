// Sums floats in two steps: each work-group reduces its share in local memory and writes one partial sum, and one
// work-group then reduces those. GROUP is the size of a work-group, a power of two, given when the program is built.

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
  float mine = 0;
  for (int i = get_global_id(0); i < count; i += get_global_size(0)) mine += in[i]; // neighbours read neighbours
  const float all = reduce_in_group(mine, sums);
  if (get_local_id(0) == 0) out[get_group_id(0)] = all;
}

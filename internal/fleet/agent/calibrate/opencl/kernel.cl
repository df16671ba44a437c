/* The kernel of a calibration through OpenCL: y[i] = x[i] after 256 times y = 0.999 * y + x. It must not change: its noise is
   compared with that of earlier calibrations. */
kernel void calibration(global const float *x, global float *y, int n) {
  const int i = (int)get_global_id(0);
  if (i >= n) return;
  const float add = x[i];
  float sum = add;
  for (int k = 0; k < 256; k++) sum = mad(sum, 0.999f, add);
  y[i] = sum;
}

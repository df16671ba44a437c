/* The timer "kernel" of pawl.h, for the kernel that is launched. */

static int is_launched(const char *kernel) { return strcmp(kernel, launching.calibration ? "pawl_chain" : launching.kernel) == 0; }

/* Finds the step with kernels of many lengths, as that of events is found. */
static double record_step(void) {
  int i;
  for (i = 0; i < STEP_PAIRS; i++) {
    long long cycles = 257LL * i;
    void *parameters[] = {&device.go_on_device, &cycles};
    device.go[0] = device.go[1] = 0;
    must(cu.launch(device.hold, 1, 1, 1, 1, 1, 1, 0, device.stream, parameters, NULL), "measuring the step of the device's timer");
    must(cu.stream_synchronize(device.stream), "measuring the step of the device's timer");
  }
  pawli_forget_records();
  return pawli_records.step > 0 ? pawli_records.step : 1;
}

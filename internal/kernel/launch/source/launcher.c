/* pawl's own harness: launches a kernel that a change brings, from a file and a launch specification, without running
   any host code of the change in this process. It speaks the harness protocol and brings no benchmark of its own.

   Compiled once a kind of device: -DLAUNCH_HOST, -DLAUNCH_OPENCL or -DLAUNCH_CUDA. JSON, pipes and failing are pawl.h's. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
/* What goes over every byte of a buffer must run at the speed of memory. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define PAWLI_WIDE __attribute__((optimize("O3"), target_clones("arch=skylake-avx512", "avx2", "default")))
#endif
#if defined(LAUNCH_CUDA)
#define PAWLI_RECORDS
#endif
#include "pawl.h"

#include "argument.h"
#include "fill.h"
#include "safetensors.h"

typedef struct launch { /* what prepare says of the kernel */
  char file[4096], kernel[512], options[4096];
  long long grid[3], block[3], shared, cluster[3]; /* cluster[0] is 0 without clusters */
  int cooperative, dependent;
  int calibration; /* the launcher's own kernel, without arguments */
} launch;

static launch launching;

#include "buffer.h"
#if defined(LAUNCH_HOST)
#include "host.h"
#elif defined(LAUNCH_OPENCL)
#include "opencl.h"
#elif defined(LAUNCH_CUDA)
#include "cuda.h"
#endif
#ifndef DEVICE_HAS_RECORDS
#define DEVICE_HAS_RECORDS() 0
#endif
#include "sample.h"

#define OBSERVED 10 /* one sample of so many is looked at twice */

static void answer_hello(const char *request) {
  const char *s;
  double version = 0;
  int i;
  for (s = first_element(pawli_member(request, "protocol")); s && version != 1; s = next_element(s)) pawli_number(s, &version);
  if (version != 1) pawl_fail_as("unsupported", "the launcher speaks protocol [1] only");
  if (!pawli.opened) device_open(pawli_member(request, "device"));
  pawli.opened = 1;
  pawli_begin("hello");
  pawli_put(",\"protocol\":1,\"sdk\":\"pawl launcher 1.0.0 (" DEVICE_KIND ")\",\"calibration\":true"
            ",\"features\":[\"check\",\"run\",\"keep\",\"verify\",\"profile\",\"launch\"],\"timers\":");
  for (i = DEVICE_FIRST_TIMER; i <= DEVICE_LAST_TIMER; i++)
    pawli_put("%s\"%s\"", i == DEVICE_FIRST_TIMER ? "[" : ",", pawli_timer_names[i]);
  if (DEVICE_HAS_RECORDS()) pawli_put(",\"" PAWLI_KERNEL_TIMER "\"");
  pawli_put("],\"device\":{\"name\":");
  pawli_put_string(pawli.device_name);
  pawli_put_fact("runtime", pawli.runtime);
  pawli_put("}");
  pawli_send();
}

static void answer_cases(const char *request) {
  (void)request;
  pawli_begin("cases");
  pawli_put(",\"benchmarks\":[]");
  pawli_send();
}

/* ---- prepare ---- */

static int is_prepared;

static void release(void) {
  is_prepared = 0;
  free_sets();
  device_unload();
  forget_kept();
}

static int is_true(const char *json) { return json && *json == 't'; }

static void read_launch(const char *json) {
  const char *const kind = pawli_member(json, "kind");
  double shared;
  int i;
  if (!json || *json != '{')
    pawl_fail_as("unsupported", "prepare says nothing of what to launch: the benchmark needs launch: in the suite");
  if (!pawli_is(kind, DEVICE_KIND)) pawl_fail_as("unsupported", "this launcher is for " DEVICE_KIND ", not for %s", pawli_quote(kind));
  text_member(json, "file", launching.file, sizeof launching.file);
  text_member(json, "kernel", launching.kernel, sizeof launching.kernel);
  text_member(json, "options", launching.options, sizeof launching.options);
  if (launching.file[0] != '/') pawl_fail_as("bad_params", "launch.file is not absolute");
  if (!launching.kernel[0]) pawl_fail_as("bad_params", "launch.kernel names nothing");
  for (i = 0; i < 3; i++) launching.grid[i] = launching.block[i] = 1;
  read_sizes(pawli_member(json, "grid"), 0, launching.grid, 3, "launch.grid");
  read_sizes(pawli_member(json, "block"), 0, launching.block, 3, "launch.block");
  memset(launching.cluster, 0, sizeof launching.cluster);
  read_sizes(pawli_member(json, "cluster"), 1, launching.cluster, 3, "launch.cluster");
  launching.cooperative = is_true(pawli_member(json, "cooperative"));
  launching.dependent = is_true(pawli_member(json, "dependent"));
  for (i = 0; i < 3; i++) {
    if (launching.grid[i] > INT32_MAX || launching.block[i] > INT32_MAX || launching.cluster[i] > INT32_MAX)
      pawl_fail_as("bad_params", "launch: a size is above 2^31");
    if (!launching.grid[i]) launching.grid[i] = 1;
    if (!launching.block[i]) launching.block[i] = 1;
    if (launching.cluster[0] && !launching.cluster[i]) launching.cluster[i] = 1;
  }
  shared = pawli_amount(json, "shared", 0);
  launching.shared = shared < INT32_MAX ? (long long)shared : INT32_MAX;
}

static void read_timer(const char *request) {
  const char *const timer = pawli_member(request, "timer"), *const cache = pawli_member(request, "cache");
  int i = DEVICE_FIRST_TIMER;
  pawli.by_records = timer && pawli_is(timer, PAWLI_KERNEL_TIMER) && DEVICE_HAS_RECORDS();
  while (!pawli.by_records && timer && i <= DEVICE_LAST_TIMER && !pawli_is(timer, pawli_timer_names[i])) i++;
  if (i > DEVICE_LAST_TIMER) pawl_fail_as("unsupported", "there is no timer %s here", pawli_quote(timer));
  pawli.timer = (pawli_timer)i;
  pawli.cold = pawli_is(cache, "cold");
  if (cache && !pawli.cold && !pawli_is(cache, "hot")) pawl_fail_as("unsupported", "cache is hot or cold, not %s", pawli_quote(cache));
}

static void prepare(void *with) {
  const char *const request = (const char *)with;
  if (!pawli.opened) device_open(NULL);
  pawli.opened = 1;
  read_timer(request);
  read_key(request);
  untimed_runs = 0;
  pawli.batch = 0;
  pawli.note[0] = 0;
  memset(&launching, 0, sizeof launching);
  launching.calibration = pawli_is(pawli_member(request, "benchmark"), PAWLI_CALIBRATION);
  if (launching.calibration) {
    arguments.count = 0;
    device_calibration();
  } else {
    read_arguments(pawli_member(request, "arguments"));
    read_launch(pawli_member(request, "launch"));
  }
  device_load();
  make_sets();
  device_begin();
  pawli.quantum_ns = device_quantum(pawli.timer);
}

static void answer_prepare(const char *request) {
  release();
  if (pawli_try(prepare, (void *)request)) {
    release();
    pawli_raise();
  }
  is_prepared = 1;
  pawli_begin("prepare");
  pawli_put(",\"timer\":\"%s\",\"quantum_ns\":", pawli.by_records ? PAWLI_KERNEL_TIMER : pawli_timer_names[pawli.timer]);
  pawli_put_number(pawli.quantum_ns);
  pawli_send();
}

static void need_prepared(void) {
  if (!is_prepared || !device_alive()) pawl_fail("nothing is prepared: ask for prepare first");
}

/* ---- measure ---- */

static void put_readings(int count) {
  int i;
  pawli_put_numbers("samples", pawli.part[pawli.timer], count);
  for (i = DEVICE_FIRST_TIMER; i <= DEVICE_LAST_TIMER; i++)
    if (i != (int)pawli.timer && i != PAWLI_TIMER_DEVICE) pawli_put_numbers(pawli_timer_names[i], pawli.part[i], count);
  pawli_put_sums();
}

/* Takes sample number n, and looks at it as long as must be. */
static void take_and_look(double n, pawli_reading *r) {
  static sample s;
  int place = -1;
  const double until = pawli_clock(CLOCK_MONOTONIC) + PAWLI_STALL_NS;
  const run first = {pawli.verify.run, 1};
  do take_sample(&s, pawli.batch, keeping.seed + (uint64_t)n, pawli.verify.on ? &first : NULL, r);
  while (!(r->by[pawli.timer] > 0) && pawli_clock(CLOCK_MONOTONIC) < until);
  if (!(r->by[pawli.timer] > 0)) pawl_fail("the timer %s did not move for a second", pawli_timer_names[pawli.timer]);
  sum_sample(&s);
  if (keeping.wanted) place = place_to_keep(n);
  if (place >= 0) keep_sample(&s, place, n);
  if (place >= 0 || random_below(STREAM_LOOKS, OBSERVED) == 0) look_later(&s);
}

static void answer_measure(const char *request) {
  const double samples = pawli_amount(request, "samples", 0), busy_ns = pawli_amount(request, "busy_ns", 0);
  const char *const warmup = pawli_member(request, "warmup");
  double count = 0, now, start, sent, looked;
  pawli_reading r;
  int i, here = 0;
  if (samples == 0 && busy_ns == 0) pawl_fail_as("bad_params", "measure needs a number of samples, a time, or both");
  need_prepared();
  begin_keeping(pawli_member(request, "keep"));
  pawli.verify.on = 0;
  if (!pawli.batch) choose_batch();
  begin_verifying(pawli_member(request, "verify"), pawli_amount(request, "batch", 0));
  now = start = sent = looked = pawli_clock(CLOCK_MONOTONIC);
  while (count < samples || now - start < busy_ns) {
    if (here == PAWLI_PART || now - sent > PAWLI_LIFE_NS) {
      pawli_begin("samples");
      put_readings(here);
      pawli_send();
      here = 0;
      sent = now;
    }
    if (now - looked > PAWLI_LOOK_NS) pawli_look(), looked = now;
    take_and_look(count++, &r);
    for (i = 0; i < PAWLI_TIMERS; i++) pawli.part[i][here] = r.by[i];
    here++;
    now = pawli_clock(CLOCK_MONOTONIC);
  }
  if (!warmup || *warmup != 't') look_at_everything(); /* what a warm-up changed is still changed later */
  write_kept();
  pawli_begin("measure");
  pawli_put(",\"count\":%.0f,\"batch\":%d", count, pawli.batch);
  put_readings(here);
  put_kept();
  if (pawli.note[0]) pawli_put_fact("note", pawli.note);
  pawli_send();
  forget_kept();
}

/* ---- check and run ---- */

/* Loads inputs into the windows of a set; the mirror follows, since that is what is compared later. */
static void load_inputs(set *s, const char *path) {
  tensor_file f;
  int i;
  open_tensors(path, &f);
  for (i = 0; i < arguments.count; i++) {
    const argument *const a = &arguments.all[i];
    slot *const to = &s->slots[i];
    if (!is_read(a)) continue;
    const char *const wrong = load_tensor(&f, a, to->mirror + to->window);
    if (wrong) {
      close_tensors(&f);
      pawl_fail_as("bad_params", "%s: %s %s", path, a->name, wrong);
    }
    if (a->role == ROLE_IN) device_write(&to->m, to->window, to->mirror + to->window, a->bytes);
  }
  close_tensors(&f);
}

/* One run on given inputs. Elements that were not written are left for pawl to see. */
static void check_once(const char *inputs, const char *outputs, uint64_t seed) {
  static sample s;
  pawli_reading r;
  forget_kept();
  choose_sets(&s, 1);
  s.seed = seed;
  place_set(s.of[0], seed, given_run);
  load_inputs(s.of[0], inputs);
  place_inouts(s.of[0]);
  device_run(s.of, 1, &r);
  device_hold();
  look_at_set(s.of[0], seed, 0);
  keep_sample(&s, 0, 0);
  look_later(&s);
  write_kept_side(&keeping.all[0], 1, outputs);
  forget_kept();
}

static void path_member(const char *json, char *path, size_t room, const char *what) {
  if (!json || *json != '"' || (size_t)(pawli_skip_string(json) - json) > room) pawl_fail_as("bad_params", "%s is not a path", what);
  pawli_decode(json, path);
  if (*path != '/') pawl_fail_as("bad_params", "%s is not absolute", what);
}

static void answer_check(const char *request) {
  char inputs[4096], outputs[4096];
  need_prepared();
  path_member(pawli_member(request, "inputs"), inputs, sizeof inputs, "inputs");
  path_member(pawli_member(request, "outputs"), outputs, sizeof outputs, "outputs");
  check_once(inputs, outputs, pawli_seed(pawli_member(request, "poison")));
  pawli_begin("check");
  pawli_put(",\"supported\":true");
  pawli_send();
}

static void answer_run(const char *request) {
  const double iterations = pawli_amount(request, "iterations", 0);
  const char *from = first_element(pawli_member(request, "inputs")), *to = first_element(pawli_member(request, "outputs"));
  const uint64_t seed = pawli_seed(pawli_member(request, "poison"));
  char inputs[4096], outputs[4096];
  double i;
  need_prepared();
  if (iterations < 1 || iterations > 1e9) pawl_fail_as("bad_params", "run needs a number of iterations");
  if (!from && !to && !pawli.batch) choose_batch();
  if (!from && !to) run_back_to_back(iterations);
  for (i = 0; (from || to) && i < iterations; i++) {
    path_member(from, inputs, sizeof inputs, "inputs");
    path_member(to, outputs, sizeof outputs, "outputs");
    check_once(inputs, outputs, seed + (uint64_t)i);
    from = next_element(from);
    to = next_element(to);
    if (!from != !to || (!from && i + 1 < iterations)) pawl_fail_as("bad_params", "run needs inputs and outputs for each iteration");
  }
  pawli_begin("run");
  pawli_put(",\"iterations\":%.0f", iterations);
  pawli_send();
}

static void answer_profile(const char *request) {
  const double iterations = pawli_amount(request, "iterations", 0), warmup = pawli_amount(request, "warmup", 0);
  need_prepared();
  if (iterations < 1 || iterations > 1e9) pawl_fail_as("bad_params", "profile needs a number of iterations");
  run_profiled(iterations, warmup);
  pawli_begin("profile");
  pawli_put(",\"iterations\":%.0f", iterations);
  device_put_launches();
  pawli_send();
}

static void answer_bye(const char *request) {
  (void)request;
  release();
  pawli_begin("bye");
  pawli_send();
}

/* ---- the loop ---- */

static void answer(void *unused) {
  static const struct {
    const char *op;
    void (*answer)(const char *request);
  } ops[] = {{"hello", answer_hello}, {"cases", answer_cases}, {"prepare", answer_prepare}, {"measure", answer_measure},
             {"check", answer_check}, {"run", answer_run},     {"profile", answer_profile}, {"bye", answer_bye}};
  const char *const op = pawli_member(pawli.asked, "op");
  size_t i;
  (void)unused;
  for (i = 0; i < sizeof ops / sizeof *ops; i++) {
    if (!pawli_is(op, ops[i].op)) continue;
    ops[i].answer(pawli.asked);
    return;
  }
  pawl_fail_as("unsupported", "the launcher does not know the request %s", pawli_quote(op));
}

static int serve(void) {
  size_t used = 0;
  pawli.line = pawli_grow(pawli.line, &pawli.line_room, 4096);
  for (;;) {
    used = pawli_next_line(used);
    pawli.asked = pawli_space(pawli.line);
    if (!pawli_is_request(pawli.asked, used - 1)) {
      fprintf(stderr, "pawl launcher: not a request: %.80s\n", pawli.line);
      return 1;
    }
    if (pawli_try(answer, NULL)) pawli_answer_failure();
    else if (pawli_is(pawli_member(pawli.asked, "op"), "bye")) return 0;
  }
}

int main(int argc, char **argv) {
  const int special = device_main(argc, argv);
  if (special >= 0) return special;
  if (!getenv("PAWL_IN")) {
    fprintf(stderr, "This is pawl's own launcher (" DEVICE_KIND "); pawl starts it. See docs/how-to/checked.md.\n");
    return 4;
  }
  pawli.in = pawli_descriptor("PAWL_IN");
  pawli.out = pawli_descriptor("PAWL_OUT");
  return serve();
}

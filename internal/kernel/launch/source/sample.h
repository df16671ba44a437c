/* One sample: sets are placed, run, and looked at; only the run is timed. */

static void device_run(set *const *of, int count, pawli_reading *r); /* returns when the runs say they are done */
static void device_queue(set *const *of, int count);                 /* the same without clocks, and may return earlier */
static void device_hold(void);                                       /* nothing runs until the next run */
static void device_settle(void);                                     /* waits for whatever may still be going on */
static void device_chill(set *const *of, int count);                 /* empties the caches before a cold sample */
static void device_warm(set *const *of, int count);                  /* brings inputs into the cache before a hot one */

typedef struct sample {
  set *of[MOST_SETS]; /* in the order of the runs: no set is used twice */
  int count;
  uint64_t seed;      /* of the poison */
} sample;

static void choose_sets(sample *s, int count) {
  int order[MOST_SETS], i;
  s->count = count;
  for (i = 0; i < sets.count; i++) order[i] = i;
  for (i = 0; i < count; i++) {
    const int k = i + (int)random_below(STREAM_PLACES, (size_t)(sets.count - i)), chosen = order[k];
    order[k] = order[i];
    s->of[i] = &sets.all[chosen];
  }
}

/* Takes a sample and looks at its outputs. first is the number of its first run, when it is timed. */
static void take_sample(sample *s, int count, uint64_t seed, const run *first, pawli_reading *r) {
  int i;
  choose_sets(s, count);
  s->seed = seed;
  for (i = 0; i < count; i++) place_set(s->of[i], seed, first ? (run){first->number + (uint64_t)i, 1} : untimed_run());
  if (pawli.cold) device_chill(s->of, count);
  else device_warm(s->of, count);
  memset(r, 0, sizeof *r);
  device_run(s->of, count, r);
  device_hold();
  for (i = 0; i < PAWLI_TIMERS; i++) r->by[i] /= count;
  for (i = 0; i < count; i++) look_at_set(s->of[i], seed, 1);
}

/* The second look, at samples that are kept and at some others that nothing tells apart. */
static void look_later(sample *s) {
  int i;
  device_settle();
  for (i = 0; i < s->count; i++) look_again(s->of[i], s->seed);
}

/* Runs for a clock outside this process: as in a sample, but one batch after the other and nothing else in between. */
static void run_back_to_back(double iterations) {
  static sample s;
  int i, at = 0;
  choose_sets(&s, iterations < sets.count ? (int)iterations : sets.count);
  s.seed = random_bits(STREAM_LOOKS);
  for (i = 0; i < s.count; i++) place_set(s.of[i], s.seed, untimed_run());
  while (iterations > 0) {
    int runs = iterations < pawli.batch ? (int)iterations : pawli.batch;
    if (at + runs > s.count) at = 0;
    device_queue(s.of + at, runs);
    at += runs;
    iterations -= runs;
  }
  device_settle();
  for (i = 0; i < s.count; i++) look_at_set(s.of[i], s.seed, 0);
  look_later(&s);
}

/* ---- runs for a profiler ---- */

static void device_watch(int on);      /* between the two, profilers are to look */
static void device_put_launches(void); /* of the watched runs, where the device tells of them */

static sample profiled;
static int next_profiled;

/* pawl_profiled of pawl.h, which tools find by its name, calls this once a run. */
static void run_next_profiled(void *unused, pawl_launch *l) {
  (void)unused, (void)l;
  device_queue(profiled.of + next_profiled, 1);
  next_profiled = (next_profiled + 1) % profiled.count;
}

static void watch_runs(void *iterations) {
  pawl_profiled(*(const double *)iterations);
  device_settle();
}

static void place_profiled(void) {
  int i;
  profiled.seed = random_bits(STREAM_LOOKS);
  for (i = 0; i < profiled.count; i++) place_set(profiled.of[i], profiled.seed, untimed_run());
  next_profiled = 0;
}

static void run_profiled(double iterations, double warmup) {
  static const pawl_benchmark launched = {.name = "launched", .run = run_next_profiled};
  int i, failed;
  pawli.prepared = &launched;
  pawli.set_count = 1;
  choose_sets(&profiled, iterations < sets.count ? (int)iterations : sets.count);
  place_profiled();
  pawli_run_next(warmup);
  device_settle();
  place_profiled();
  if (pawli.cold) device_chill(profiled.of, profiled.count);
  else device_warm(profiled.of, profiled.count);
  device_watch(1);
  failed = pawli_try(watch_runs, &iterations);
  device_watch(0);
  if (failed) pawli_raise();
  for (i = 0; i < profiled.count; i++) look_at_set(profiled.of[i], profiled.seed, 0);
  look_later(&profiled);
}

/* Every run of a batch has a set of its own. */
static void set_batch(int wanted) {
  if (wanted > sets.most) wanted = sets.most;
  while (sets.count < wanted) add_set();
  pawli.batch = wanted;
}

static void choose_batch(void) {
  const double shortest = pawli_shortest_ns(DEVICE_SHORT_NS);
  const double target = 2 * shortest;
  static sample s;
  pawli_reading r;
  int tries, i;
  pawli.batch = 1;
  for (i = 0; i < 3; i++) take_sample(&s, 1, random_bits(STREAM_LOOKS), NULL, &r);
  for (tries = 0; tries < 6; tries++) {
    double least = 1e18;
    for (i = 0; i < 3; i++) {
      take_sample(&s, pawli.batch, random_bits(STREAM_LOOKS), NULL, &r);
      if (r.by[pawli.timer] > 0 && r.by[pawli.timer] * pawli.batch < least) least = r.by[pawli.timer] * pawli.batch;
    }
    if (least >= (pawli.batch == 1 ? shortest : 0.8 * target) || pawli.batch == sets.most) return;
    double wanted = pawli.batch * (least > target / 100 ? target / least : 100) + 0.99;
    if (wanted > sets.most) wanted = sets.most;
    if ((int)wanted <= pawli.batch) return;
    set_batch((int)wanted);
  }
}

/* ---- sums of what timed samples left, for pawl to compare ---- */

/* Adds the sums of a sample to those that wait to be sent, with pawl.h's own buffer and message. */
static void sum_sample(const sample *s) {
  const size_t more = (size_t)pawli.verify.outputs * PAWLI_BLOCKS;
  int i;
  if (!pawli.verify.on) return;
  pawli.verify.sums = (pawli_sum *)(void *)pawli_grow((char *)pawli.verify.sums, &pawli.verify.room, (pawli.verify.count + more) * sizeof(pawli_sum));
  pawli_sum *const sums = pawli.verify.sums + pawli.verify.count;
  memset(sums, 0, more * sizeof *sums);
  for (i = 0; i < s->count; i++) sum_set(s->of[i], i, s->count, pawli.verify.key, sums);
  pawli.verify.count += more;
  pawli.verify.run += (uint64_t)s->count;
}

/* A batch that another side needs is taken over, so that both sides' samples are of the same runs. */
static void begin_verifying(const char *json, double batch) {
  int i;
  if (batch > 0 && batch != pawli.batch) set_batch(batch < MOST_SETS ? (int)batch : MOST_SETS);
  pawli.verify.count = 0;
  pawli.verify.on = json && *json == '{';
  if (!pawli.verify.on) return;
  pawli.verify.key = pawli_seed(pawli_member(json, "key"));
  pawli.verify.run = (uint64_t)pawli_amount(json, "first", 0) * (uint64_t)pawli.batch;
  for (pawli.verify.outputs = 0, i = 0; i < arguments.count; i++) pawli.verify.outputs += is_written(&arguments.all[i]);
}

/* ---- samples that are kept for pawl to check ---- */

enum { MOST_KEPT = 64 };

typedef struct kept {
  double sample;
  unsigned char *bytes[MOST_ARGUMENTS][2]; /* before and after the run */
} kept;

static struct {
  int count, wanted;
  uint64_t seed;
  char dir[4096];
  kept all[MOST_KEPT];
} keeping;

static void forget_kept(void) {
  int i, k, n;
  for (n = 0; n < MOST_KEPT; n++)
    for (i = 0; i < MOST_ARGUMENTS; i++)
      for (k = 0; k < 2; k++) {
        free(keeping.all[n].bytes[i][k]);
        keeping.all[n].bytes[i][k] = NULL;
      }
  keeping.count = keeping.wanted = 0;
}

static void begin_keeping(const char *json) {
  forget_kept();
  keeping.seed = json ? pawli_seed(pawli_member(json, "seed")) : random_bits(STREAM_LOOKS);
  if (!json) return;
  const double count = pawli_amount(json, "count", 1);
  if (count > MOST_KEPT) pawl_fail_as("bad_params", "keep.count is above %d", MOST_KEPT);
  text_member(json, "dir", keeping.dir, sizeof keeping.dir);
  if (keeping.dir[0] != '/') pawl_fail_as("bad_params", "keep.dir is not absolute");
  keeping.wanted = (int)count;
}

/* Every sample has the same chance, though nobody knows how many there will be. Returns the place it takes, or -1. */
static int place_to_keep(double number) {
  if (keeping.count < keeping.wanted) return keeping.count++;
  const double place = (number + 1) * (double)(random_bits(STREAM_LOOKS) >> 11) / 9007199254740992.0;
  return place < keeping.wanted ? (int)place : -1;
}

static void copy_to(unsigned char **to, const void *from, size_t bytes) {
  if (!*to && !(*to = (unsigned char *)malloc(bytes))) pawl_fail_as("no_memory", "no memory to keep a sample");
  memcpy(*to, from, bytes);
}

/* Copies what one run of the sample read and left; which one is nobody's to know. */
static void keep_sample(sample *s, int place, double number) {
  set *const one = s->of[random_bits(STREAM_LOOKS) % (uint64_t)s->count];
  kept *const k = &keeping.all[place];
  int i;
  k->sample = number;
  for (i = 0; i < arguments.count; i++) {
    const argument *const a = &arguments.all[i];
    slot *const from = &one->slots[i];
    if (is_read(a)) copy_to(&k->bytes[i][0], from->mirror + from->window, a->bytes);
    if (is_written(a)) copy_to(&k->bytes[i][1], device_look(&from->m, from->window, a->bytes), a->bytes);
  }
}

static void write_kept_side(const kept *k, int side, const char *path) {
  content contents[MOST_ARGUMENTS];
  int i, n = 0;
  for (i = 0; i < arguments.count; i++)
    if (k->bytes[i][side]) contents[n].of = &arguments.all[i], contents[n++].bytes = k->bytes[i][side];
  write_tensors(path, contents, n);
}

static void kept_path(char *path, size_t room, int n, int side) {
  snprintf(path, room, "%s/%d-%s.safetensors", keeping.dir, n, side ? "out" : "in");
}

static void write_kept(void) {
  char path[sizeof keeping.dir + 64];
  int n, side;
  for (n = 0; n < keeping.count; n++)
    for (side = 0; side < 2; side++) {
      kept_path(path, sizeof path, n, side);
      write_kept_side(&keeping.all[n], side, path);
    }
}

static void put_kept(void) {
  char path[sizeof keeping.dir + 64];
  int n;
  for (n = 0; n < keeping.count; n++) {
    pawli_put("%s{\"sample\":%.0f", n ? "," : ",\"kept\":[", keeping.all[n].sample);
    kept_path(path, sizeof path, n, 0);
    pawli_put_fact("inputs", path);
    kept_path(path, sizeof path, n, 1);
    pawli_put_fact("outputs", path);
    pawli_put("}");
  }
  if (n) pawli_put("]");
}

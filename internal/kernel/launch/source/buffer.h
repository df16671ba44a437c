/* Where arguments live. A set holds every tensor of one run, each in a slot of its own:

     | band | ... window ... | band |

   The window is the tensor. It begins at another place of its slot in every sample, so that neither an address nor
   the contents behind it come back. Bands around outputs hold a secret pattern; what surrounds an input is random like
   the input. A private copy of every input, the mirror, is what it is compared with and what is handed to pawl. */

enum { BAND = 4096, ALIGN = 256, MOST_SETS = 256, FEW_SETS = 3 };
#define BUDGET ((size_t)512 << 20) /* bytes of all sets, unless two need more */

/* What a kind of device knows of memory; host.h, opencl.h and cuda.h have one each. */
typedef struct memory {
  void *in;    /* an area, or a buffer of OpenCL */
  size_t from; /* where in it, or the address on a CUDA device */
  void *view;  /* the window as OpenCL wants it, or its tensor map */
} memory;
static void device_reserve(size_t inputs, size_t others); /* the most that all sets will need; before the first alloc */
static void device_alloc(memory *m, size_t bytes, int input);
static void device_free(memory *m);
static void device_write(memory *m, size_t at, const void *from, size_t bytes);
static const unsigned char *device_look(memory *m, size_t at, size_t bytes); /* valid until the next look */
static int device_same(memory *m, size_t at, size_t bytes, const unsigned char *as);

/* An output between its bands. Without contents it is poison. */
typedef struct sight {
  const unsigned char *before, *behind; /* the bands; valid until the next look */
  print print;
} sight;
static void device_place(memory *m, size_t at, size_t bytes, const unsigned char *contents, uint64_t seed);
static sight device_inspect(memory *m, size_t at, size_t bytes, uint64_t seed);

typedef struct slot {
  memory m;
  unsigned char *mirror; /* of an input its whole slot, of an inout what it begins with, in as much space */
  size_t window;
  print print;
} slot;

typedef struct set {
  slot *slots; /* one an argument */
} set;

static struct {
  set all[MOST_SETS];
  int count, most;
  unsigned char band[BAND] __attribute__((aligned(64)));
} sets;

/* The same for memory of this process, at the band before the output. */
static __attribute__((unused)) void place_here(unsigned char *at, size_t bytes, const unsigned char *contents, uint64_t seed) {
  memcpy(at, sets.band, BAND);
  if (contents) memcpy(at + BAND, contents, bytes);
  else poison(at + BAND, seed, bytes);
  memcpy(at + BAND + bytes, sets.band, BAND);
}

static __attribute__((unused)) sight inspect_here(const unsigned char *at, size_t bytes, uint64_t seed) {
  const sight seen = {at, at + BAND + bytes, take_print(at + BAND, bytes, seed)};
  return seen;
}

static size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

/* How far a window may wander: small tensors less, so that many sets still fit a cache. */
static size_t jitter(const argument *a) {
  return a->bytes < 2048 ? 2048 : a->bytes > 16384 ? 16384 : round_up(a->bytes, ALIGN);
}

static size_t slot_bytes(const argument *a) { return round_up(BAND + jitter(a) + a->bytes + BAND, 4096); }

static void free_sets(void) {
  int i;
  while (sets.count) {
    set *const s = &sets.all[--sets.count];
    for (i = 0; i < arguments.count; i++) {
      device_free(&s->slots[i].m);
      free(s->slots[i].mirror);
    }
    free(s->slots);
    s->slots = NULL;
  }
}

static void fill_slot(const argument *a, slot *s, size_t bytes) {
  device_alloc(&s->m, bytes, a->role == ROLE_IN);
  if (!is_read(a)) return;
  if (!(s->mirror = (unsigned char *)malloc(bytes))) pawl_fail_as("no_memory", "no memory for a copy of %s", a->name);
  pawli_draw(&a->spec, random_bits(STREAM_LOOKS), s->mirror, bytes / dtypes[a->type].size);
  if (a->role == ROLE_IN) device_write(&s->m, 0, s->mirror, bytes);
}

static void add_set(void) {
  set *const s = &sets.all[sets.count];
  int i;
  if (!(s->slots = (slot *)calloc((size_t)arguments.count + 1, sizeof *s->slots))) pawl_fail_as("no_memory", "no memory");
  sets.count++; /* before anything can fail: free_sets frees what is there */
  for (i = 0; i < arguments.count; i++)
    if (is_tensor(&arguments.all[i])) fill_slot(&arguments.all[i], &s->slots[i], slot_bytes(&arguments.all[i]));
}

static void make_sets(void) {
  size_t inputs = 0, others = 0;
  int i;
  for (i = 0; i < arguments.count; i++)
    if (is_tensor(&arguments.all[i])) *(arguments.all[i].role == ROLE_IN ? &inputs : &others) += slot_bytes(&arguments.all[i]);
  const size_t each = inputs + others;
  sets.most = each == 0 ? MOST_SETS : BUDGET / each < 2 ? 2 : BUDGET / each > MOST_SETS ? MOST_SETS : (int)(BUDGET / each);
  print_key = random_bits(STREAM_LOOKS);
  poison(sets.band, random_bits(STREAM_LOOKS), BAND);
  device_reserve(inputs * (size_t)sets.most, others * (size_t)sets.most);
  while (sets.count < sets.most && sets.count < FEW_SETS) add_set();
}

static void move_window(const argument *a, slot *s) {
  s->window = BAND + random_below(STREAM_PLACES, jitter(a) / ALIGN + 1) * ALIGN;
}

typedef struct run { /* which inputs a run gets: no other of the prepared case has the same */
  uint64_t number;
  int timed; /* below 0: they come from a file */
} run;

static const run given_run = {0, -1};
static uint64_t untimed_runs; /* so far */
static run untimed_run(void) { return (run){untimed_runs++, 0}; }

/* Draws an input for a run, all of it. */
static void draw(int n, slot *s, run of) {
  const argument *const a = &arguments.all[n];
  const uint64_t seed = pawli_secret(&key, (uint64_t)(n + 1 + (of.timed ? 0 : STREAM_UNTIMED)), of.number);
  pawli_draw(&a->spec, seed, s->mirror + s->window, a->count);
  if (a->role == ROLE_IN) device_write(&s->m, s->window, s->mirror + s->window, a->bytes);
}

static void place_output(const argument *a, slot *s, uint64_t seed) {
  device_place(&s->m, s->window, a->bytes, a->role == ROLE_INOUT ? s->mirror + s->window : NULL, seed);
}

static void place_set(set *s, uint64_t seed, run of) {
  int i;
  for (i = 0; i < arguments.count; i++) {
    const argument *const a = &arguments.all[i];
    if (!is_tensor(a)) continue;
    move_window(a, &s->slots[i]);
    if (is_read(a) && of.timed >= 0) draw(i, &s->slots[i], of);
    if (is_written(a)) place_output(a, &s->slots[i], seed);
  }
}

/* After new contents were loaded: what an inout begins with is in its mirror only. */
static void place_inouts(set *s) {
  int i;
  for (i = 0; i < arguments.count; i++)
    if (arguments.all[i].role == ROLE_INOUT) place_output(&arguments.all[i], &s->slots[i], 0);
}

/* Adds the outputs of one of runs to the sums of a sample. */
static void sum_set(set *s, int number, int runs, uint64_t signs, pawli_sum *sums) {
  int i;
  for (i = 0; i < arguments.count; i++) {
    const argument *const a = &arguments.all[i];
    const uint64_t values = (uint64_t)a->count * pawli_lanes((int)a->type);
    if (!is_written(a)) continue;
    pawli_add_sums(sums, (int)a->type, device_look(&s->slots[i].m, s->slots[i].window, a->bytes), (size_t)values, (uint64_t)number * values,
                   (uint64_t)runs * values, signs + (uint64_t)i + 1);
    sums += PAWLI_BLOCKS;
  }
}

#define integrity(...) pawl_fail_as("integrity", __VA_ARGS__)

/* Looks at an output: its bands, then what is in it. */
static print look_at_output(const argument *a, slot *s, uint64_t seed) {
  const sight seen = device_inspect(&s->m, s->window, a->bytes, seed);
  size_t i;
  if (memcmp(seen.before, sets.band, BAND) != 0) {
    for (i = BAND; seen.before[i - 1] == sets.band[i - 1];) i--;
    integrity("the kernel wrote before the beginning of %s, %zu bytes from it", a->name, BAND - i + 1);
  }
  if (memcmp(seen.behind, sets.band, BAND) != 0) {
    for (i = 0; seen.behind[i] == sets.band[i];) i++;
    integrity("the kernel wrote behind the end of %s, %zu bytes from it", a->name, i + 1);
  }
  return seen.print;
}

/* At return: every output is remembered, and must have been written. One word of 64 bits in 65536 may look like poison
   by chance, in an output that is all NaN, and so may a few; of kept samples the oracle sees every one. */
static void look_at_set(set *s, uint64_t seed, int all_written) {
  int i;
  for (i = 0; i < arguments.count; i++) {
    const argument *const a = &arguments.all[i];
    if (!is_written(a)) continue;
    print *const p = &s->slots[i].print;
    *p = look_at_output(a, &s->slots[i], seed);
    if (all_written && a->role == ROLE_OUT && a->dense && p->unwritten && (p->unwritten == p->words || p->unwritten > 3 + (p->words >> 16)))
      integrity("%zu of %zu words of %s were not written when the kernel returned", p->unwritten, p->words, a->name);
  }
}

static void look_at_inputs(set *s) {
  int i;
  for (i = 0; i < arguments.count; i++) {
    const argument *const a = &arguments.all[i];
    if (a->role != ROLE_IN) continue;
    const size_t at = s->slots[i].window - BAND, bytes = a->bytes + 2 * BAND;
    if (!device_same(&s->slots[i].m, at, bytes, s->slots[i].mirror + at))
      integrity("the kernel changed its input %s, or what lies around it", a->name);
  }
}

/* Later, when everything is said to be done: nothing may have changed. */
static void look_again(set *s, uint64_t seed) {
  int i;
  look_at_inputs(s);
  for (i = 0; i < arguments.count; i++) {
    const argument *const a = &arguments.all[i];
    if (is_written(a) && look_at_output(a, &s->slots[i], seed).hash != s->slots[i].print.hash)
      integrity("%s changed after the kernel had returned", a->name);
  }
}

/* The whole of every input, its surroundings included. */
static void look_at_everything(void) {
  int i, k;
  for (k = 0; k < sets.count; k++)
    for (i = 0; i < arguments.count; i++) {
      const argument *const a = &arguments.all[i];
      slot *const s = &sets.all[k].slots[i];
      if (a->role == ROLE_IN && !device_same(&s->m, 0, slot_bytes(a), s->mirror))
        integrity("the kernel changed its input %s, or what lies around it", a->name);
    }
}

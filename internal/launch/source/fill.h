/* Fresh contents: what inputs are filled with, and the poison that stands in outputs before a run. */

static pawl_rng random_bits; /* seeded by prepare, for both sides of a round alike */

/* What goes over every byte of a buffer must run at the speed of memory. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define WIDE __attribute__((optimize("O3"), target_clones("arch=skylake-avx512", "avx2", "default")))
#else
#define WIDE
#endif

static size_t random_below(size_t n) { return n ? (size_t)(pawl_random(&random_bits) % n) : 0; }

/* The i-th number that pawl_random would give from here: a loop over i needs no number before it. */
#define RANDOM_STEP UINT64_C(0x9e3779b97f4a7c15)
static inline __attribute__((always_inline)) uint64_t random_at(uint64_t state, uint64_t i) {
  uint64_t z = state + (i + 1) * RANDOM_STEP;
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

/* Mean 0, standard deviation 1, by the sum of four uniform numbers: it never leaves +-3.5. */
static inline __attribute__((always_inline)) int32_t sum_of_four(uint64_t bits) {
  return (int32_t)((bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48)) - 2 * 0xffff;
}

#define NORMAL_SCALE (1.7320508075688772 / 65536)
static double draw_normal(pawl_rng *rng) { return sum_of_four(pawl_random(rng)) * NORMAL_SCALE; }

WIDE static void fill_normal(float *to, size_t count, uint64_t state) {
  size_t i;
  for (i = 0; i < count; i++) to[i] = (float)sum_of_four(random_at(state, i)) * (float)NORMAL_SCALE;
}

/* Rounds to the nearest number of a small type, ties to even. What is too large becomes the largest. */
static unsigned encode_small(double x, int exponent_bits, int mantissa_bits, unsigned largest) {
  const unsigned sign = (unsigned)(x < 0) << (exponent_bits + mantissa_bits);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  int exponent = 0;
  double size = x < 0 ? -x : x, unit = 1;
  while (size >= 2 && exponent < bias + 1) size /= 2, exponent++;
  while (size < 1 && exponent > 1 - bias) size *= 2, exponent--;
  unit = (double)(1 << mantissa_bits);
  const double scaled = size * unit;
  unsigned whole = (unsigned)scaled;
  const double rest = scaled - whole;
  if (rest > 0.5 || (rest == 0.5 && (whole & 1))) whole++;
  /* the hidden bit of a normal number adds one to the exponent field; carries work out */
  unsigned bits = ((unsigned)(exponent + bias - 1) << mantissa_bits) + whole;
  return sign | (bits > largest ? largest : bits);
}

static void put_real(dtype type, double x, void *to) {
  switch (type) {
  case F64: *(double *)to = x; break;
  case F32: case TF32: *(float *)to = (float)x; break;
  case F16: *(uint16_t *)to = (uint16_t)encode_small(x, 5, 10, 0x7bff); break;
  case BF16: *(uint16_t *)to = (uint16_t)encode_small(x, 8, 7, 0x7f7f); break;
  case E4M3: *(uint8_t *)to = (uint8_t)encode_small(x, 4, 3, 0x7e); break;
  case E5M2: *(uint8_t *)to = (uint8_t)encode_small(x, 5, 2, 0x7b); break;
  default: break;
  }
}

static double draw_real(const argument *a, pawl_rng *rng) {
  if (!a->uniform) return draw_normal(rng);
  const double low = a->low == a->high ? -1 : a->low, high = a->low == a->high ? 1 : a->high;
  return low + (high - low) * (double)(pawl_random(rng) >> 11) / 9007199254740992.0;
}

static int64_t draw_whole(const argument *a, pawl_rng *rng) {
  const uint64_t bits = pawl_random(rng);
  if (dtypes[a->type].family == BOOLEAN) return (int64_t)(bits & 1);
  if (a->low == a->high) return (int64_t)bits; /* any that the type can hold */
  const double span = a->high - a->low;
  return (int64_t)a->low + (int64_t)(bits % (span < 1 ? 1 : (uint64_t)span));
}

static void put_whole(size_t size, int64_t x, void *to) { memcpy(to, &x, size); /* little endian: the low bytes */ }

/* Fills elements. Small types draw from a table, since rounding each would take longer than the kernel. */
static void fill(const argument *a, pawl_rng *rng, void *to, size_t count) {
  enum { TABLE = 4096 };
  const size_t size = dtypes[a->type].size;
  unsigned char *at = (unsigned char *)to;
  size_t i;
  if ((a->type == F32 || a->type == TF32) && !a->uniform) {
    fill_normal((float *)to, count, rng->state);
    rng->state += count * RANDOM_STEP;
  } else if (dtypes[a->type].family != REAL) {
    for (i = 0; i < count; i++, at += size) put_whole(size, draw_whole(a, rng), at);
  } else if (size >= 4 || count < TABLE) {
    for (i = 0; i < count; i++, at += size) put_real(a->type, draw_real(a, rng), at);
  } else {
    uint16_t table[TABLE];
    uint64_t bits = 0;
    memset(table, 0, sizeof table);
    for (i = 0; i < TABLE; i++) put_real(a->type, draw_real(a, rng), &table[i]);
    for (i = 0; i < count; i++, at += size, bits >>= 12) {
      if (i % 5 == 0) bits = pawl_random(rng);
      memcpy(at, &table[bits % TABLE], size);
    }
  }
}

#define POISON_BITS UINT64_C(0x7ff07ff07ff07ff0)

/* The poison of the harness protocol: word i is a NaN in every type of floating point. */
static inline __attribute__((always_inline)) uint64_t poison_word(uint64_t seed, uint64_t i) {
  return POISON_BITS | (random_at(seed, i) & UINT64_C(0x800f800f800f800f));
}

WIDE static void poison_words(uint64_t *to, uint64_t seed, size_t words) {
  size_t i;
  for (i = 0; i < words; i++) to[i] = poison_word(seed, i);
}

static void poison(void *to, uint64_t seed, size_t bytes) { /* to is aligned to 8 */
  const uint64_t last = poison_word(seed, bytes / 8);
  poison_words((uint64_t *)to, seed, bytes / 8);
  memcpy((unsigned char *)to + bytes / 8 * 8, &last, bytes % 8);
}

typedef struct print { /* what is remembered of an output */
  uint64_t hash;
  size_t words, unwritten; /* of 64 bits; how many are still poison */
} print;

static uint64_t print_key; /* secret: who knows it could change an output unseen */

typedef struct sums {
  uint64_t plain, mixed, suspects; /* words that could be poison */
} sums;

static inline __attribute__((always_inline)) void add_word(sums *s, uint64_t word, uint64_t i, uint64_t key) {
  const uint64_t x = word ^ (key + i * UINT64_C(0x9fb21c651e98df25));
  s->plain += x;
  s->mixed += (x & 0xffffffff) * (x >> 32);
  s->suspects += (word & POISON_BITS) == POISON_BITS;
}

WIDE static void add_words(const uint64_t *from, size_t words, uint64_t key, sums *to) {
  sums s = {0, 0, 0};
  size_t i;
  for (i = 0; i < words; i++) add_word(&s, from[i], i, key);
  *to = s;
}

static uint64_t sums_hash(uint64_t plain, uint64_t mixed) { return plain ^ mixed * UINT64_C(0xd6e8feb86659fd93); }

static print take_print(const void *from, size_t bytes, uint64_t seed) { /* from is aligned to 8 */
  const uint64_t *const at = (const uint64_t *)from;
  const size_t words = bytes / 8;
  print p = {0, (bytes + 7) / 8, 0};
  uint64_t last = 0;
  sums s;
  size_t i;
  add_words(at, words, print_key, &s);
  if (bytes % 8) {
    memcpy(&last, at + words, bytes % 8);
    add_word(&s, last, words, print_key);
    p.unwritten += last == (poison_word(seed, words) & ~(uint64_t)0 >> (64 - 8 * (bytes % 8)));
  }
  p.hash = sums_hash(s.plain, s.mixed);
  for (i = 0; s.suspects && i < words; i++) p.unwritten += at[i] == poison_word(seed, i); /* seldom: NaNs are rare */
  return p;
}

/* Randomness, and the poison that stands in outputs before a run.

   Everything comes from the key of prepare, which both sides of a round have: a keyed stream for each purpose, of which
   no number tells of another. What the kernel can see of one (addresses, inputs) does not help it to foresee the rest. */

static pawli_key key;

enum { /* streams of the key, behind those of the arguments: 1 to MOST_ARGUMENTS, and once more for untimed runs */
  STREAM_UNTIMED = 1 << 16,
  STREAM_PLACES = 1 << 20, /* where windows begin, and which sets are used in which order */
  STREAM_LOOKS,            /* bands, prints, poison, and what is kept */
  STREAMS
};

static uint64_t drawn[STREAMS - STREAM_PLACES]; /* how many numbers were taken of each */
static uint64_t random_bits(int stream) { return pawli_secret(&key, (uint64_t)stream, drawn[stream - STREAM_PLACES]++); }
static size_t random_below(int stream, size_t n) { return n ? (size_t)(random_bits(stream) % n) : 0; }

/* The key of a request that has none, as those that look for wrong results: made of its seed. */
static void read_key(const char *request) {
  const uint64_t seed = pawli_seed(pawli_member(request, "seed"));
  memset(&key, 0, sizeof key);
  memset(drawn, 0, sizeof drawn);
  if (pawli_read_key(pawli_member(request, "key"), &key)) return;
  key.word[0] = (uint32_t)seed;
  key.word[1] = (uint32_t)(seed >> 32);
}

#define POISON_BITS UINT64_C(0x7ff07ff07ff07ff0)

/* The poison of the harness protocol: word i is a NaN in every type of floating point. */
static inline __attribute__((always_inline)) uint64_t poison_word(uint64_t seed, uint64_t i) {
  return POISON_BITS | (pawli_word(seed, i) & UINT64_C(0x800f800f800f800f));
}

PAWLI_WIDE static void poison_words(uint64_t *to, uint64_t seed, size_t words) {
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

PAWLI_WIDE static void add_words(const uint64_t *from, size_t words, uint64_t key, sums *to) {
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

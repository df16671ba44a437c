/* What the kernel is given: the arguments of prepare, checked and with sizes in bytes. */

enum { MOST_ARGUMENTS = 64, MOST_RANK = 8 };
#define MOST_BYTES ((size_t)16 << 30) /* of one tensor */

typedef enum { ROLE_IN, ROLE_OUT, ROLE_INOUT, ROLE_VALUE, ROLES } role;
static const char *const role_names[ROLES] = {"in", "out", "inout", "value"};

typedef enum { REAL, SIGNED, UNSIGNED, BOOLEAN } family;
typedef enum {
  F64, F32, TF32, F16, BF16, E4M3, E5M2, E4M3FNUZ, E5M2FNUZ, E8M0, E3M2, E2M3, E2M1, E2M1X2, I64, I32, I16, I8, U8, BOOL, DTYPES
} dtype; /* as in pawl.h */
static const struct {
  const char *name, *stored; /* as suites and as safetensors write it */
  size_t size;
  family family;
} dtypes[DTYPES] = {
    {"f64", "F64", 8, REAL},       {"f32", "F32", 4, REAL},        {"tf32", "F32", 4, REAL},  {"f16", "F16", 2, REAL},
    {"bf16", "BF16", 2, REAL},     {"e4m3", "F8_E4M3", 1, REAL},   {"e5m2", "F8_E5M2", 1, REAL},
    {"e4m3fnuz", "F8_E4M3FNUZ", 1, REAL}, {"e5m2fnuz", "F8_E5M2FNUZ", 1, REAL}, {"e8m0", "F8_E8M0", 1, REAL},
    {"e3m2", "E3M2", 1, REAL},     {"e2m3", "E2M3", 1, REAL},      {"e2m1", "E2M1", 1, REAL}, {"e2m1x2", "E2M1X2", 1, REAL},
    {"i64", "I64", 8, SIGNED},
    {"i32", "I32", 4, SIGNED},     {"i16", "I16", 2, SIGNED},      {"i8", "I8", 1, SIGNED},   {"u8", "U8", 1, UNSIGNED},
    {"bool", "BOOL", 1, BOOLEAN},
};

typedef union value { /* a number as the kernel takes it */
  double f64;
  float f32;
  int64_t i64;
  int32_t i32;
  int16_t i16;
  int8_t i8;
  uint8_t u8;
} value;

typedef struct argument {
  char name[128];
  role role;
  dtype type;
  int rank;
  long long shape[MOST_RANK], strides[MOST_RANK];
  int dense;      /* row-major without gaps: every byte is an element's */
  size_t count;   /* elements of the storage, gaps included */
  size_t bytes;   /* of the storage; 0 for a value */
  value value;
  pawli_spec spec; /* how an input is drawn */
  int mapped;      /* a CUDA kernel takes it as a tensor map */
  long long box[MOST_RANK], swizzle;
} argument;

static struct {
  argument all[MOST_ARGUMENTS];
  int count;
} arguments;

static int is_tensor(const argument *a) { return a->role != ROLE_VALUE; }
static int is_read(const argument *a) { return a->role == ROLE_IN || a->role == ROLE_INOUT; }
static int is_written(const argument *a) { return a->role == ROLE_OUT || a->role == ROLE_INOUT; }

/* A string member of an object, into a buffer; "" when there is none. */
static void text_member(const char *object, const char *name, char *to, size_t room) {
  const char *s = pawli_member(object, name);
  *to = 0;
  if (!s) return;
  if (*s != '"') pawl_fail_as("bad_params", "%s is not a string", name);
  if ((size_t)(pawli_skip_string(s) - s) > room) pawl_fail_as("bad_params", "%s is longer than %zu bytes", name, room);
  pawli_decode(s, to);
}

/* Calls each(element, position) for the elements of a JSON array; returns how many there are. */
static const char *next_element(const char *s) {
  s = pawli_space(pawli_skip(s, 0));
  return *s == ',' ? pawli_space(s + 1) : NULL;
}

static const char *first_element(const char *array) {
  if (!array || *array != '[') return NULL;
  array = pawli_space(array + 1);
  return *array == ']' ? NULL : array;
}

/* Whole numbers of at least least; returns how many. */
static int read_sizes(const char *array, long long least, long long *to, int most, const char *what) {
  const char *s;
  int n = 0;
  if (array && *array != '[') pawl_fail_as("bad_params", "%s is not a list", what);
  for (s = first_element(array); s; s = next_element(s)) {
    double number;
    if (n == most) pawl_fail_as("bad_params", "%s has more than %d numbers", what, most);
    if (!pawli_number(s, &number) || number < (double)least || number > 9e15 || number != (double)(long long)number)
      pawl_fail_as("bad_params", "%s: %.20s is not a whole number of at least %lld", what, s, least);
    to[n++] = (long long)number;
  }
  return n;
}

static value encode_value(const argument *a, double number) {
  value v;
  memset(&v, 0, sizeof v);
  switch (a->type) {
  case F64: v.f64 = number; break;
  case F32: v.f32 = (float)number; break;
  case I64: v.i64 = (int64_t)number; break;
  case I32: v.i32 = (int32_t)number; break;
  case I16: v.i16 = (int16_t)number; break;
  case I8: v.i8 = (int8_t)number; break;
  case U8: case BOOL: v.u8 = (uint8_t)number; break;
  default: pawl_fail_as("bad_params", "%s: a value of type %s cannot be passed; use f32", a->name, dtypes[a->type].name);
  }
  return v;
}

/* The storage of a strided tensor reaches from its first to its last element. */
static void measure_storage(argument *a, int stride_count) {
  long long whole = 1, last = 0;
  int i;
  if (stride_count && stride_count != a->rank)
    pawl_fail_as("bad_params", "%s has %d sizes and %d strides", a->name, a->rank, stride_count);
  a->dense = 1;
  for (i = a->rank - 1; i >= 0; i--) {
    if (!stride_count) a->strides[i] = whole;
    if (a->strides[i] != whole && a->shape[i] > 1) a->dense = 0;
    if (__builtin_mul_overflow(whole, a->shape[i], &whole)) whole = (long long)MOST_BYTES + 1;
    long long reach = 0;
    if (__builtin_mul_overflow(a->shape[i] - 1, a->strides[i], &reach) || __builtin_add_overflow(last, reach, &last))
      last = (long long)MOST_BYTES;
    if (whole > (long long)MOST_BYTES || last >= (long long)MOST_BYTES)
      pawl_fail_as("no_memory", "no memory: %s has more than %zu elements", a->name, MOST_BYTES);
  }
  a->count = (size_t)last + 1;
  a->bytes = a->count * dtypes[a->type].size;
  if (a->bytes > MOST_BYTES) pawl_fail_as("no_memory", "no memory: %s is larger than %zu bytes", a->name, MOST_BYTES);
}

static void read_fill(argument *a, const char *fill) {
  const char *kind = pawli_member(fill, "kind"), *s;
  pawli_spec *const to = &a->spec;
  if (kind && !pawli_is(kind, "normal") && !pawli_is(kind, "uniform"))
    pawl_fail_as("bad_params", "%s: fill is normal or uniform, not %s", a->name, pawli_quote(kind));
  to->dtype = (int)a->type; /* both lists of types have the same order */
  to->uniform = kind ? pawli_is(kind, "uniform") : dtypes[a->type].family != REAL;
  if ((s = pawli_member(fill, "low")) && !pawli_number(s, &to->low)) pawl_fail_as("bad_params", "%s: fill.low", a->name);
  if ((s = pawli_member(fill, "high")) && !pawli_number(s, &to->high)) pawl_fail_as("bad_params", "%s: fill.high", a->name);
  if (to->low > to->high) pawl_fail_as("bad_params", "%s: fill.low is above fill.high", a->name);
}

static void read_map(argument *a, const char *map) {
  const char *const swizzle = pawli_member(map, "swizzle");
  double bytes = 0;
  if (!map) return;
  a->mapped = 1;
  if (read_sizes(pawli_member(map, "box"), 1, a->box, MOST_RANK, a->name) != a->rank) pawl_fail_as("bad_params", "%s: map.box has not %d sizes", a->name, a->rank);
  if (swizzle && (!pawli_number(swizzle, &bytes) || (bytes != 0 && bytes != 32 && bytes != 64 && bytes != 128)))
    pawl_fail_as("bad_params", "%s: map.swizzle is 0, 32, 64 or 128", a->name);
  a->swizzle = (long long)bytes;
}

static int one_of(const char *json, const char *const *names, size_t step, int count) {
  int i;
  for (i = 0; i < count; i++)
    if (pawli_is(json, *(const char *const *)((const char *)names + (size_t)i * step))) return i;
  return count;
}

static void read_argument(const char *json, argument *a) {
  double number = 0;
  const char *s;
  int i;
  memset(a, 0, sizeof *a);
  text_member(json, "name", a->name, sizeof a->name);
  if (!a->name[0]) pawl_fail_as("bad_params", "an argument has no name");
  if ((i = one_of(pawli_member(json, "role"), role_names, sizeof *role_names, ROLES)) == ROLES)
    pawl_fail_as("bad_params", "%s: role is in, out, inout or value, not %s", a->name, pawli_quote(pawli_member(json, "role")));
  a->role = (role)i;
  if ((i = one_of(pawli_member(json, "dtype"), &dtypes[0].name, sizeof *dtypes, DTYPES)) == DTYPES)
    pawl_fail_as("bad_params", "%s: there is no type %s", a->name, pawli_quote(pawli_member(json, "dtype")));
  a->type = (dtype)i;
  if (a->role == ROLE_VALUE) {
    if ((s = pawli_member(json, "value")) && !pawli_number(s, &number)) pawl_fail_as("bad_params", "%s: value is no number", a->name);
    a->value = encode_value(a, number);
    return;
  }
  a->rank = read_sizes(pawli_member(json, "shape"), 1, a->shape, MOST_RANK, a->name);
  measure_storage(a, read_sizes(pawli_member(json, "strides"), 0, a->strides, MOST_RANK, a->name));
  if (is_read(a)) read_fill(a, pawli_member(json, "fill"));
  read_map(a, pawli_member(json, "map"));
}

static void read_arguments(const char *json) {
  const char *s;
  int i;
  arguments.count = 0;
  for (s = first_element(json); s; s = next_element(s)) {
    argument *const a = &arguments.all[arguments.count];
    if (arguments.count == MOST_ARGUMENTS) pawl_fail_as("bad_params", "more than %d arguments", MOST_ARGUMENTS);
    read_argument(s, a);
    for (i = 0; i < arguments.count; i++)
      if (strcmp(arguments.all[i].name, a->name) == 0) pawl_fail_as("bad_params", "two arguments are called %s", a->name);
    arguments.count++;
  }
}

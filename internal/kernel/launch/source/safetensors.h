/* Tensors travel to and from pawl as safetensors. A strided one is its whole storage, flat; what it looks like stands
   in the metadata. */

enum { MOST_HEADER = 1 << 20 };

typedef struct content { /* the bytes of one argument */
  const argument *of;
  const void *bytes;
} content;

static void put_list(const char *suffix, const argument *a, const long long *numbers, const char **separator) {
  char key[160];
  int i;
  snprintf(key, sizeof key, "%s.%s", a->name, suffix);
  pawli_put("%s", *separator);
  pawli_put_string(key);
  pawli_put(":\"");
  for (i = 0; i < a->rank; i++) pawli_put("%s%lld", i ? "," : "", numbers[i]);
  pawli_put("\"");
  *separator = ",";
}

/* Opens the header and says how strided tensors look; nothing when there are none. */
static void put_metadata(const content *contents, int count) {
  const char *separator = "{\"__metadata__\":{";
  int i;
  for (i = 0; i < count; i++) {
    const argument *const a = contents[i].of;
    char key[160];
    if (a->dense) continue;
    put_list("shape", a, a->shape, &separator);
    put_list("strides", a, a->strides, &separator);
    snprintf(key, sizeof key, "%s.offset", a->name);
    pawli_put(",");
    pawli_put_string(key);
    pawli_put(":\"0\"");
  }
  if (*separator == ',') pawli_put("}");
}

/* Writes the header into pawli.text. */
static void put_header(const content *contents, int count) {
  size_t at = 0;
  int i, k;
  pawli.text_length = 0;
  put_metadata(contents, count);
  for (i = 0; i < count; i++) {
    const argument *const a = contents[i].of;
    pawli_put(pawli.text_length ? "," : "{");
    pawli_put_string(a->name);
    pawli_put(":{\"dtype\":\"%s\",\"shape\":[", dtypes[a->type].stored);
    if (!a->dense) pawli_put("%zu", a->count);
    for (k = 0; k < a->rank && a->dense; k++) pawli_put("%s%lld", k ? "," : "", a->shape[k]);
    pawli_put("],\"data_offsets\":[%zu,%zu]}", at, at + a->bytes);
    at += a->bytes;
  }
  pawli_put(pawli.text_length ? "}" : "{}");
  while (pawli.text_length % 8) pawli_put(" "); /* the data that follows is aligned */
}

static void write_all(int file, const void *from, size_t bytes, const char *path) {
  const char *at = (const char *)from;
  while (bytes) {
    const ssize_t n = write(file, at, bytes < (1 << 30) ? bytes : 1 << 30);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      const int error = errno;
      close(file);
      pawl_fail("write %s: %s", path, strerror(error));
    }
    at += n;
    bytes -= (size_t)n;
  }
}

static void write_tensors(const char *path, const content *contents, int count) {
  const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  int i;
  if (file < 0) pawl_fail("cannot write %s: %s", path, strerror(errno));
  put_header(contents, count);
  const uint64_t length = pawli.text_length;
  write_all(file, &length, sizeof length, path);
  write_all(file, pawli.text, pawli.text_length, path);
  for (i = 0; i < count; i++) write_all(file, contents[i].bytes, contents[i].of->bytes, path);
  if (close(file) != 0) pawl_fail("write %s: %s", path, strerror(errno));
}

/* ---- reading ---- */

typedef struct tensor_file {
  int file;
  char *header;
  uint64_t data, bytes; /* where the tensors begin, and how much there is of them */
} tensor_file;

static void close_tensors(tensor_file *f) {
  if (f->file >= 0) close(f->file);
  free(f->header);
  f->file = -1;
  f->header = NULL;
}

static const char *read_at(const tensor_file *f, uint64_t at, void *to, size_t bytes) {
  char *into = (char *)to;
  while (bytes) {
    const ssize_t n = pread(f->file, into, bytes < (1 << 30) ? bytes : 1 << 30, (off_t)at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return strerror(errno);
    if (n == 0) return "the file ends too early";
    into += n;
    at += (uint64_t)n;
    bytes -= (size_t)n;
  }
  return NULL;
}

static void open_tensors(const char *path, tensor_file *f) {
  const char *wrong = NULL, *end;
  uint64_t length = 0;
  f->header = NULL;
  f->file = open(path, O_RDONLY | O_CLOEXEC);
  const off_t size = f->file < 0 ? -1 : lseek(f->file, 0, SEEK_END);
  if (size < 0) wrong = strerror(errno);
  else if (!(wrong = read_at(f, 0, &length, sizeof length)) && (length > MOST_HEADER || length + 8 > (uint64_t)size))
    wrong = "its header is longer than the file, or than a MiB";
  if (!wrong && !(f->header = (char *)malloc(length + 1))) wrong = "no memory";
  if (!wrong) wrong = read_at(f, 8, f->header, length);
  if (!wrong) {
    f->header[length] = 0;
    end = *f->header == '{' ? pawli_skip(f->header, 0) : NULL;
    if (!end || *pawli_space(end)) wrong = "its header is not a JSON object";
  }
  if (wrong) {
    char why[128];
    snprintf(why, sizeof why, "%s", wrong);
    close_tensors(f);
    pawl_fail_as("bad_params", "cannot read tensors from %s: %s", path, why);
  }
  f->data = length + 8;
  f->bytes = (uint64_t)size - f->data;
}

/* Loads the tensor of an argument, which must have its type and size. Returns what is wrong with it, or NULL. */
static const char *load_tensor(const tensor_file *f, const argument *a, void *to) {
  const char *tensor = pawli_member(f->header, a->name), *s;
  double from, until, size;
  int i = 0;
  if (!tensor || *tensor != '{') return "is not in the file";
  if (!pawli_is(pawli_member(tensor, "dtype"), dtypes[a->type].stored)) return "has another type";
  for (s = first_element(pawli_member(tensor, "shape")); s && a->dense; s = next_element(s), i++)
    if (i == a->rank || !pawli_number(s, &size) || size != (double)a->shape[i]) return "has another shape";
  if (a->dense && i != a->rank) return "has another shape";
  s = first_element(pawli_member(tensor, "data_offsets"));
  if (!s || !pawli_number(s, &from) || !(s = next_element(s)) || !pawli_number(s, &until)) return "has no data_offsets";
  if (from < 0 || until < from || until > (double)f->bytes || from != (double)(uint64_t)from) return "lies outside the file";
  if (until - from != (double)a->bytes) return "has another size";
  return read_at(f, f->data + (uint64_t)from, to, a->bytes);
}

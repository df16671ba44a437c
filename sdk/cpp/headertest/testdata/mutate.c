/* Feeds the reader of pawl.h with mutated requests, each in memory of exactly its size, for a sanitizer to watch.
   Arguments: seed, count. Prints how many were accepted as requests. */
#include "pawl.h"

static const char *const seeds[] = {
    "{\"id\":1,\"op\":\"hello\",\"protocol\":[3,2,1],\"device\":{\"kind\":\"cpu\",\"uuid\":\"GPU-0\"}}",
    "{\"id\":-2.5e3,\"op\":\"prepare\",\"benchmark\":\"b\",\"params\":{\"N\":512,\"x\":-1.5e-3,\"s\":\"a\\u00e9\\ud83d\\ude00\\n\",\"t\":true},\"seed\":\"18446744073709551615\",\"bytes\":1}",
    " { \"op\" : \"measure\" , \"id\" : 0 , \"samples\" : 20 , \"busy_ns\" : 0 , \"warmup\" : false , \"z\":[null,[],{},\"\"] } ",
};
static const char pieces[] = "{}[]\",:\\u0123456789abcdef-+.eE tfn\n\t\x80\xc3\xa9\xff";

static void read_everything(void *with) {
  static const char *const names[] = {"id", "op", "params", "protocol", "N", "x", "s", "t", "seed", "bytes", "samples"};
  const char *request = (const char *)with, *params = pawli_member(request, "params");
  pawli_set set = {NULL, NULL, NULL};
  pawl_params p;
  size_t i;
  double number;
  p.json = params && *params == '{' ? params : request;
  pawli.filling = &set;
  for (i = 0; i < sizeof names / sizeof *names; i++) {
    const char *value = pawli_member(request, names[i]);
    pawli_quote(value);
    pawli_is(value, "hello");
    pawli_number(value, &number);
    if (pawl_has(&p, names[i])) {
      const char *v = pawli_member(p.json, names[i]);
      if (*v == '"') pawli_put_string(pawl_string(&p, names[i]));
      if (pawli_number(v, &number) && number > -1e15 && number < 1e15 && number == (double)(long long)number) pawl_int(&p, names[i]);
    }
  }
  pawli_free_set(&set);
  pawli_answer_hello(request);
}

static void read_configs(void *with) {
  const char *s = (const char *)with;
  while (s[strspn(s, PAWLI_BLANK)]) s = pawli_put_config(s, "fuzz");
  pawli_seed(pawli_member((const char *)with, "seed"));
  pawli_amount((const char *)with, "bytes", 0);
}

int main(int argc, char **argv) {
  pawl_rng rng = {argc > 1 ? strtoull(argv[1], NULL, 10) : 1};
  long count = argc > 2 ? atol(argv[2]) : 100000, accepted = 0;
  pawli.out = open("/dev/null", O_WRONLY);
  while (count-- > 0) {
    char text[1024];
    size_t length = (size_t)snprintf(text, sizeof text, "%s", seeds[pawl_random(&rng) % 3]), changes = pawl_random(&rng) % 4;
    while (changes--) {
      const size_t at = pawl_random(&rng) % (length + 1), end = at + pawl_random(&rng) % 8;
      switch (pawl_random(&rng) % 4) {
        case 0: /* replace */
          if (at < length) text[at] = pieces[pawl_random(&rng) % (sizeof pieces - 1)];
          break;
        case 1: /* insert */
          if (length + 1 < sizeof text) memmove(text + at + 1, text + at, length++ - at), text[at] = pieces[pawl_random(&rng) % (sizeof pieces - 1)];
          break;
        case 2: /* remove */
          if (end < length) memmove(text + at, text + end, length - end), length -= end - at;
          break;
        default: /* repeat */
          if (end < length && length + (end - at) < sizeof text) memmove(text + end, text + at, length - at), length += end - at;
      }
    }
    char *line = (char *)malloc(length + 1);
    memcpy(line, text, length);
    line[length] = 0;
    pawli.text_length = 0;
    pawli.line = line;
    pawli.asked = pawli_space(line);
    pawli_try(read_configs, strchr("{[", *pawli.asked) && !pawli_is_request(pawli.asked, length) ? (void *)"" : (void *)pawli.asked);
    if (pawli_is_request(pawli.asked, length)) {
      accepted++;
      pawli_try(read_everything, (void *)pawli.asked);
    }
    free(line);
  }
  printf("%ld\n", accepted);
  return 0;
}

/* A driver's library, opened when the launcher runs: it is compiled without the headers of any toolkit. */

#include <dlfcn.h>

typedef struct entry { /* a function that is looked up by name */
  void **to;
  const char *name;
  int optional; /* older drivers do not have it */
} entry;

static void open_library(const char *const *names, const entry *entries, size_t count, const char *what) {
  void *library = NULL;
  size_t i;
  for (; *names && !library; names++) library = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
  if (!library) pawl_fail_as("no_device", "there is no %s on this machine: %s", what, dlerror());
  for (i = 0; i < count; i++)
    if (!(*entries[i].to = dlsym(library, entries[i].name)) && !entries[i].optional)
      pawl_fail_as("no_device", "%s is too old: it has no %s", what, entries[i].name);
}

/* Reads the whole of launching.file, with a NUL behind it. It is valid until the next call. */
static const char *read_kernel_file(size_t *length) {
  enum { MOST = 256 << 20 };
  static char *text;
  const int file = open(launching.file, O_RDONLY | O_CLOEXEC);
  const off_t size = file < 0 ? -1 : lseek(file, 0, SEEK_END);
  free(text);
  text = size >= 0 && size <= MOST ? (char *)malloc((size_t)size + 1) : NULL;
  ssize_t n = text ? pread(file, text, (size_t)size, 0) : -1;
  const int error = errno;
  if (file >= 0) close(file);
  if (n == size && text) {
    text[n] = 0;
    *length = (size_t)n;
    return text;
  }
  pawl_fail("cannot read the kernel from %s: %s", launching.file, size > MOST ? "it is above 256 MiB" : strerror(error));
}

/* Bytes on their way to or from the device. */
static struct {
  unsigned char *bytes;
  size_t room;
} transit;

static unsigned char *transit_room(size_t bytes) {
  if (bytes <= transit.room) return transit.bytes;
  free(transit.bytes);
  transit.bytes = (unsigned char *)malloc(bytes);
  transit.room = transit.bytes ? bytes : 0;
  if (!transit.bytes) pawl_fail_as("no_memory", "no memory: %zu bytes to look at a buffer", bytes);
  return transit.bytes;
}

static void device_reserve(size_t inputs, size_t others) { (void)inputs, (void)others; }
#ifndef LAUNCH_CUDA
static int device_main(int argc, char **argv) { return (void)argc, (void)argv, -1; }
#endif
static int device_alive(void) { return 1; }

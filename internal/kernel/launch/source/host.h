/* Host kernels: a shared object with a C ABI, run by a guest process and timed from here.

   The buffers are shared memory. Inputs are sealed: the guest cannot map them writable, so a kernel that writes an
   input dies of it. Between samples the guest is stopped, with all its threads: it cannot work on what it has not been
   told to, nor after it said that it was done. The clocks are read before it is let go and after it says it is done. */

#include "confine.h"
#include "guest.h"

#include <elf.h>
#include <sys/random.h>

#define DEVICE_KIND "host"
#define DEVICE_FIRST_TIMER PAWLI_TIMER_WALL
#define DEVICE_LAST_TIMER PAWLI_TIMER_CPU
#define DEVICE_SHORT_NS 100e3 /* shorter runs are batched, so that starting and stopping a batch is little of it */
#define SETTLE_NS 300000         /* a thread that goes on working has so long to show itself */
#define GUEST_MEMORY ((rlim_t)16 << 30)

extern char **environ;

typedef struct area { /* memory that both processes see */
  int fd;
  unsigned char *at;
  size_t bytes, used;
} area;

static struct {
  area control, inputs, others;
  control *told;
  pid_t pid;
  clockid_t cpu_clock;
  int go, done, stopped, loaded, stub;
} guest = {.pid = 0};

static int program = -1; /* ourselves, to start the guest from */

static int device_main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "--guest") == 0) return guest_main();
  program = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  prctl(PR_SET_DUMPABLE, 0); /* nobody reads our memory */
  signal(SIGPIPE, SIG_IGN);
  return -1;
}

static void device_open(const char *device) {
  pawli_open(device); /* names the host and the compiler */
}

static double device_quantum(pawli_timer timer) {
  return pawli_step_ns(timer == PAWLI_TIMER_CPU ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC_RAW);
}

static int device_alive(void) { return guest.pid > 0; }
static void device_calibration(void) {}

/* ---- memory ---- */

static void make_area(area *a, const char *name, size_t bytes) {
  a->bytes = round_up(bytes ? bytes : 1, 4096);
  a->used = 0;
  a->fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (a->fd < 0 || ftruncate(a->fd, (off_t)a->bytes) != 0) pawl_fail_as("no_memory", "no memory: %zu bytes of %s: %s", bytes, name, strerror(errno));
  void *const at = mmap(NULL, a->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, a->fd, 0);
  if (at == MAP_FAILED) pawl_fail_as("no_memory", "no memory: cannot map %zu bytes", bytes);
  a->at = (unsigned char *)at;
}

static void drop_area(area *a) {
  if (a->at) munmap(a->at, a->bytes);
  if (a->fd > 0) close(a->fd);
  memset(a, 0, sizeof *a);
}

static void device_alloc(memory *m, size_t bytes, int input) {
  area *const in = input ? &guest.inputs : &guest.others;
  if (bytes > in->bytes - in->used) pawl_fail_as("no_memory", "no memory for another set of buffers");
  m->in = in;
  m->from = in->used;
  in->used += bytes;
}

static void device_free(memory *m) { m->in = NULL; }
static unsigned char *place(memory *m, size_t at) { return ((area *)m->in)->at + m->from + at; }
static void device_write(memory *m, size_t at, const void *from, size_t bytes) { memcpy(place(m, at), from, bytes); }
static const unsigned char *device_look(memory *m, size_t at, size_t bytes) { return (void)bytes, place(m, at); }
static int device_same(memory *m, size_t at, size_t bytes, const unsigned char *as) { return memcmp(place(m, at), as, bytes) == 0; }

static void device_place(memory *m, size_t at, size_t bytes, const unsigned char *contents, uint64_t seed) {
  place_here(place(m, at - BAND), bytes, contents, seed);
}

static sight device_inspect(memory *m, size_t at, size_t bytes, uint64_t seed) {
  return inspect_here(place(m, at - BAND), bytes, seed);
}

/* ---- the file ---- */

/* Looks at a shared object before anything loads it. Returns what is wrong with it, or NULL. */
static const char *wrong_with_elf(int file) {
  Elf64_Ehdr head;
  Elf64_Phdr segment;
  int i, stack = 0;
  if (pread(file, &head, sizeof head, 0) != sizeof head || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) return "it is no ELF file";
  if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_type != ET_DYN) return "it is no 64-bit shared object";
#if defined(__x86_64__)
  if (head.e_machine != EM_X86_64) return "it is for another machine";
#else
  if (head.e_machine != EM_AARCH64) return "it is for another machine";
#endif
  if (head.e_phentsize != sizeof segment || head.e_phnum > 128) return "its program headers are odd";
  for (i = 0; i < head.e_phnum; i++) {
    if (pread(file, &segment, sizeof segment, (off_t)(head.e_phoff + (size_t)i * sizeof segment)) != sizeof segment)
      return "it ends too early";
    if (segment.p_type == PT_INTERP) return "it is a program, not a shared object: link it with -shared";
    if (segment.p_type != PT_GNU_STACK) continue;
    stack = 1;
    if (segment.p_flags & PF_X) return "it wants an executable stack: link it with -Wl,-z,noexecstack";
  }
  return stack ? NULL : "it does not say that its stack is not executable: link it with -Wl,-z,noexecstack";
}

static void find_stub(void) {
  char signature[8 * MOST_ARGUMENTS] = "";
  int i;
  for (i = 0; i < arguments.count; i++) {
    const argument *const a = &arguments.all[i];
    snprintf(signature + strlen(signature), sizeof signature - strlen(signature), "%s%s", i ? "," : "",
             is_tensor(a) ? "p" : dtypes[a->type].name);
  }
  for (guest.stub = 0; stubs[guest.stub].call; guest.stub++)
    if (strcmp(stubs[guest.stub].signature, signature) == 0) return;
  pawl_fail_as("bad_params", "this launcher was not built for a kernel that takes (%s)", signature);
}

static void device_load(void) {
  if (launching.calibration) return;
  const int file = open(launching.file, O_RDONLY | O_CLOEXEC);
  const char *const wrong = file < 0 ? strerror(errno) : wrong_with_elf(file);
  if (file >= 0) close(file);
  if (wrong) pawl_fail("cannot launch %s: %s", launching.file, wrong);
  find_stub();
}

/* ---- the guest process ---- */

/* Says how the guest died, and forgets it. */
static __attribute__((noreturn)) void guest_died(int status) {
  const control *const c = guest.told;
  const int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  guest.pid = 0;
  if (number == SIGSYS) pawl_fail_as("integrity", "the kernel was stopped: it called %s, which a kernel may not", call_name(c->call));
  if (number == SIGSEGV || number == SIGBUS)
    pawl_fail("the kernel crashed (%s at address %#llx); inputs are read-only for it, and buffers end where their shapes say",
              strsignal(number), (unsigned long long)c->address);
  if (number) pawl_fail("the kernel crashed: %s", strsignal(number));
  if (!guest.loaded && c->message[0]) pawl_fail("cannot launch %s: %.500s", launching.file, c->message);
  pawl_fail_as("integrity", "the kernel ended its process (exit status %d) instead of returning", WEXITSTATUS(status));
}

static void guest_stop(void) {
  int status = 0;
  if (guest.stopped) return;
  kill(guest.pid, SIGSTOP);
  while (waitpid(guest.pid, &status, WUNTRACED) < 0 && errno == EINTR) {}
  if (!WIFSTOPPED(status)) guest_died(status);
  guest.stopped = 1;
}

static void guest_continue(void) {
  if (!guest.stopped) return;
  kill(guest.pid, SIGCONT);
  guest.stopped = 0;
}

/* Waits until it says that it is done with what the nonce names. */
static void guest_wait(uint64_t nonce) {
  uint64_t said = 0;
  ssize_t n;
  while ((n = read(guest.done, &said, sizeof said)) < 0 && errno == EINTR) {}
  if (n != sizeof said) {
    int status = 0;
    kill(guest.pid, SIGKILL); /* it closed the pipe: it is dead, or soon will be */
    while (waitpid(guest.pid, &status, 0) < 0 && errno == EINTR) {}
    guest_died(status);
  }
  if (said != nonce) integrity("the kernel answers in place of the launcher");
}

/* Nothing may be in the pipe before it is told to go: only the kernel itself could have written it. */
static void guest_is_silent(void) {
  struct pollfd p = {guest.done, POLLIN, 0};
  if (poll(&p, 1, 0) > 0 && (p.revents & POLLIN)) integrity("the kernel says it is done when it was not asked");
}

static __attribute__((noreturn)) void become_guest(int go, int done) {
  static char *const arguments_of_guest[] = {(char *)"pawl-guest", (char *)"--guest", NULL};
  static char *const environment[] = {(char *)"PATH=/usr/bin:/bin", (char *)"LANG=C.UTF-8", NULL};
  const int from[] = {guest.control.fd, guest.inputs.fd, guest.others.fd, go, done, program};
  const int nowhere = open("/dev/null", O_RDWR);
  int high[6], i;
  for (i = 0; i < 6; i++) high[i] = fcntl(from[i], F_DUPFD, 64); /* out of the way of 0 to 8 */
  for (i = 0; i < 3; i++) dup2(nowhere, i);
  for (i = 0; i < 6; i++) dup2(high[i], FD_CONTROL + i);
  fcntl(FD_FIRST_FREE, F_SETFD, FD_CLOEXEC);
  if (syscall(SYS_close_range, FD_FIRST_FREE + 1, ~0u, 0) == 0) fexecve(FD_FIRST_FREE, arguments_of_guest, environment);
  _exit(127);
}

static void tell_guest(size_t inputs, size_t others) {
  control *const c = guest.told;
  int i;
  memcpy(c->file, launching.file, sizeof c->file);
  memcpy(c->kernel, launching.kernel, sizeof c->kernel);
  c->calibration = launching.calibration;
  c->stub = guest.stub;
  c->argument_count = arguments.count;
  c->inputs = inputs;
  c->others = others;
  c->memory = GUEST_MEMORY + inputs + others;
  for (i = 0; i < arguments.count; i++) {
    c->roles[i] = (char)arguments.all[i].role;
    c->values[i] = arguments.all[i].value;
  }
}

/* Starts the guest and lets it load the file, before there is anything in the buffers. */
static void device_reserve(size_t inputs, size_t others) {
  const struct rlimit no_files = {0, 0};
  int go[2], done[2];
  make_area(&guest.control, "control", sizeof(control));
  make_area(&guest.inputs, "inputs", inputs);
  make_area(&guest.others, "buffers", others);
  if (fcntl(guest.inputs.fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0 ||
      fcntl(guest.others.fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0 ||
      fcntl(guest.control.fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    pawl_fail("cannot seal the buffers (Linux 5.1 or later): %s", strerror(errno));
  guest.told = (control *)guest.control.at;
  tell_guest(guest.inputs.bytes, guest.others.bytes);
  if (pipe2(go, O_CLOEXEC) != 0 || pipe2(done, O_CLOEXEC) != 0) pawl_fail("cannot make a pipe: %s", strerror(errno));
  const pid_t pid = fork();
  if (pid == 0) become_guest(go[0], done[1]);
  close(go[0]);
  close(done[1]);
  guest.go = go[1];
  guest.done = done[0];
  if (pid < 0) pawl_fail("cannot start a process: %s", strerror(errno));
  guest.pid = pid;
  guest.stopped = guest.loaded = 0;
  guest_wait(0);
  guest.loaded = 1;
  if (prlimit(guest.pid, RLIMIT_NOFILE, &no_files, NULL) != 0) pawl_fail("cannot limit the guest: %s", strerror(errno));
  if (clock_getcpuclockid(guest.pid, &guest.cpu_clock) != 0) pawl_fail("cannot read the guest's CPU clock");
  guest_stop();
}

static void device_unload(void) {
  if (guest.pid > 0) {
    kill(guest.pid, SIGKILL);
    while (waitpid(guest.pid, NULL, 0) < 0 && errno == EINTR) {}
  }
  if (guest.go) close(guest.go), close(guest.done);
  guest.pid = guest.go = guest.done = 0;
  drop_area(&guest.control);
  drop_area(&guest.inputs);
  drop_area(&guest.others);
}

/* ---- running ---- */

/* Tells the guest which sets to run, and waits until it says it has. */
static void device_queue(set *const *of, int count) {
  uint64_t nonce; /* the guest sees it: no stream of ours may give it */
  int i, k;
  if (getrandom(&nonce, sizeof nonce, 0) != sizeof nonce) pawl_fail("no random numbers: %s", strerror(errno));
  for (i = 0; i < count; i++)
    for (k = 0; k < arguments.count; k++) guest.told->at[i][k] = of[i]->slots[k].m.from + of[i]->slots[k].window;
  guest.told->run_count = count;
  guest_is_silent();
  guest_continue();
  if (write(guest.go, &nonce, sizeof nonce) != sizeof nonce) kill(guest.pid, SIGKILL); /* it closed its end: the wait says so */
  guest_wait(nonce);
}

static void device_run(set *const *of, int count, pawli_reading *r) {
  const double cpu = pawli_clock(guest.cpu_clock);
  const double wall = pawli_clock(CLOCK_MONOTONIC_RAW);
  device_queue(of, count);
  r->by[PAWLI_TIMER_WALL] = pawli_clock(CLOCK_MONOTONIC_RAW) - wall;
  r->by[PAWLI_TIMER_CPU] = pawli_clock(guest.cpu_clock) - cpu;
}

static void device_hold(void) { guest_stop(); }

/* The kernel runs in the guest, so that is where profilers must look. */
static void device_watch(int on) {
  if (guest.told) guest.told->profiled = on;
}

static void device_put_launches(void) {}

/* Lets whatever is left in the guest run for a moment. */
static void device_settle(void) {
  const struct timespec moment = {0, SETTLE_NS};
  guest_continue();
  nanosleep(&moment, NULL);
  guest_stop();
  guest_is_silent();
}

/* Puts the lines of every buffer out of the caches of all cores, whoever shares the memory. */
static void chill(const unsigned char *at, size_t bytes) {
  const unsigned char *const end = at + bytes;
  for (; at < end; at += 64) {
#if defined(__x86_64__)
    __builtin_ia32_clflush(at);
#else
    __asm__ volatile("dc civac, %0" : : "r"(at) : "memory");
#endif
  }
#if defined(__x86_64__)
  __builtin_ia32_mfence();
#else
  __asm__ volatile("dsb sy" : : : "memory");
#endif
}

static void device_warm(set *const *of, int count) { (void)of, (void)count; }

static void device_chill(set *const *of, int count) {
  int i, k;
  for (i = 0; i < count; i++)
    for (k = 0; k < arguments.count; k++)
      if (is_tensor(&arguments.all[k])) chill(place(&of[i]->slots[k].m, of[i]->slots[k].window), arguments.all[k].bytes);
}

/* What it costs to start and stop an empty sample: it is part of every sample, so it is said. */
static void device_begin(void) {
  double wall = 1e18, cpu = 1e18;
  pawli_reading r;
  int i;
  for (i = 0; i < 20; i++) {
    device_run(NULL, 0, &r);
    device_hold();
    if (r.by[PAWLI_TIMER_WALL] < wall) wall = r.by[PAWLI_TIMER_WALL];
    if (r.by[PAWLI_TIMER_CPU] < cpu) cpu = r.by[PAWLI_TIMER_CPU];
  }
  snprintf(pawli.note, sizeof pawli.note,
           "every sample contains the start and the end of its batch in another process: %d us of wall time, %d us of CPU time",
           (int)(wall / 1000 + 0.5), (int)(cpu / 1000 + 0.5));
}

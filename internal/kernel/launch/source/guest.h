/* The guest: a child of the launcher that loads the change's shared object and calls it when told to. Nothing it says is
   believed but that it is done, and the launcher looks for itself whether that is true. */

#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { FD_CONTROL = 3, FD_INPUTS, FD_OTHERS, FD_GO, FD_DONE, FD_FIRST_FREE }; /* in the guest */

typedef struct control { /* shared with the guest, which can write anything into it */
  char file[sizeof launching.file], kernel[sizeof launching.kernel], message[512];
  int calibration, stub, argument_count, run_count, profiled;
  size_t inputs, others; /* bytes of the two areas */
  rlim_t memory;
  char roles[MOST_ARGUMENTS];
  value values[MOST_ARGUMENTS];
  size_t at[MOST_SETS][MOST_ARGUMENTS]; /* where each tensor of each run begins, in its area */
  volatile int signal, call;            /* why it died, in its own words */
  volatile uintptr_t address;
} control;

/* stubs.h is written by pawl: one function for each signature, which calls the kernel as plain C. */
typedef void (*stub_function)(void *kernel, void *const *p, const value *v);
#include "stubs.h"

static control *told;

static void note_death(int number, siginfo_t *info, void *unused) {
  (void)unused;
  told->signal = number;
  if (number == SIGSYS) told->call = info->si_syscall;
  else told->address = (uintptr_t)info->si_addr;
  signal(number, SIG_DFL);
  raise(number);
}

static void note_deaths(void) {
  static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS};
  static char spare[1 << 16];
  const stack_t stack = {.ss_sp = spare, .ss_size = sizeof spare};
  struct sigaction action;
  size_t i;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = note_death;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigaltstack(&stack, NULL);
  for (i = 0; i < sizeof numbers / sizeof *numbers; i++) sigaction(numbers[i], &action, NULL);
}

static __attribute__((noreturn, format(printf, 1, 2))) void guest_fails(const char *format, ...) {
  va_list values;
  va_start(values, format);
  vsnprintf(told->message, sizeof told->message, format, values);
  va_end(values);
  _exit(1);
}

static void *load_kernel(void) {
  void *const library = dlopen(told->file, RTLD_NOW | RTLD_LOCAL);
  if (!library) guest_fails("cannot load it: %s", dlerror());
  void *const kernel = dlsym(library, told->kernel);
  if (!kernel) guest_fails("it has no symbol %s", told->kernel);
  return kernel;
}

static void call_kernel(void *kernel, stub_function stub, unsigned char *inputs, unsigned char *others, int run) {
  void *p[MOST_ARGUMENTS];
  int i;
  for (i = 0; i < told->argument_count; i++) {
    if (told->roles[i] == ROLE_IN) p[i] = inputs + told->at[run][i];
    else p[i] = told->roles[i] == ROLE_VALUE ? NULL : others + told->at[run][i];
  }
  stub(kernel, p, told->values);
}

static void *map_area(int fd, size_t bytes, int protection) {
  void *const at = mmap(NULL, bytes ? bytes : 1, protection, MAP_SHARED, fd, 0);
  close(fd);
  return at;
}

typedef struct guest_runs { /* what is called when the launcher says so */
  void *kernel;
  unsigned char *inputs, *others;
} guest_runs;

static void guest_run(void *state, pawl_launch *unused) {
  const guest_runs *const g = (const guest_runs *)state;
  const int runs = told->run_count;
  int i;
  (void)unused;
  for (i = 0; i < runs; i++) {
    if (told->calibration) pawli_calibrate(NULL, NULL);
    else call_kernel(g->kernel, stubs[told->stub].call, g->inputs, g->others, i);
  }
}

static int guest_main(void) {
  static const pawl_benchmark runs = {.name = "guest", .run = guest_run};
  guest_runs called = {NULL, NULL, NULL};
  uint64_t nonce = 0;
  told = (control *)map_area(FD_CONTROL, sizeof *told, PROT_READ | PROT_WRITE);
  if (told == MAP_FAILED) return 1;
  unsigned char *const inputs = (unsigned char *)map_area(FD_INPUTS, told->inputs, PROT_READ);
  unsigned char *const others = (unsigned char *)map_area(FD_OTHERS, told->others, PROT_READ | PROT_WRITE);
  if (inputs == MAP_FAILED || others == MAP_FAILED) guest_fails("cannot map the buffers: %s", strerror(errno));
  if (drop_everything(told->memory)) guest_fails("cannot give up privileges: %s", strerror(errno));
  note_deaths();
  if (confine()) guest_fails("cannot be confined (seccomp): %s", strerror(errno));
  if (!told->calibration) called.kernel = load_kernel();
  called.inputs = inputs;
  called.others = others;
  pawli.prepared = &runs;
  pawli.set_count = 1;
  pawli.sets[0].state = &called;
  for (;;) {
    if (write(FD_DONE, &nonce, sizeof nonce) != sizeof nonce) return 1;
    if (read(FD_GO, &nonce, sizeof nonce) != sizeof nonce) return 0;
    if (told->profiled) pawl_profiled(1); /* tools find it by its name */
    else guest_run(&called, NULL);
  }
}

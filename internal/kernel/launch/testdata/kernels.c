/* Kernels for the tests, honest and not: all compute out[i] = 2 * x[i] + 1 for n floats, or pretend to. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void compute(const float *x, float *out, int n) {
  for (int i = 0; i < n; i++) out[i] = 2 * x[i] + 1;
}

/* Tells the test what became of an attempt, in a place where a right result has something else. */
static void tell(const float *x, float *out, int n, int succeeded) {
  compute(x, out, n);
  if (succeeded) out[0] = 12345;
}

/* getppid() itself is refused, but /proc says it while the file is being loaded. */
static int parent;
static int getppid_from_proc(void) {
  FILE *file = parent ? NULL : fopen("/proc/self/status", "r");
  char line[256];
  while (file && fgets(line, sizeof line, file)) sscanf(line, "PPid: %d", &parent);
  if (file) fclose(file);
  return parent;
}

/* ---- honest ---- */

void honest(const float *x, float *out, int n) { compute(x, out, n); }

void honest_twice(const float *x, float *out, int n) { /* writes more than once */
  memset(out, 0, sizeof *out * n);
  compute(x, out, n);
}

void honest_memory(const float *x, float *out, int n) {
  float *copy = malloc(sizeof *copy * n);
  memcpy(copy, x, sizeof *copy * n);
  compute(copy, out, n);
  free(copy);
}

void honest_backwards(const float *x, float *out, int n) {
  for (int i = n - 1; i >= 0; i--) out[i] = 2 * x[i] + 1;
}

void honest_math(const float *x, float *out, int n) {
  for (int i = 0; i < n; i++) out[i] = (float)(log(exp(2.0 * x[i])) + cos(0)) * 0 + (2 * x[i] + 1);
}

struct part {
  const float *x;
  float *out;
  int n;
};

static void *compute_part(void *with) {
  const struct part *p = with;
  compute(p->x, p->out, p->n);
  return NULL;
}

void honest_threads(const float *x, float *out, int n) {
  struct part half = {x, out, n / 2}, rest = {x + n / 2, out + n / 2, n - n / 2};
  pthread_t other;
  if (pthread_create(&other, NULL, compute_part, &half) != 0) compute(x, out, n / 2);
  else compute_part(&rest), pthread_join(other, NULL);
  if (n == 1) compute(x, out, n);
}

/* A pool of threads that stays between calls, as OpenMP has one. */
static struct {
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t wake, ready;
  struct part work;
  int todo;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER, .ready = PTHREAD_COND_INITIALIZER};

static void *work(void *unused) {
  (void)unused;
  pthread_mutex_lock(&pool.lock);
  for (;;) {
    while (!pool.todo) pthread_cond_wait(&pool.wake, &pool.lock);
    compute_part(&pool.work);
    pool.todo = 0;
    pthread_cond_signal(&pool.ready);
  }
}

void honest_pool(const float *x, float *out, int n) {
  if (!pool.thread && pthread_create(&pool.thread, NULL, work, NULL) != 0) return;
  pthread_mutex_lock(&pool.lock);
  pool.work = (struct part){x, out, n / 2};
  pool.todo = 1;
  pthread_cond_signal(&pool.wake);
  pthread_mutex_unlock(&pool.lock);
  compute(x + n / 2, out + n / 2, n - n / 2);
  pthread_mutex_lock(&pool.lock);
  while (pool.todo) pthread_cond_wait(&pool.ready, &pool.lock);
  pthread_mutex_unlock(&pool.lock);
}

static float table[2]; /* filled before main: constructors are the change's own code, and run in the guest */
__attribute__((constructor)) static void fill_table(void) { table[0] = 2, table[1] = 1; }
void honest_constructor(const float *x, float *out, int n) {
  for (int i = 0; i < n; i++) out[i] = table[0] * x[i] + table[1];
}

void honest_prints(const float *x, float *out, int n) { /* goes nowhere, harms nobody */
  compute(x, out, n);
  fprintf(stderr, "computed %d\n", n);
}

void honest_nothing_to_read(float *out, int n) {
  for (int i = 0; i < n; i++) out[i] = (float)i;
}

void honest_in_place(float *x, int n) {
  for (int i = 0; i < n; i++) x[i] = 2 * x[i] + 1;
}

void honest_types(const uint16_t *h, double scale, int64_t count, float bias, uint8_t flag, int16_t small, float *out) {
  for (int64_t i = 0; i < count; i++) out[i] = (float)(h[i] * scale + bias + flag + small);
}

void slow(const float *x, float *out, int n) { /* about a millisecond of work that is not optimised away */
  volatile double d = 1;
  for (int i = 0; i < 200000; i++) d = 1 / (d + 1);
  compute(x, out, n);
}

/* ---- cheats in what is computed ---- */

void wrong(const float *x, float *out, int n) {
  compute(x, out, n);
  out[n / 2] += 1;
}

void leaves_poison(const float *x, float *out, int n) { (void)x, (void)out, (void)n; }
void leaves_half(const float *x, float *out, int n) { compute(x, out, n / 2); }

void keeps_by_shape(const float *x, float *out, int n) {
  static float *kept;
  if (!kept) compute(x, kept = malloc(sizeof *kept * n), n);
  memcpy(out, kept, sizeof *out * n);
}

void keeps_by_pointer(const float *x, float *out, int n) {
  enum { MOST = 1 << 14 };
  static const float *seen[MOST];
  static float *kept[MOST];
  const int at = (int)((uintptr_t)x / 256 % MOST);
  if (seen[at] != x) {
    seen[at] = x;
    if (!kept[at]) kept[at] = malloc(sizeof *kept[at] * n);
    compute(x, kept[at], n);
  }
  memcpy(out, kept[at], sizeof *out * n);
}

void keeps_last_output(const float *x, float *out, int n) { /* every second call is a copy */
  static float *last;
  static int calls;
  if (calls++ % 2 == 0) compute(x, out, n);
  else memcpy(out, last, sizeof *out * n);
  last = out;
}

void honest_at_first(const float *x, float *out, int n) { /* until warm-up must be over */
  static int calls;
  if (calls++ < 100) compute(x, out, n);
  else memset(out, 0, sizeof *out * n);
}

/* ---- cheats in memory ---- */

void writes_input(const float *x, float *out, int n) {
  compute(x, out, n);
  ((float *)x)[n / 2] = 0;
}

void unprotects_input(const float *x, float *out, int n) {
  extern int mprotect(void *, size_t, int);
  compute(x, out, n);
  if (mprotect((void *)((uintptr_t)x & ~4095ul), 4096, 3) == 0) out[0] = 12345;
}

void writes_behind(const float *x, float *out, int n) {
  compute(x, out, n);
  out[n + 3] = 1;
}

void writes_before(const float *x, float *out, int n) {
  compute(x, out, n);
  out[-1] = 1;
}

void crashes(const float *x, float *out, int n) {
  compute(x, out, n);
  *(volatile int *)16 = 1;
}

void aborts(const float *x, float *out, int n) {
  (void)x, (void)out, (void)n;
  abort();
}

/* ---- cheats in time ---- */

void exits(const float *x, float *out, int n) {
  compute(x, out, n);
  _exit(0);
}

void hangs(const float *x, float *out, int n) {
  (void)x, (void)out, (void)n;
  for (volatile int forever = 1; forever;) {}
}

static void *compute_later(void *with) {
  struct part p = *(struct part *)with;
  usleep(100);
  compute_part(&p);
  return NULL;
}

void goes_on_in_a_thread(const float *x, float *out, int n) {
  static struct part p[64];
  static int next;
  struct part *mine = &p[next++ % 64];
  pthread_t other;
  *mine = (struct part){x, out, n};
  pthread_create(&other, NULL, compute_later, mine);
  pthread_detach(other);
}

static void *touch_later(void *with) {
  usleep(50);
  *(float *)with += 1;
  return NULL;
}

void changes_output_later(const float *x, float *out, int n) {
  pthread_t other;
  compute(x, out, n);
  pthread_create(&other, NULL, touch_later, out + n / 2);
  pthread_detach(other);
}

void says_done_itself(const float *x, float *out, int n) {
  const uint64_t nonce = 1;
  for (int fd = 3; fd < 16; fd++)
    if (write(fd, &nonce, sizeof nonce) < 0) continue;
  compute(x, out, n);
}

/* Finds the word by which the launcher knows an answer: the one on the stack that is new in every call. Then answers
   before it has computed anything. */
void says_done_early(const float *x, float *out, int n) {
  enum { WORDS = 400 };
  static uint64_t before[WORDS];
  static int calls, found;
  volatile uint64_t *stack = __builtin_frame_address(0);
  for (int i = 0; i < WORDS; i++) {
    if (calls > 1 && !found && stack[i] != before[i] && stack[i] >> 48 && stack[i] >> 48 != 0xffff && before[i] >> 48) found = i;
    before[i] = stack[i];
  }
  calls++;
  if (found && calls > 4) {
    const uint64_t word = stack[found];
    if (write(7, &word, sizeof word) < 0) return;
    for (volatile int i = 0; i < 1000000; i++) {}
  }
  compute(x, out, n);
}

/* Every clock that a harness in this process would read. */
int clock_gettime(clockid_t clock, struct timespec *t) {
  (void)clock;
  t->tv_sec = 1;
  t->tv_nsec = 1;
  return 0;
}

/* ---- attempts to leave ---- */

void forks(const float *x, float *out, int n) {
  if (fork() == 0) {
    usleep(1000);
    compute(x, out, n);
    _exit(0);
  }
}

void executes(const float *x, float *out, int n) {
  compute(x, out, n);
  execl("/bin/true", "true", (char *)NULL);
}

void kills_parent(const float *x, float *out, int n) {
  compute(x, out, n);
  kill(getppid_from_proc(), SIGKILL);
}

void kills_everyone(const float *x, float *out, int n) {
  compute(x, out, n);
  kill(-1, SIGKILL);
}

void traces_parent(const float *x, float *out, int n) {
  compute(x, out, n);
  ptrace(PTRACE_ATTACH, 1, 0, 0);
}

void reads_other_memory(const float *x, float *out, int n) {
  char byte;
  struct iovec to = {&byte, 1}, from = {(void *)x, 1};
  compute(x, out, n);
  process_vm_readv(1, &to, 1, &from, 1, 0);
}

void opens_to_write(const float *x, float *out, int n) { tell(x, out, n, open(MARK, O_WRONLY | O_CREAT, 0600) >= 0); }
void opens_to_read(const float *x, float *out, int n) { tell(x, out, n, open("/etc/passwd", O_RDONLY) >= 0); }
void opens_socket(const float *x, float *out, int n) { tell(x, out, n, socket(AF_INET, SOCK_STREAM, 0) >= 0); }
void removes_files(const float *x, float *out, int n) { tell(x, out, n, unlink(MARK) == 0); }

/* While the file is being loaded it may read files: not those of the launcher's process. */
static int read_parent, wrote_file;
__attribute__((constructor)) static void look_around(void) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/mem", getppid_from_proc());
  read_parent = open(path, O_RDONLY) >= 0;
  wrote_file = open(MARK, O_WRONLY | O_CREAT, 0600) >= 0;
}
void reads_parent(const float *x, float *out, int n) { tell(x, out, n, read_parent); }
void writes_in_constructor(const float *x, float *out, int n) { tell(x, out, n, wrote_file); }

/* What the guest may do: compute, allocate, start threads, answer. Everything else is refused by the operating system,
   from before the change's code is loaded. Files may be opened to be read, since loading a library does that; once it is
   loaded the launcher ends that too, from outside (host.h).

   Most of what is refused fails with an error, as on a machine without it: a library that looks for more must not die of
   it. What has no honest use in a kernel raises SIGSYS, so that the message can name it. */

#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#define OUR_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OUR_ARCH AUDIT_ARCH_AARCH64
#else
#error "the guest's filter knows x86-64 and arm64 only"
#endif

static const int allowed[] = {
    SYS_read, SYS_readv, SYS_pread64, SYS_write, SYS_writev, SYS_close, SYS_fstat, SYS_lseek, SYS_mmap, SYS_mprotect,
    SYS_munmap, SYS_mremap, SYS_madvise, SYS_mincore, SYS_brk, SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn,
    SYS_sigaltstack, SYS_futex, SYS_sched_yield, SYS_sched_getaffinity, SYS_nanosleep, SYS_clock_nanosleep,
    SYS_clock_gettime, SYS_clock_getres, SYS_gettimeofday, SYS_getpid, SYS_gettid, SYS_getuid, SYS_geteuid, SYS_getgid,
    SYS_getegid, SYS_exit, SYS_exit_group, SYS_set_robust_list, SYS_set_tid_address, SYS_getrandom, SYS_uname, SYS_sysinfo,
    SYS_newfstatat, SYS_faccessat, SYS_readlinkat, SYS_getdents64, SYS_getcwd, SYS_getcpu, SYS_membarrier, SYS_restart_syscall, SYS_ppoll, SYS_getrusage, SYS_times, SYS_get_mempolicy,
#ifdef SYS_rseq
    SYS_rseq,
#endif
#ifdef SYS_statx
    SYS_statx,
#endif
#ifdef __x86_64__
    SYS_poll, SYS_time, SYS_arch_prctl, SYS_getrlimit, SYS_stat, SYS_lstat, SYS_access, SYS_readlink,
#endif
};

static const struct {
  int number;
  const char *name;
} betraying[] = {
    {SYS_execve, "execve"}, {SYS_execveat, "execveat"}, {SYS_ptrace, "ptrace"}, {SYS_clone, "fork"},
    {SYS_process_vm_readv, "process_vm_readv"}, {SYS_process_vm_writev, "process_vm_writev"}, {SYS_kill, "kill"},
    {SYS_tkill, "tkill"}, {SYS_tgkill, "tgkill"}, {SYS_rt_sigqueueinfo, "rt_sigqueueinfo"},
    {SYS_rt_tgsigqueueinfo, "rt_tgsigqueueinfo"}, {SYS_bpf, "bpf"},
    {SYS_perf_event_open, "perf_event_open"}, {SYS_keyctl, "keyctl"}, {SYS_add_key, "add_key"},
    {SYS_request_key, "request_key"}, {SYS_mount, "mount"}, {SYS_umount2, "umount2"}, {SYS_pivot_root, "pivot_root"},
    {SYS_chroot, "chroot"}, {SYS_unshare, "unshare"}, {SYS_setns, "setns"}, {SYS_userfaultfd, "userfaultfd"},
    {SYS_init_module, "init_module"}, {SYS_finit_module, "finit_module"}, {SYS_kexec_load, "kexec_load"},
    {SYS_reboot, "reboot"}, {SYS_setsid, "setsid"}, {SYS_setpgid, "setpgid"}, {SYS_personality, "personality"},
    {425, "io_uring_setup"}, {434, "pidfd_open"}, {438, "pidfd_getfd"}, {424, "pidfd_send_signal"},
    {428, "open_tree"}, {429, "move_mount"}, {430, "fsopen"}, {440, "process_madvise"},
#ifdef __x86_64__
    {SYS_fork, "fork"}, {SYS_vfork, "vfork"},
#endif
};

static const char *call_name(int number) {
  size_t i;
  for (i = 0; i < sizeof betraying / sizeof *betraying; i++)
    if (betraying[i].number == number) return betraying[i].name;
  return "a system call";
}

static struct {
  struct sock_filter code[512];
  int count;
} filter;

static void emit(uint16_t code, uint8_t yes, uint8_t no, uint32_t k) {
  const struct sock_filter line = {code, yes, no, k};
  filter.code[filter.count++] = line;
}

#define FIELD(name) ((uint32_t)offsetof(struct seccomp_data, name))
#define LOW(n) (FIELD(args) + 8 * (n))
static void load(uint32_t at) { emit(BPF_LD | BPF_W | BPF_ABS, 0, 0, at); }
static void answer_with(uint32_t what) { emit(BPF_RET | BPF_K, 0, 0, what); }
static uint32_t refuse(int error) { return SECCOMP_RET_ERRNO | (uint32_t)error; }

static void rule(int number, uint32_t what) {
  emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, (uint32_t)number);
  answer_with(what);
}

/* A system call whose answer hangs on 32 bits of an argument: `same` when they are k under the mask. */
static void rule_if(int number, uint32_t at, uint32_t mask, uint32_t k, uint32_t same, uint32_t other) {
  emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 5, (uint32_t)number);
  load(at);
  emit(BPF_ALU | BPF_AND | BPF_K, 0, 0, mask);
  emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, k);
  answer_with(same);
  answer_with(other);
}

static void build_filter(void) {
  const uint32_t writing = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND, self = (uint32_t)getpid();
  size_t i;
  filter.count = 0;
  load(FIELD(arch));
  emit(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, OUR_ARCH);
  answer_with(SECCOMP_RET_KILL_PROCESS);
  load(FIELD(nr));
#ifdef __x86_64__
  emit(BPF_JMP | BPF_JGE | BPF_K, 0, 1, 0x40000000); /* the same calls under other numbers */
  answer_with(SECCOMP_RET_KILL_PROCESS);
  rule_if(SYS_open, LOW(1), writing, 0, SECCOMP_RET_ALLOW, refuse(EACCES));
#endif
  rule_if(SYS_openat, LOW(2), writing, 0, SECCOMP_RET_ALLOW, refuse(EACCES));
  rule_if(SYS_clone, LOW(0), CLONE_THREAD, CLONE_THREAD, SECCOMP_RET_ALLOW, SECCOMP_RET_TRAP);
  rule(435, refuse(ENOSYS)); /* clone3 hides its flags: the C library then takes clone */
  rule_if(SYS_kill, LOW(0), ~0u, self, SECCOMP_RET_ALLOW, SECCOMP_RET_TRAP);
  rule_if(SYS_tgkill, LOW(0), ~0u, self, SECCOMP_RET_ALLOW, SECCOMP_RET_TRAP);
  /* limits may be read, not set: a new one has an address, in either half of the argument */
  emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 6, (uint32_t)SYS_prlimit64);
  load(LOW(2));
  emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 3, 0);
  load(LOW(2) + 4);
  emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0);
  answer_with(SECCOMP_RET_ALLOW);
  answer_with(refuse(EPERM));
  for (i = 0; i < sizeof allowed / sizeof *allowed; i++) rule(allowed[i], SECCOMP_RET_ALLOW);
  for (i = 0; i < sizeof betraying / sizeof *betraying; i++) rule(betraying[i].number, SECCOMP_RET_TRAP);
  answer_with(refuse(ENOSYS));
}

static int confine(void) {
  struct sock_fprog program;
  build_filter();
  program.len = (unsigned short)filter.count;
  program.filter = filter.code;
  return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

static void limit(int what, rlim_t most) {
  const struct rlimit l = {most, most};
  setrlimit(what, &l); /* what cannot be lowered was low already */
}

/* No privileges, no new ones, no core, no files; nobody may look into this process; it dies with the launcher. */
static int drop_everything(rlim_t memory) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct none[2];
  memset(none, 0, sizeof none);
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) || prctl(PR_SET_DUMPABLE, 0) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return -1;
  if (syscall(SYS_capset, &header, none)) return -1;
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, 0);
  limit(RLIMIT_NOFILE, 64);
  limit(RLIMIT_MEMLOCK, 0);
  limit(RLIMIT_MSGQUEUE, 0);
  limit(RLIMIT_AS, memory);
  return 0;
}

// Tries what a build has no business with, and prints the name of each attempt
// with what came of it: "done", or the error.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

static void tell(const char *name, long result) {
    printf("%s: %s\n", name, result < 0 ? strerror(errno) : "done");
}

static long abstract(const char *name) {
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    strncpy(to.sun_path + 1, name, sizeof to.sun_path - 2);
    return connect(s, (struct sockaddr *)&to, sizeof(sa_family_t) + 1 + strlen(name));
}

int main(int argc, char **argv) {
    char zero[256] = {0};
    tell("unshare user", unshare(CLONE_NEWUSER));
    tell("clone user", syscall(SYS_clone, CLONE_NEWUSER | 17, 0, 0, 0, 0));
    tell("clone3", syscall(SYS_clone3, zero, sizeof zero));
    tell("mount", syscall(SYS_mount, "none", "/tmp", "tmpfs", 0, 0));
    tell("chroot", chroot("/tmp"));
    tell("setns", syscall(SYS_setns, 0, 0));
    tell("bpf", syscall(SYS_bpf, 0, zero, sizeof zero));
    tell("perf", syscall(SYS_perf_event_open, zero, 0, -1, -1, 0));
    tell("keys", syscall(SYS_keyctl, 0, -3, 0, 0, 0));
    tell("ptrace", syscall(SYS_ptrace, 16, 1, 0, 0));
    tell("faults", syscall(SYS_userfaultfd, 0));
    tell("uring", syscall(SYS_io_uring_setup, 1, zero));
    tell("vsock", socket(40, SOCK_STREAM, 0));
    tell("crypto socket", socket(38, SOCK_SEQPACKET, 0));
    tell("device", mknod("/tmp/device", S_IFBLK | 0600, makedev(254, 0)));
    tell("write /etc", open("/etc/planted", O_CREAT | O_WRONLY, 0600));
    tell("write /usr", open("/usr/planted", O_CREAT | O_WRONLY, 0600));
    tell("write /", open("/planted", O_CREAT | O_WRONLY, 0600));
    tell("write /dev", open("/dev/planted", O_CREAT | O_WRONLY, 0600));
    tell("read shadow", open("/etc/shadow", O_RDONLY));
    tell("read init", open("/proc/1/root/etc/shadow", O_RDONLY));
    tell("kernel memory", open("/dev/mem", O_RDONLY));
    tell("sysctl", open("/proc/sys/kernel/core_pattern", O_WRONLY));
    tell("trigger", open("/proc/sysrq-trigger", O_WRONLY));
    tell("abstract socket", abstract(argc > 1 ? argv[1] : "none"));
    tell("own socket", socket(AF_UNIX, SOCK_STREAM, 0));
    tell("own file", open("/tmp/mine", O_CREAT | O_WRONLY, 0600));
    return 0;
}

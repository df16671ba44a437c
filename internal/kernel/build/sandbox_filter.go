package build

import (
	"bytes"
	"encoding/binary"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// A build needs only files and its own processes. Sandbox escapes have used other parts of the
// kernel, so these are refused: new namespaces, kernel modules, BPF and keys, and sockets that no
// network namespace confines (AF_VSOCK leads from a virtual machine to its host).
var (
	refused = []uintptr{
		unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT,
		unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_FANOTIFY_INIT,
		unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV,
		unix.SYS_KEXEC_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_SYSLOG, unix.SYS_QUOTACTL, unix.SYS_ACCT,
		unix.SYS_FSOPEN, unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT, unix.SYS_MOUNT_SETATTR,
	}
	// absent calls report ENOSYS, so that programs fall back to older ones. The flags of clone3
	// are in memory, where a filter cannot read them.
	absent = []uintptr{unix.SYS_CLONE3, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER}

	families = []uint32{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}
)

const newNamespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// Offsets in struct seccomp_data that the filter reads, on a little-endian machine.
const (
	dataNumber   = 0
	dataArch     = 4
	dataFirstArg = 16
)

// x32 marks the calls of a third ABI that amd64 kernels may support.
const x32 = 0x40000000

var auditArch = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}

// systemCallFilter returns the filter in the form that bubblewrap reads; nil for an unknown
// processor architecture.
func systemCallFilter() (*os.File, error) {
	arch, known := auditArch[runtime.GOARCH]
	if !known {
		return nil, nil
	}
	fd, err := unix.MemfdCreate("filter", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "filter")
	var code bytes.Buffer
	for _, i := range filterProgram(arch) {
		_ = binary.Write(&code, binary.NativeEndian, i) // writing to a buffer cannot fail
	}
	if _, err = f.Write(code.Bytes()); err == nil {
		_, err = f.Seek(0, 0)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func filterProgram(arch uint32) []unix.SockFilter {
	var p []unix.SockFilter
	load := func(at uint32) {
		p = append(p, unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at})
	}
	answer := func(with uint32) {
		p = append(p, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: with})
	}
	// when runs the next n instructions only if the test holds.
	when := func(test uint16, k uint32, n uint8) {
		p = append(p, unix.SockFilter{Code: unix.BPF_JMP | test | unix.BPF_K, Jf: n, K: k})
	}
	unless := func(test uint16, k uint32, n uint8) {
		p = append(p, unix.SockFilter{Code: unix.BPF_JMP | test | unix.BPF_K, Jt: n, K: k})
	}
	fail := func(e unix.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(e) }

	load(dataArch)
	unless(unix.BPF_JEQ, arch, 1)
	answer(fail(unix.ENOSYS))
	load(dataNumber)
	when(unix.BPF_JGE, x32, 1)
	answer(fail(unix.ENOSYS))
	for _, nr := range refused {
		when(unix.BPF_JEQ, uint32(nr), 1)
		answer(fail(unix.EPERM))
	}
	for _, nr := range absent {
		when(unix.BPF_JEQ, uint32(nr), 1)
		answer(fail(unix.ENOSYS))
	}
	when(unix.BPF_JEQ, unix.SYS_CLONE, 4)
	load(dataFirstArg)
	when(unix.BPF_JSET, newNamespaces, 1)
	answer(fail(unix.EPERM))
	answer(unix.SECCOMP_RET_ALLOW)
	for _, nr := range []uintptr{unix.SYS_SOCKET, unix.SYS_SOCKETPAIR} {
		when(unix.BPF_JEQ, uint32(nr), uint8(2*len(families)+2))
		load(dataFirstArg)
		for _, family := range families {
			when(unix.BPF_JEQ, family, 1)
			answer(unix.SECCOMP_RET_ALLOW)
		}
		answer(fail(unix.EAFNOSUPPORT))
	}
	answer(unix.SECCOMP_RET_ALLOW)
	return p
}

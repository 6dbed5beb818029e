#define _GNU_SOURCE
#include "CSandbox.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "Unsupported architecture: define its AUDIT_ARCH_ constant here."
#endif

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, value)
#define REFUSED (SECCOMP_RET_ERRNO | EPERM)
#define REFUSE(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), RETURN(REFUSED)
// LOAD(args[n]) loads the low half of an argument on the little-endian machines above.
#define WRITES (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)
#define REFUSE_WRITING(call, argument)                                                              \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 4), LOAD(args[argument]),                    \
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, WRITES, 0, 1), RETURN(REFUSED), RETURN(SECCOMP_RET_ALLOW)

int bookplate_sandbox_enter(void) {
    struct sock_filter filter[] = {
        LOAD(arch),
        // The system calls of another architecture have different numbers.
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
        RETURN(SECCOMP_RET_KILL_PROCESS),
        LOAD(nr),
#if defined(__x86_64__)
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1), // the x32 ABI
        RETURN(REFUSED),
        REFUSE_WRITING(open, 1),
        REFUSE(creat), REFUSE(fork), REFUSE(vfork), REFUSE(unlink), REFUSE(rename), REFUSE(mkdir),
        REFUSE(rmdir), REFUSE(link), REFUSE(symlink), REFUSE(chmod), REFUSE(chown),
#endif
        REFUSE_WRITING(openat, 2),
        // The flags of openat2 are passed by pointer, which a filter cannot follow. glibc falls back to openat.
        REFUSE(openat2),
        REFUSE(socket), REFUSE(socketpair), REFUSE(connect), REFUSE(bind), REFUSE(listen),
        REFUSE(accept), REFUSE(accept4), REFUSE(sendto), REFUSE(sendmsg), REFUSE(sendmmsg),
        REFUSE(io_uring_setup), REFUSE(execve), REFUSE(execveat), REFUSE(ptrace),
        REFUSE(process_vm_readv), REFUSE(process_vm_writev), REFUSE(pidfd_getfd), REFUSE(kill),
        REFUSE(tkill), REFUSE(unlinkat), REFUSE(renameat), REFUSE(renameat2), REFUSE(mkdirat),
        REFUSE(linkat), REFUSE(symlinkat), REFUSE(truncate), REFUSE(fchmodat), REFUSE(fchownat),
        REFUSE(mount), REFUSE(unshare), REFUSE(setns), REFUSE(bpf), REFUSE(keyctl),
        REFUSE(memfd_create),
        RETURN(SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
        || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0)
        return errno;
    return 0;
}

void bookplate_sandbox_close_others(void) { close_range(3, ~0U, 0); }

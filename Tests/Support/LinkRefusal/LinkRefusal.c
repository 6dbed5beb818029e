#define _GNU_SOURCE
#include "LinkRefusal.h"
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

struct work {
    int error;
    void (*run)(void *context);
    void *context;
    int problem;
};

static int refuse_links(int error) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_linkat, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error & SECCOMP_RET_DATA)),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
        || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0)
        return errno;
    return 0;
}

static void *run(void *argument) {
    struct work *work = argument;
    work->problem = refuse_links(work->error);
    if (work->problem == 0) work->run(work->context);
    return NULL;
}

int bookplate_run_without_links(int error, void (*body)(void *context), void *context) {
    struct work work = {error, body, context, 0};
    pthread_t thread;
    int problem = pthread_create(&thread, NULL, run, &work);
    if (problem == 0) problem = pthread_join(thread, NULL);
    return problem != 0 ? problem : work.problem;
}

#include "CReadiness.h"

#include <errno.h>
#include <linux/aio_abi.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct creadiness_poll {
    struct iocb request;
};

int creadiness_setup(unsigned capacity, uintptr_t *context) {
    aio_context_t made = 0;
    if (syscall(SYS_io_setup, capacity, &made) < 0) return -errno;
    *context = made;
    return 0;
}

void creadiness_destroy(uintptr_t context) { syscall(SYS_io_destroy, (aio_context_t)context); }

creadiness_poll *creadiness_poll_make(int descriptor, int events, int eventfd, uint64_t tag) {
    creadiness_poll *poll = calloc(1, sizeof(creadiness_poll));
    if (!poll) return NULL;
    poll->request.aio_data = tag;
    poll->request.aio_lio_opcode = IOCB_CMD_POLL;
    poll->request.aio_fildes = (uint32_t)descriptor;
    poll->request.aio_buf = (uint64_t)events;
    poll->request.aio_flags = IOCB_FLAG_RESFD;
    poll->request.aio_resfd = (uint32_t)eventfd;
    return poll;
}

int creadiness_submit(uintptr_t context, creadiness_poll *poll) {
    struct iocb *request = &poll->request;
    return syscall(SYS_io_submit, (aio_context_t)context, 1, &request) == 1 ? 0 : -errno;
}

int creadiness_cancel(uintptr_t context, creadiness_poll *poll) {
    struct io_event ignored;  // The kernel also reports a cancelled request through io_getevents.
    return syscall(SYS_io_cancel, (aio_context_t)context, &poll->request, &ignored) < 0 ? -errno : 0;
}

int creadiness_finished(uintptr_t context, creadiness_event *events, int capacity) {
    struct io_event finished[64];
    struct timespec now = {0, 0};
    if (capacity > 64) capacity = 64;
    long count = syscall(SYS_io_getevents, (aio_context_t)context, 0L, (long)capacity, finished, &now);
    if (count < 0) return -errno;
    for (long i = 0; i < count; i++) {
        events[i].tag = finished[i].data;
        events[i].events = finished[i].res;
    }
    return (int)count;
}

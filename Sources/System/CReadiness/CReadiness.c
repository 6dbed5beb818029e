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

int creadiness_submit(uintptr_t context, creadiness_poll *const *polls, int count) {
    // A poll is its first and only member.
    long submitted = syscall(SYS_io_submit, (aio_context_t)context, (long)count, polls);
    return submitted < 0 ? -errno : (int)submitted;
}

int creadiness_cancel(uintptr_t context, creadiness_poll *poll) {
    struct io_event ignored;  // The kernel also reports a cancelled request through io_getevents.
    return syscall(SYS_io_cancel, (aio_context_t)context, &poll->request, &ignored) < 0 ? -errno : 0;
}

// The ring buffer of finished requests, which the kernel maps into the process at the address that is also the context.
// The kernel writes events and `tail`. The process reads events and writes `head`. Other programs, such as fio and QEMU,
// also read it.
struct ring {
    unsigned id, capacity, head, tail, magic, compatible_features, incompatible_features, header_length;
    struct io_event events[];
};

static const unsigned ring_magic = 0xa10a10a1;

int creadiness_finished(uintptr_t context, creadiness_event *events, int capacity) {
    struct ring *ring = (struct ring *)context;
    if (ring->magic == ring_magic && ring->incompatible_features == 0) {
        unsigned head = ring->head;
        unsigned tail = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
        int taken = 0;
        while (head != tail && taken < capacity) {
            events[taken].tag = ring->events[head].data;
            events[taken].events = ring->events[head].res;
            taken++;
            head = (head + 1) % ring->capacity;
        }
        __atomic_store_n(&ring->head, head, __ATOMIC_RELEASE);
        return taken;
    }
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

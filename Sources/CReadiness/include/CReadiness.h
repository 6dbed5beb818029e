#pragma once
#include <poll.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

// Linux aio as far as waiting for descriptors needs it: system calls that neither glibc nor Swift offers.
// See io_submit(2), IOCB_CMD_POLL. Every function answers 0 or a count, or the negative errno.

typedef struct creadiness_poll creadiness_poll;

// One finished wait: which, and poll(2)'s events, or a negative errno.
typedef struct {
    uint64_t tag;
    int64_t events;
} creadiness_event;

int creadiness_setup(unsigned capacity, uintptr_t *context);
void creadiness_destroy(uintptr_t context);

// A request to wait for one descriptor; freed with free(), once it is not under way.
creadiness_poll *creadiness_poll_make(int descriptor, int events, int eventfd, uint64_t tag);
int creadiness_submit(uintptr_t context, creadiness_poll *poll);
int creadiness_cancel(uintptr_t context, creadiness_poll *poll);

// What has finished, without waiting.
int creadiness_finished(uintptr_t context, creadiness_event *events, int capacity);

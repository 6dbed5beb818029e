#pragma once
#include <poll.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

// Asynchronous poll through Linux AIO system calls, which neither glibc nor Swift wraps.
// See io_submit(2), IOCB_CMD_POLL. Every function that returns int returns a negative errno on failure.

typedef struct creadiness_poll creadiness_poll;

// A finished request: its tag, and the poll(2) events or a negative errno.
typedef struct {
    uint64_t tag;
    int64_t events;
} creadiness_event;

// Creates an AIO context for at most `capacity` requests in flight.
int creadiness_setup(unsigned capacity, uintptr_t *context);
// Destroys the context after all requests in flight have ended.
void creadiness_destroy(uintptr_t context);

// Creates a request to poll one descriptor. Release it with free() when it is not in flight.
creadiness_poll *creadiness_poll_make(int descriptor, int events, int eventfd, uint64_t tag);
// Starts requests in order, and returns the number of those that the kernel accepted, which come first.
int creadiness_submit(uintptr_t context, creadiness_poll *const *polls, int count);
int creadiness_cancel(uintptr_t context, creadiness_poll *poll);

// Retrieves finished requests without waiting, at most 64, and returns their number. This needs no system call where the
// kernel's ring buffer has the known format.
int creadiness_finished(uintptr_t context, creadiness_event *events, int capacity);

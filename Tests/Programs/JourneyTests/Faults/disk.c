// Makes the disk slow or full for a program that is started with LD_PRELOAD=disk.so.
//
// The file BOOKPLATE_DISK contains an int, which other programs change while the program runs: 0 is a disk without faults, a
// positive number adds that many microseconds to each write, and -1 is a full disk, on which no file can become larger.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static _Atomic int *state;

__attribute__((constructor)) static void map_state(void) {
    const char *path = getenv("BOOKPLATE_DISK");
    int file = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    void *memory = mmap(NULL, sizeof *state, PROT_READ, MAP_SHARED, file, 0);
    if (memory != MAP_FAILED) state = memory;
    close(file);
}

// Waits on a slow disk. Returns 0 and sets errno if the disk is full and a write that ends at `end` would enlarge the file.
static int admit(int file, off_t end) {
    int now = state == NULL ? 0 : atomic_load(state);
    struct stat info;
    if (now == 0 || file <= STDERR_FILENO || fstat(file, &info) != 0 || !S_ISREG(info.st_mode)) return 1;
    if (now > 0) usleep((useconds_t)now);
    if (now > 0 || end <= info.st_size) return 1;
    errno = ENOSPC;
    return 0;
}

ssize_t write(int file, const void *bytes, size_t count) {
    ssize_t (*next)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
    int error = errno;
    off_t start = lseek(file, 0, SEEK_CUR);
    errno = error;
    return admit(file, start + (off_t)count) ? next(file, bytes, count) : -1;
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t start) {
    ssize_t (*next)(int, const void *, size_t, off_t) = dlsym(RTLD_NEXT, "pwrite");
    return admit(file, start + (off_t)count) ? next(file, bytes, count, start) : -1;
}

ssize_t pwritev(int file, const struct iovec *parts, int count, off_t start) {
    ssize_t (*next)(int, const struct iovec *, int, off_t) = dlsym(RTLD_NEXT, "pwritev");
    off_t end = start;
    for (int part = 0; part < count; part++) end += (off_t)parts[part].iov_len;
    return admit(file, end) ? next(file, parts, count, start) : -1;
}

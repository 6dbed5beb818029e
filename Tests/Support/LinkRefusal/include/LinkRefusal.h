#pragma once

// Runs `body` on a thread where the kernel fails linkat with this error, as on a file system without hard
// links. A seccomp filter is permanent and inherited by new threads. The thread therefore ends afterwards, and
// `body` must not start threads. Returns 0, or errno if `body` was not run.
int bookplate_run_without_links(int error, void (*body)(void *context), void *context);

#pragma once

// Permanently prevents this process from opening sockets, starting programs, writing files, and accessing
// other processes: the kernel fails such calls with EPERM. Returns 0, or errno if the kernel has no seccomp
// filters.
int bookplate_sandbox_enter(void);

// Closes every descriptor except the three standard ones.
void bookplate_sandbox_close_others(void);

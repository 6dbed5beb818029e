#pragma once

// From now on this process can open no socket, start no program, write no file and look into no other process: the
// kernel answers such calls with EPERM, for ever. Answers 0, or errno where the kernel has no seccomp filters.
int bookplate_sandbox_enter(void);

// Closes every descriptor but the standard three.
void bookplate_sandbox_close_others(void);

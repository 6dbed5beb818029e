#pragma once

// Runs `body` to its end on a thread to which the kernel refuses second names of files (linkat) with this error, as a file
// system does that has none. A filter is for ever, and threads inherit it of those that start them: so the thread is gone
// afterwards, and `body` must start none. Answers 0, or errno where nothing was run.
int bookplate_run_without_links(int error, void (*body)(void *context), void *context);

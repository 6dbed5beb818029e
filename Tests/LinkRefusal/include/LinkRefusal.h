#pragma once

// From now on the kernel refuses second names of files (linkat) with this error, to the calling thread alone and for ever: as
// a file system does that has none. Answers 0, or errno where the kernel has no seccomp filters.
int bookplate_refuse_links(int error);

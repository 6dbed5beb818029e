#ifndef BOOKPLATE_EXPLORER_CODEMIRROR_H
#define BOOKPLATE_EXPLORER_CODEMIRROR_H

#include <stddef.h>

// The editor library of the explorer page. scripts/explorer/codemirror builds it from Debian's package.
const unsigned char *codemirror_js_gz(size_t *count);
const unsigned char *codemirror_css(size_t *count);

#endif

#include "codemirror.h"

// Compiling files of this size as Swift literals takes twenty seconds. With #embed it takes almost no time.
static const unsigned char script[] = {
#embed "codemirror/codemirror.js.gz"
};

static const unsigned char style[] = {
#embed "codemirror/codemirror.css"
};

const unsigned char *codemirror_js_gz(size_t *count) {
    *count = sizeof script;
    return script;
}

const unsigned char *codemirror_css(size_t *count) {
    *count = sizeof style;
    return style;
}

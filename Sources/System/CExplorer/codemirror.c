#include "codemirror.h"

// Files of this size as Swift literals cost the compiler twenty seconds; #embed costs it none.
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

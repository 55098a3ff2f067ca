// Host names in other scripts, written in ASCII by libidn2, which is loaded at run time.
#ifndef ERRAND_NAMES_H
#define ERRAND_NAMES_H

#include <stddef.h>

enum { ERRAND_NAME_DONE = 0, ERRAND_NAME_REFUSED = 1, ERRAND_NAME_NO_LIBRARY = 2 };

// Writes the name as UTS 46 says (nontransitional, then Punycode) into `result`, with a NUL at its end. `name` is UTF-8.
int errand_name_to_ascii(const char *name, char *result, size_t capacity);

#endif

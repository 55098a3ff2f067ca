// Converts internationalized host names to ASCII with libidn2, which is loaded at run time.
#ifndef ERRAND_NAMES_H
#define ERRAND_NAMES_H

#include <stddef.h>

enum { ERRAND_NAME_DONE = 0, ERRAND_NAME_REFUSED = 1, ERRAND_NAME_NO_LIBRARY = 2 };

// Writes the UTF-8 name as nontransitional UTS 46 (Punycode) to `result`, with a terminating NUL. Returns one of the
// values above.
int errand_name_to_ascii(const char *name, char *result, size_t capacity);

#endif

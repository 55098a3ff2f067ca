#include "errand_names.h"

#include <stdint.h>
#include <string.h>

#if defined(__linux__)

// libidn2's flag for nontransitional UTS 46, as in browsers: "ß" stays "ß". The flag includes normalization.
enum { NONTRANSITIONAL = 8 };

typedef int lookup_function(const uint8_t *, uint8_t **, int);
typedef void free_function(void *);

#if defined(ERRAND_LINKED_LIBCURL)

// These functions are in the program if libcurl links libidn2. Otherwise, they are null.
extern int idn2_lookup_u8(const uint8_t *, uint8_t **, int) __attribute__((weak));
extern void idn2_free(void *) __attribute__((weak));

static int find(lookup_function **lookup, free_function **release) {
    *lookup = idn2_lookup_u8;
    *release = idn2_free;
    return *lookup && *release;
}

#else

#include <dlfcn.h>

// Loads libidn2 once, because each call to dlopen would increase the library's reference count. If the library is
// missing, tries again at the next call.
static int find(lookup_function **lookup, free_function **release) {
    static _Atomic(void *) found;
    void *library = found;
    if (!library) {
        library = dlopen("libidn2.so.0", RTLD_NOW | RTLD_LOCAL);
        if (!library) return 0;
        found = library;
    }
    *(void **)lookup = dlsym(library, "idn2_lookup_u8");
    *(void **)release = dlsym(library, "idn2_free");
    return *lookup && *release;
}

#endif

int errand_name_to_ascii(const char *name, char *result, size_t capacity) {
    lookup_function *lookup = NULL;
    free_function *release = NULL;
    if (!find(&lookup, &release)) return ERRAND_NAME_NO_LIBRARY;
    uint8_t *ascii = NULL;
    if (lookup((const uint8_t *)name, &ascii, NONTRANSITIONAL) != 0 || !ascii) return ERRAND_NAME_REFUSED;
    size_t length = strlen((const char *)ascii);
    int fits = length < capacity;
    if (fits) memcpy(result, ascii, length + 1);
    release(ascii);
    return fits ? ERRAND_NAME_DONE : ERRAND_NAME_REFUSED;
}

#else

int errand_name_to_ascii(const char *name, char *result, size_t capacity) {
    (void)name, (void)result, (void)capacity;
    return ERRAND_NAME_NO_LIBRARY;
}

#endif

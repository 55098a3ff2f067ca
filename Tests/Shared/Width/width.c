// Swift Testing starts all tests at the same time. With 2,600 running on two cores, each step of a test can wait for
// minutes, so kept connections expire between two lines and time limits pass. Swift Testing reads the maximum only from
// this variable. It must be set before `main`, and the caller's value wins.
#include <stdlib.h>

__attribute__((constructor)) static void limit_tests_at_a_time(void) {
    setenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", "24", 0);
}

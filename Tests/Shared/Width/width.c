// Swift Testing starts all tests at once: with 2,600 under way on two cores a step of any of them waits minutes for its
// turn, kept connections expire between two lines of a test, and time limits pass. It reads how many to run at a time
// from this variable alone, so that is set before `main`, unless the caller has set it.
#include <stdlib.h>

__attribute__((constructor)) static void limit_tests_at_a_time(void) {
    setenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", "24", 0);
}

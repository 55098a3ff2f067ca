// Counts a thread's heap allocations on Linux: the calls of malloc and related functions, and the requested bytes. On
// other systems both stay 0.
#ifndef CERRANDCOUNTER_H
#define CERRANDCOUNTER_H

long errand_heap_calls(void);
long errand_heap_bytes(void);

// An empty function at which callgrind splits its counts.
void errand_cost_mark(void);

#endif

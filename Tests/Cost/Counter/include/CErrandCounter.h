// Counts what a thread asks of the heap, on Linux: calls of malloc and its like, and the bytes asked for. Elsewhere both
// stay 0.
#ifndef CERRANDCOUNTER_H
#define CERRANDCOUNTER_H

long errand_heap_calls(void);
long errand_heap_bytes(void);

// Does nothing: callgrind splits its counts here.
void errand_cost_mark(void);

#endif

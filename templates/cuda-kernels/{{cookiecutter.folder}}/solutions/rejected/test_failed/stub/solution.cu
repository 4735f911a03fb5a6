#include "row_sums.h"

void row_sums(const float*, float*, int, int, cudaStream_t) {}

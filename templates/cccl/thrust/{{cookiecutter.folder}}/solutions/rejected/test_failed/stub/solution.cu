#include "keep_positive.h"

int keep_positive(const float*, float*, int, cudaStream_t) { return 0; }

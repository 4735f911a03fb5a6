#include "fill_uniform.h"

void fill_uniform(float*, std::size_t, unsigned long long, cudaStream_t) {}

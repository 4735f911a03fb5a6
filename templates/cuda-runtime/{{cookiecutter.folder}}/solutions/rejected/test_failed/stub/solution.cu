#include "snapshot.h"

void snapshot(float*, const float*, std::size_t, cudaStream_t, cudaStream_t) {}

#include "row_softmax.h"

void row_softmax(const float*, std::size_t, float*, std::size_t, int, int, cudaStream_t) {}

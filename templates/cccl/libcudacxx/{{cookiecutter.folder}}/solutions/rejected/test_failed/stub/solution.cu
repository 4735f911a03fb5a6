#include "count_bytes.h"

void count_bytes(const unsigned char*, std::size_t, unsigned int*, cudaStream_t) {}

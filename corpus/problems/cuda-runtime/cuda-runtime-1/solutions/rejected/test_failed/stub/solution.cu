#include "run_pipeline.h"

cudaError_t run_pipeline(const float*, float*, std::size_t, std::size_t, int, ChunkWork, void*) { return cudaSuccess; }

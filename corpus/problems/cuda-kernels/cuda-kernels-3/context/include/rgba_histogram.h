#ifndef RGBA_HISTOGRAM_H
#define RGBA_HISTOGRAM_H

#include <cstddef>
#include <cuda_runtime.h>

// Adds the pixels with non-zero alpha to counts[256 * channel + value], channel 0 red, 1 green, 2 blue. `pitch` is the
// distance of rows in bytes. Enqueued in `stream`.
void rgba_histogram(const uchar4* pixels, std::size_t pitch, int width, int height, unsigned int* counts,
                    cudaStream_t stream);

#endif

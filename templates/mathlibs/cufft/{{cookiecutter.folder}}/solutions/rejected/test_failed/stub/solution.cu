#include "spectra.h"

void spectra(const float*, float2*, int, int, cudaStream_t) {}

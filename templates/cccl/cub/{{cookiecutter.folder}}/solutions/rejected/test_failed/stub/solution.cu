#include "running_totals.h"

void running_totals(const int*, long long*, int, cudaStream_t) {}

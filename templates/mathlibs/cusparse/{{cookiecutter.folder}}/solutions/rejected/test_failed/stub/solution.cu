#include "multiply.h"

void multiply(cusparseHandle_t, int, int, int, const int*, const int*, const float*, const float*, float*) {}

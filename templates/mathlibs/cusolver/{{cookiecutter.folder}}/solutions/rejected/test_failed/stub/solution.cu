#include "solve.h"

void solve(cusolverDnHandle_t, double*, double*, int, int) {}

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>

inline int nvtxRangePushA(const char* name) { return std::printf("range %s\n", name); }
inline int nvtxRangePop() { return 0; }

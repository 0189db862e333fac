#pragma once
void find_roots(float *x, int n);

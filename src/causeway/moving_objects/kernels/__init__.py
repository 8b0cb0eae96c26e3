"""Pure kernels: flat NumPy arrays in, flat NumPy arrays out; `values` says how they lie."""

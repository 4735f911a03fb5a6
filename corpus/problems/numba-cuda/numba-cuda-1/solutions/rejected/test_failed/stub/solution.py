def bin_sums(x, w, edges, counts, sums, stream):
    pass

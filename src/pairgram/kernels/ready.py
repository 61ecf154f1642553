"""Kernels of sampling and training, ready without numba once they are compiled."""

from pairgram.kernels.native import Kernel

number_ids = Kernel("ids", "number_ids")
sample_block = Kernel("pairs", "sample_block")
walk_first_order = Kernel("walks", "walk_first_order")
walk_second_order = Kernel("walks", "walk_second_order")
set_arc_bits = Kernel("walks", "set_arc_bits")
sum_rows = Kernel("walks", "sum_rows")
count_window_pairs = Kernel("walks", "count_window_pairs")
place_window_pairs = Kernel("walks", "place_window_pairs")
count_edge_draws = Kernel("walks", "count_edge_draws")
draw_edges = Kernel("walks", "draw_edges")
build_aliases = Kernel("negatives", "build_aliases")
bucket = Kernel("sgns", "bucket")
train_blocks = Kernel("sgns", "train_blocks")
pair_gradients = Kernel("contrast", "pair_gradients")
add_rows = Kernel("rows", "add_rows")
adam_rows = Kernel("rows", "adam_rows")
gather_links = Kernel("links", "gather_links")
list_terms = Kernel("around", "list_terms")
sum_terms = Kernel("around", "sum_terms")
count_around = Kernel("around", "count_around")

// pruning

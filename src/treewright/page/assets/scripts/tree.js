// tree

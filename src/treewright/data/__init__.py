"""Tables in, arrays out: schema, encoded matrix, targets and weights."""

// What this client knows by name: the mechanisms of the person slot with the laws that each may have, and the statistics
// that a plan may ask about. A test compares these lists with Python's catalogue.

export const MECHANISMS = {
  Warner: ["table", "window"],
  UnrelatedQuestion: ["table"],
  GRR: ["window"],
  SUE: ["bits"],
  OUE: ["bits"],
  BLH: ["hashed"],
  OLH: ["hashed"],
  SubsetSelection: ["subset"],
  HadamardResponse: ["hadamard"],
  RAPPOR: ["chained bits"],
  BoundedLaplace: ["table"],
  BoundedStaircase: ["table"],
  Window: ["window"],
  SquareWave: ["window"],
  Duchi: ["table"],
  Piecewise: ["window"],
  Hybrid: ["tagged", "table"],
};

export const RECORDS = {
  SPL: ["joint"],
  Plain: ["joint"],
  SMP: ["sampled"],
  RSFD: ["hidden"],
  RSRFD: ["hidden"],
  ADP: ["sampled", "joint", "hidden"],
};

export const STATISTICS = ["Histogram", "Mean", "Marginals", "Pair", "ClassPairs"];

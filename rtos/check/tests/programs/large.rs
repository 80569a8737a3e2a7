//! Programs with too many orders: some thousands at random.

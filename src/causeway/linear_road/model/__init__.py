"""Linear Road as the papers define it: the road, the tuples, the rules."""
